import { Schema } from "effect"
import { distinct } from "../schema/Distinct.ts"
import { GroupId } from "./Group.ts"
import { LocationId } from "../locations/Location.ts"
import { references, visibleName } from "../write/Markers.ts"
import * as Shape from "../write/Shape.ts"

const maxGroups = 1000
const maxLocations = 10_000

const AuthorizationType = Schema.Literals(["everyone", "groups", "locations"]).annotate({
  description: "Who is meant: everyone, the listed groups, or the listed locations. An empty list means no user."
})

const Group = Schema.Struct({ uuid: GroupId.pipe(references("groups")), name: visibleName("groups") })
const Location = Schema.Struct({
  uuid: LocationId.pipe(references("locations")),
  name: visibleName("locations"),
  identifier: visibleName("locations")
})

/** Whom something is for, as it is read. */
export const Audience = Schema.Struct({
  authorizationType: AuthorizationType,
  groups: Schema.Array(Group),
  locations: Schema.Array(Location)
}).annotate({ identifier: "Audience" })
export type Audience = typeof Audience.Type

export interface Reference<Id> {
  readonly uuid: Id
  readonly name?: unknown
}

/** References as they are written: only the uuid counts, and only once. */
const written = <Id extends string>(item: Schema.Codec<Reference<Id>, unknown>, max: number, kind: string) =>
  Schema.optionalKey(Schema.NullOr(distinct(item, max, kind, ({ uuid }) => ({ uuid }))))

/** Whom something is for, as it is written: absent members stay unchanged, lists are replaced whole. */
export const AudienceWrite = Schema.Struct({
  authorizationType: Schema.optionalKey(AuthorizationType),
  groups: written(Shape.create(Group), maxGroups, "groups"),
  locations: written(Shape.create(Location), maxLocations, "locations")
}).annotate({ identifier: "PartialAudience" })
export type AudienceWrite = typeof AudienceWrite.Type

/** The audience of a post that is created without one: no user. */
export const noAudience: AudienceWrite = { authorizationType: "groups", groups: [], locations: [] }
