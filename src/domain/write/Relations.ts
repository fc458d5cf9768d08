import { Schema, SchemaTransformation } from "effect"
import { distinct } from "../schema/Distinct.ts"

/** The kinds of record that belong to each other. */
export const relationKinds = ["users", "locations", "groups"] as const
export type RelationKind = (typeof relationKinds)[number]

/** How many members one replacement may name. */
export const maxMembers = 10_000

/** The members of a relation, the whole set; a uuid that is named twice counts once. */
export const uuids = <Id extends Schema.Codec<string, string>>(id: Id) => distinct(id, maxMembers, "uuids")

/** The members of a relation in a record that is written; `null` is none, as of every list that can be left out. */
export const members = <Id extends Schema.Codec<string, string>>(id: Id) =>
  Schema.optionalKey(
    Schema.NullOr(uuids(id)).pipe(
      Schema.decodeTo(
        Schema.Array(Schema.toType(id)),
        SchemaTransformation.transform({
          decode: (list): ReadonlyArray<Id["Type"]> => list ?? [],
          encode: (list): ReadonlyArray<Id["Type"]> | null => list
        })
      )
    )
  )
