import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { migrationTables } from "../sql/Sql.ts"

/** A table, with the columns that are written: the others follow from them. */
export interface Table {
  readonly name: string
  readonly columns: ReadonlyArray<{ readonly name: string; readonly type: string }>
}

/** The value a sequence has given out last, or gives out first when it was never called. */
export interface Sequence {
  readonly name: string
  readonly value: string
  readonly called: boolean
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

const ofWaypost = `c.relnamespace = current_schema()::regnamespace
  and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')`

/**
 * Every table but those that tell which migrations were applied, which whoever applies them writes, and those that a
 * crash empties.
 */
export const tables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql.unsafe<Table>(
    `select c.relname as name, json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod))
        order by a.attnum) as columns
      from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relkind = 'r' and c.relpersistence = 'p' and c.relname <> all ($1::text[]) and ${ofWaypost}
        and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      group by c.relname order by c.relname`,
    [[migrationTables.waypost, migrationTables.jobs]]
  )
})

/** Whether there is a table of this name. */
export const exists = Effect.fnUntraced(function* (table: string) {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql<{ readonly exists: boolean }>`select to_regclass(${table}) is not null as exists`
  return found!.exists
})

/** The tables that tell which migrations were applied, of a database that has had some. */
export const ledgers = Effect.filter([migrationTables.waypost, migrationTables.jobs], exists)

export const sequences = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql.unsafe<{ readonly name: string }>(
    `select c.relname as name from pg_class c where c.relkind = 'S' and ${ofWaypost} order by c.relname`
  )
  return yield* Effect.forEach(found, ({ name }) =>
    Effect.map(
      sql.unsafe<Sequence>(
        `select '${name.replaceAll("'", "''")}' as name, last_value::text as value, is_called as called from ${quoted(name)}`
      ),
      (rows) => rows[0]!
    )
  )
})

/** The version of the server. */
export const serverVersion = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [server] = yield* sql<{ readonly version: string }>`select current_setting('server_version') as version`
  return server!.version
})

/** Numbers and names of what was applied, oldest first. */
export type Applied = ReadonlyArray<readonly [id: number, name: string]>

const appliedIn = Effect.fnUntraced(function* (table: string) {
  const sql = yield* SqlClient.SqlClient
  if (!(yield* exists(table))) return []
  const rows = yield* sql.unsafe<{ readonly id: number; readonly name: string }>(
    `select migration_id as id, name from ${quoted(table)} order by migration_id`
  )
  return rows.map(({ id, name }) => [id, name] as const)
})

/** The migrations the database has had. */
export const applied = Effect.all({
  waypost: appliedIn(migrationTables.waypost),
  jobs: appliedIn(migrationTables.jobs)
})
