import type { Schema } from "effect"
import { distinct } from "../schema/Distinct.ts"

/** The kinds of record that belong to each other. */
export const relationKinds = ["users", "locations", "groups"] as const
export type RelationKind = (typeof relationKinds)[number]

/** How many members one replacement may name. */
export const maxMembers = 10_000

/** The members of a relation, the whole set; a uuid that is named twice counts once. */
export const uuids = <Id extends Schema.Codec<string, string>>(id: Id) => distinct(id, maxMembers, "uuids")
