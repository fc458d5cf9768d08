import { type Fragment, sql } from "../../sql/Fragment.ts"

/** The uuid of the first key of the line of rotations that a key is in; the key is a row with this alias. */
export const firstOf = (key: string): Fragment => sql.literal(`coalesce(${key}.first_uuid, ${key}.uuid)`)

/** Whether a key is another one, or one of its predecessors by rotation. */
export const isOrPrecedes = (key: string, other: string): Fragment =>
  sql`(${firstOf(key)} = ${firstOf(other)} and ${sql.literal(`${key}.rotations <= ${other}.rotations`)})`
