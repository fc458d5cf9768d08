import { type StoredColumn, types } from "../Columns.ts"
import { type Fragment, sql } from "../Fragment.ts"
import type { stored, Values } from "../RecordValues.ts"

/** A record of a request. */
export interface Sent {
  readonly uuid: string
  readonly values: Values
}

/** A column with the name that it has in the rows of a request. */
export interface Aliased extends StoredColumn {
  readonly alias: Fragment
  readonly index: number
}

/** A column with its new value. */
export interface Assigned extends Aliased {
  readonly value: Fragment
}

/** The new value of a member, from the value that was sent. */
export type Assignment = (column: StoredColumn, sent: Fragment) => Fragment

export const aliased = (columns: ReadonlyArray<StoredColumn>): ReadonlyArray<Aliased> =>
  columns.map((column, index) => ({ ...column, alias: sql.literal(`value_${index}`), index }))

/** The columns that patches of the same members set. */
export const assigned = (
  columns: ReadonlyArray<Aliased>,
  patches: ReadonlyArray<Sent>,
  assignment: Assignment
): ReadonlyArray<Assigned> => {
  const members = patches[0]?.values ?? {}
  return columns
    .filter(({ member }) => members[member] !== undefined)
    .map((column) => ({ ...column, value: assignment(column, sql`sent.${column.alias}`) }))
}

/** The records as rows `sent` with their uuids and values. */
export const make = (
  records: ReadonlyArray<Sent>,
  columns: ReadonlyArray<Aliased>,
  storedAs: typeof stored
): Fragment => {
  const rows = records.map(({ uuid, values }) =>
    Object.fromEntries([
      ["uuid", uuid],
      ...columns.map((column) => [`value_${column.index}`, storedAs(column, values[column.member])] as const)
    ])
  )
  const definitions = columns.map(({ alias, kind }) => sql`${alias} ${types[kind]}`)
  return sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as sent (${sql.csv([sql`uuid uuid`, ...definitions])})`
}
