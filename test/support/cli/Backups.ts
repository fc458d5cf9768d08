import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { inject } from "vitest"
import { Manifest } from "../../../src/cli/backup/BackupFolder.ts"
import { Settings } from "../../../src/settings/Config.ts"
import { Database } from "../../../src/sql/Sql.ts"
import * as Postgres from "../Postgres.ts"
import { eventually } from "../Until.ts"
import { waypost } from "./Command.ts"

/** The `DATABASE_URL` of a database of the test run. A busy machine may need more time than the service gives a connection. */
export const urlOf = (database: string): string => {
  const { socket, url, username } = inject("postgres")
  const found = new URL(url ?? `postgres://${username}@localhost`)
  found.pathname = `/${database}`
  if (url === undefined) found.searchParams.set("host", socket!.slice(0, socket!.lastIndexOf("/")))
  found.searchParams.set("connect_timeout", "60")
  return found.href
}

/** The URL of the database of this test. */
export const current = Effect.map(Database, ({ database }) => urlOf(database!))

/** The URL of a new database, which is dropped afterwards. */
const created = (source: string) => Effect.map(Postgres.created(source), ({ database }) => urlOf(database))

export const empty = created("template template0 encoding 'UTF8'")

/** As one after `waypost migrate`. A restore into an empty database applies all migrations, twice. */
export const migrated = Effect.suspend(() => created(Postgres.templated()))

/** The data folder of the service. */
export const dataFolder = Effect.map(Settings, ({ DATA_DIR }) => DATA_DIR)

/** Runs a command on a database and a data folder; returns its exit code and output. */
export const command = (
  args: ReadonlyArray<string>,
  DATABASE_URL: string,
  DATA_DIR: string,
  more: Readonly<Record<string, string>> = {}
) =>
  Effect.promise(async () => {
    const { code, err, out } = await waypost(args, { DATABASE_URL, DATA_DIR, ...more })
    return { code, text: out + err }
  })

/** Runs a statement on another database. */
export const ask = (url: string, statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<Readonly<Record<string, unknown>>>(statement)).pipe(
    Effect.provide(clientOf(url))
  )

/** Waits until a transaction waits for a lock of this mode in a database. */
export const awaitLock = (url: string, mode: string) =>
  eventually(
    "a transaction waits",
    ask(
      url,
      `select count(*)::int as waiting from pg_locks where not granted and mode = '${mode}'
      and database = (select oid from pg_database where datname = current_database())`
    ),
    ([found]) => found!["waiting"] === 1
  )

/** A client with a single connection to another database. */
export const clientOf = (url: string) => Layer.fresh(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))

export const manifestOf = (folder: string): Manifest =>
  Schema.decodeSync(Manifest)(readFileSync(join(folder, "manifest.json"), "utf8"))

/** All objects of a schema, in a comparable form. */
export const schema = `
  select 'column ' || table_name || '.' || column_name as name, concat_ws(' ', ordinal_position, data_type, is_nullable, column_default, generation_expression) as definition
    from information_schema.columns where table_schema = 'public'
  union all select 'constraint ' || conname, pg_get_constraintdef(oid) from pg_constraint where connamespace = 'public'::regnamespace
  union all select 'index ' || indexname, indexdef from pg_indexes where schemaname = 'public'
  union all select 'trigger ' || tgrelid::regclass || '.' || tgname, tgenabled::text || pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
  union all select 'migration ' || migration_id, name from waypost_migrations
  order by 1, 2`
