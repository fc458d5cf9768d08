import type { Schema } from "effect"
import { distinct } from "../schema/Distinct.ts"
import type { Uuid } from "../schema/Fields.ts"

/** How many members one replacement may name. */
const maxMembers = 10_000

/** The members of a relation, the whole set; a uuid that is named twice counts once. */
export const uuids = <Id extends Schema.Codec<string, string>>(id: Id) => distinct(id, maxMembers, "uuids")

/** The message of an error about records that do not exist. */
export const notFoundMessage = (kind: string, uuids: ReadonlyArray<typeof Uuid.Type>): string =>
  `No ${kind} has the uuid ${uuids.slice(0, 10).join(", ")}${uuids.length > 10 ? `, … (${uuids.length} in all)` : ""}`
