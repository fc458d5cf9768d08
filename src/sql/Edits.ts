import { type ComputedCondition, row } from "./Columns.ts"
import { sql } from "./Fragment.ts"

/** The member with the time of the last edit. */
export const member = "editedAt"

/**
 * The times of the last edit of a table's records: rows of another table, which triggers keep. No index of the records
 * has the time, because an update that changes an indexed column writes all indexes of the row.
 */
export const of = (table: string) => {
  const from = sql.literal(`${table}_edits e`)
  const uuid = sql.literal("e.uuid")
  const at = sql.literal("e.edited_at")
  const condition: ComputedCondition = (_, compare) =>
    sql`${row("uuid")} in (select ${uuid} from ${from} where ${compare(at)})`
  return { from, uuid, at, condition }
}
