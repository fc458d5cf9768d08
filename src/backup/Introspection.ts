import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { sql as fragment } from "../sql/Fragment.ts"
import { migrationTables } from "../sql/Migrations.ts"

/** A table with its columns, without the generated ones. */
const Table = Schema.Struct({
  name: Schema.String,
  columns: Schema.Array(Schema.Struct({ name: Schema.String, type: Schema.String }))
})
export type Table = typeof Table.Type

/** The state of a sequence, as `setval` takes it. */
const Sequence = Schema.Struct({ name: Schema.String, value: Schema.String, called: Schema.Boolean })
export type Sequence = typeof Sequence.Type

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

const ofWaypost = fragment`c.relnamespace = current_schema()::regnamespace
  and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')`

const decodeTables = Schema.decodeUnknownEffect(Schema.Array(Table))

/** Every table except the migration ledgers, which the migrator writes, and unlogged tables. */
export const tables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const ledgers = [migrationTables.waypost, migrationTables.jobs]
  const rows = yield* sql`
    select c.relname as name, json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, a.atttypmod))
        order by a.attnum) as columns
      from pg_class c join pg_attribute a on a.attrelid = c.oid
      where c.relkind = 'r' and c.relpersistence = 'p' and c.relname <> all (${ledgers}::text[]) and ${ofWaypost}
        and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      group by c.relname order by c.relname`
  return yield* Effect.orDie(decodeTables(rows))
})

/** Whether a table of this name exists. */
export const exists = Effect.fnUntraced(function* (table: string) {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql<{ readonly exists: boolean }>`select to_regclass(${table}) is not null as exists`
  return found!.exists
})

/** The existing tables that record which migrations were applied. */
export const ledgers = Effect.filter([migrationTables.waypost, migrationTables.jobs], exists)

const decodeSequence = Schema.decodeUnknownEffect(Sequence)

export const sequences = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const found = yield* sql<{ readonly name: string }>`
    select c.relname as name from pg_class c where c.relkind = 'S' and ${ofWaypost} order by c.relname`
  return yield* Effect.forEach(found, ({ name }) =>
    Effect.flatMap(
      sql`select ${name}::text as name, last_value::text as value, is_called as called from ${sql.literal(quoted(name))}`,
      ([row]) => Effect.orDie(decodeSequence(row))
    )
  )
})

export const serverVersion = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [server] = yield* sql<{ readonly version: string }>`select current_setting('server_version') as version`
  return server!.version
})

/** The numbers and names of the applied migrations, oldest first. */
export type Applied = ReadonlyArray<readonly [id: number, name: string]>

const appliedIn = Effect.fnUntraced(function* (table: string) {
  const sql = yield* SqlClient.SqlClient
  if (!(yield* exists(table))) return []
  const rows = yield* sql<{ readonly id: number; readonly name: string }>`
    select migration_id as id, name from ${sql.literal(quoted(table))} order by migration_id`
  return rows.map(({ id, name }) => [id, name] as const)
})

/** The migrations that were applied to the database. */
export const applied = Effect.all({
  waypost: appliedIn(migrationTables.waypost),
  jobs: appliedIn(migrationTables.jobs)
})
export type Migrations = Effect.Success<typeof applied>
