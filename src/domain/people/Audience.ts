import { Array as Arr, Schema, SchemaTransformation } from "effect"
import { GroupId } from "./Group.ts"
import { LocationId } from "../locations/Location.ts"

const maxGroups = 1000
const maxLocations = 10_000

const AuthorizationType = Schema.Literals(["everyone", "groups", "locations"]).annotate({
  description: "Who is meant: everyone, the listed groups, or the listed locations. With an empty list nobody is."
})

/** Names are told to a key that may read them, and never written here. */
const told = (description: string) => Schema.optionalKey(Schema.String.annotate({ description }))
const Group = Schema.Struct({ uuid: GroupId, name: told("For keys with `read:groups`.") })
const Location = Schema.Struct({
  uuid: LocationId,
  name: told("For keys with `read:locations`."),
  identifier: told("For keys with `read:locations`.")
})

/** Whom something is for, as it is read. */
export const Audience = Schema.Struct({
  authorizationType: AuthorizationType,
  groups: Schema.Array(Group),
  locations: Schema.Array(Location)
}).annotate({ identifier: "Audience" })
export type Audience = typeof Audience.Type

/** References as they are written: only the uuid counts, and only once. */
const references = <A extends { readonly uuid: string }>(item: Schema.Codec<A, unknown>, max: number, kind: string) =>
  Schema.optionalKey(
    Schema.NullOr(
      Schema.Array(item)
        .check(Schema.isMaxLength(max, { expected: `at most ${max} ${kind}`, code: "tooMany" }))
        .pipe(
          Schema.decode(
            SchemaTransformation.transform<ReadonlyArray<A>, ReadonlyArray<A>>({
              decode: (list) => Arr.dedupe(list.map(({ uuid }) => uuid)).map((uuid) => ({ uuid }) as A),
              encode: (list) => list
            })
          )
        )
    )
  )

/** Whom something is for, as it is written: absent members stay as they are, lists are replaced whole. */
export const AudienceWrite = Schema.Struct({
  authorizationType: Schema.optionalKey(AuthorizationType),
  groups: references(Group, maxGroups, "groups"),
  locations: references(Location, maxLocations, "locations")
}).annotate({ identifier: "PartialAudience" })
export type AudienceWrite = typeof AudienceWrite.Type

/** Nobody, until it is said for whom. */
export const noAudience: AudienceWrite = { authorizationType: "groups", groups: [], locations: [] }
