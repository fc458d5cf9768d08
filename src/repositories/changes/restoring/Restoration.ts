import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { Permission } from "../../../domain/keys/Permission.ts"
import { columnsOf, type Computed, isStored } from "../../../sql/Columns.ts"
import { type Fragment, sql } from "../../../sql/Fragment.ts"
import { touched } from "../../../sql/Reads.ts"
import * as Transactions from "../../../sql/Transactions.ts"
import type { State } from "../EventValues.ts"
import type { Table } from "../PastTables.ts"

/** A record and the state that it gets back. */
export interface Target {
  readonly uuid: string
  /** The columns of the record, and what other tables hold of it, under their names in the log. */
  readonly state: State
  /** Whether the record exists. */
  readonly exists: boolean
  /** The place in the log after which the changes are undone. */
  readonly place: Fragment
  /** The permissions of the key that restores. */
  readonly permissions: ReadonlySet<Permission>
}

/**
 * Of two restorations of a deleted record, the later one finds it there: it has no row that both could lock. An erasure takes the
 * lock too, so that no restoration brings back what it removes.
 */
export const lockSql = (uuid: string): Fragment => Transactions.lockSql("waypost restoration", uuid)

/** What other members of a value may be. */
export const others = [Schema.Record(Schema.String, Schema.Unknown)] as const

/** The text in a column of a state; none where it is null. */
export const textOf = (state: State, column: string): string | undefined =>
  typeof state[column] === "string" ? state[column] : undefined

/** How many values of each path were not restored. */
export type Missing = ReadonlyMap<string, number>

export interface Restored {
  readonly changed: boolean
  readonly missing: Missing
}

/** The numbers by path, without the paths of which nothing is missing. */
export const missing = (...counts: ReadonlyArray<readonly [path: string, count: number]>): Missing =>
  new Map(counts.filter(([, count]) => count > 0))

/** Members that a restoration leaves to the database: the uuid and times, and the numbers that triggers count. */
const excluded: ReadonlySet<string> = new Set(["uuid", "createdAt", "editedAt", "userCount", "locationCount"])

/** The columns of a record that a restoration writes; `left` are members that it leaves alone, too. */
export const columnsToRestore = (
  record: Schema.Top,
  { computed = {}, left = [], more = [] }: Options = {}
): ReadonlyArray<Fragment> => [
  ...columnsOf(record, computed)
    .filter(isStored)
    .filter(({ member }) => !excluded.has(member) && !left.includes(member))
    .map(({ name }) => name),
  ...more.map((name) => sql.literal(name))
]

interface Options {
  readonly computed?: Computed
  readonly left?: ReadonlyArray<string>
  /** Columns that no member has. */
  readonly more?: ReadonlyArray<string>
}

/** Writes the row of a record as the state has it; returns whether that changed the row. */
export const writeRow = (
  client: SqlClient.SqlClient,
  table: Table,
  columns: ReadonlyArray<Fragment>,
  { exists, state, uuid }: Target
) => {
  const name = sql.literal(table)
  const row = sql`jsonb_populate_record(null::${name}, ${JSON.stringify(state)}::jsonb) s`
  const of = (alias: string) => sql.csv(columns.map((column) => sql`${sql.literal(alias)}.${column}`))
  const statement = exists
    ? sql`update ${name} t set (${sql.csv(columns)}) = row(${of("s")}), ${touched("t")} from ${row}
        where t.uuid = ${uuid}::uuid and (${of("t")}) is distinct from (${of("s")}) returning t.uuid`
    : sql`insert into ${name} as t (uuid, created_at, edited_at, ${sql.csv(columns)})
        select s.uuid, s.created_at, greatest(now(), s.edited_at + interval '1 millisecond'), ${of("s")} from ${row}
        returning t.uuid`
  return Effect.map(client`${statement}`, (rows) => rows.length > 0)
}

/** Those of the uuids whose record exists; it is not deleted before the transaction ends. */
export const existing = Effect.fnUntraced(function* (
  client: SqlClient.SqlClient,
  table: Table | "files",
  uuids: ReadonlyArray<string>
) {
  if (uuids.length === 0) return new Set<string>()
  const rows = yield* client<{ readonly uuid: string }>`
    select uuid from ${sql.literal(table)} where uuid = any (${uuids}::uuid[]) order by uuid for key share`
  return new Set(rows.map(({ uuid }) => uuid))
})

/** Moves `edited_at` of a record whose row did not change. */
export const touch = (client: SqlClient.SqlClient, table: Table, uuid: string) =>
  client`update ${sql.literal(table)} t set ${touched("t")} where t.uuid = ${uuid}::uuid`
