import { Schema } from "effect"
import { InvalidFilterError } from "../domain/query/Filter.ts"
import * as Group from "../domain/people/Group.ts"
import * as Location from "../domain/locations/Location.ts"
import { uuids } from "../domain/write/Relations.ts"
import * as User from "../domain/people/User.ts"
import { UserId } from "../domain/people/UserId.ts"
import type { Annotatable } from "./Annotations.ts"
import { requires } from "./Authorization.ts"
import { describe } from "./Describe.ts"
import * as Envelope from "./Envelope.ts"
import { groupRead, locationRead, userRead } from "./Included.ts"
import { includable, ListQuery } from "./ListQuery.ts"
import { answersHeaders } from "./openapi/Headers.ts"

/**
 * Users, locations and groups belong to each other. Each of the six directions has a list and a replacement of all
 * members, which need the permissions of both sides.
 */
const sides = {
  users: {
    id: UserId,
    record: User.User,
    ...userRead,
    sortable: User.sortable,
    notFound: User.UserNotFoundError,
    one: "user"
  },
  locations: {
    id: Location.LocationId,
    record: Location.Location,
    ...locationRead,
    sortable: Location.sortable,
    notFound: Location.LocationNotFoundError,
    one: "location"
  },
  groups: {
    id: Group.GroupId,
    record: Group.Group,
    ...groupRead,
    sortable: Group.sortable,
    notFound: Group.GroupNotFoundError,
    one: "group"
  }
} as const

type SidesOf = typeof sides
/** A name for the type, which declarations would repeat with all members of the records. */
interface Sides extends SidesOf {}
type Side = keyof Sides

/** A member of one side with its own type; a plain lookup in the table would have the types of all three. */
const the = <const Part extends keyof Sides[Side], const Kind extends Side>(
  part: Part,
  kind: Kind
): Sides[Kind][Part] => sides[kind][part]

/** The schemas of the list of the members of an owner. */
const list = <const Owner extends Side, const Member extends Side>(owner: Owner, member: Member) => ({
  params: { uuid: the("id", owner) },
  query: {
    ...ListQuery(the("record", member), the("sortable", member), the("answered", member)),
    ...includable(the("names", member))
  },
  success: Envelope.Page(the("answered", member)),
  error: [the("notFound", owner), InvalidFilterError] as const
})

/** The schemas of the replacement of the members of an owner. */
const replacement = <const Owner extends Side, const Member extends Side>(owner: Owner, member: Member) => ({
  params: { uuid: the("id", owner) },
  payload: Schema.Struct({ [member]: uuids(the("id", member)) } as unknown as {
    readonly [K in Member]: ReturnType<typeof uuids<Sides[K]["id"]>>
  }),
  success: Envelope.Written(the("id", owner)),
  error: [the("notFound", owner), the("notFound", member)] as const
})

/** The permissions and the description of a list. */
const listing =
  (owner: Side, member: Side) =>
  <Endpoint extends Annotatable<Endpoint>>(endpoint: Endpoint): Endpoint =>
    describe(
      `List ${the("one", owner)} ${member}`,
      `A page of the ${member} that belong to the ${the("one", owner)}.`
    )(requires(`read:${owner}`, `read:${member}`)(endpoint))

/** The permissions and the description of a replacement. */
const replacing =
  (owner: Side, member: Side) =>
  <Endpoint extends Annotatable<Endpoint>>(endpoint: Endpoint): Endpoint =>
    describe(
      `Update ${the("one", owner)} ${member}`,
      `Replaces all ${member}. If some of them do not exist, nothing changes and the error lists them. \`If-Match\` takes the ETag of any page of the list, or of the answer to the previous replacement.`
    )(answersHeaders("ETag")(requires(`update:${owner}`, `update:${member}`)(endpoint)))

/** The schemas, the permissions and the descriptions of the list and the replacement of the members of an owner. */
export const between = <const Owner extends Side, const Member extends Side>(owner: Owner, member: Member) => ({
  list: list(owner, member),
  listing: listing(owner, member),
  replacement: replacement(owner, member),
  replacing: replacing(owner, member)
})
