import { Array as Arr, Effect, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { applied, exists, ledgers, type Migrations, quoted, type Table, tables } from "./Introspection.ts"

/** Another session is changing the tables; the message says what to do. */
class SnapshotError extends Schema.TaggedError<SnapshotError>()("SnapshotError", { message: Schema.String }) {}

/** Settings that fix the text form of values whatever the server or role sets, read rows in physical order, and lift timeouts. */
const settings = [
  "datestyle = 'ISO'",
  "intervalstyle = 'postgres'",
  "timezone = 'UTC'",
  "extra_float_digits = 3",
  "bytea_output = 'hex'",
  "synchronize_seqscans = off",
  "max_parallel_workers_per_gather = 0",
  "statement_timeout = 0",
  "lock_timeout = 0",
  "idle_in_transaction_session_timeout = 0"
]

/** Applies the settings to the transaction: no timeouts, and values in the form that every version of PostgreSQL reads. */
export const applySettings = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(settings, (setting) => sql`set local ${sql.literal(setting)}`, { discard: true })
})

/** Makes changes to the definition of these tables wait until the transaction ends. */
const lock = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  if (names.length > 0) yield* sql`lock table ${sql.csv(names.map(quoted))} in access share mode`
})

/**
 * Runs an effect, with the tables as its argument, on one consistent snapshot of the database; concurrent writes continue.
 * A statement that rewrites a table, such as many forms of `alter table`, leaves it empty for older snapshots. So the
 * tables are locked first: the first query takes the snapshot, and `lock table` does not count as a query. The ledgers are locked by
 * `holding`, and a lock here would wait behind a migration that waits for that one.
 */
export const snapshot = <A, E, R>(effect: (tables: ReadonlyArray<Table>) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const known = (yield* tables).map(({ name }) => name)
    return yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`set transaction isolation level repeatable read, read only`
        yield* applySettings
        yield* sql`set local lock_timeout = '1min'`
        yield* lock(known).pipe(
          Effect.catchReasons("SqlError", {
            LockTimeoutError: () => Effect.fail(changing),
            SqlSyntaxError: () => Effect.fail(changed)
          })
        )
        yield* sql`set local lock_timeout = 0`
        const found = yield* tables
        // A table created after the lock is not locked.
        if (found.some(({ name }) => !known.includes(name))) return yield* changed
        return yield* effect(found)
      })
    )
  })

const changing = new SnapshotError({
  message: "Another session has held a lock on the tables for a minute; run the command again when it has finished"
})

const changed = new SnapshotError({
  message: "Tables were created or dropped while the snapshot began, for example by a migration; run the command again"
})

/** The rows of a table, each a JSON array of its columns as text, or null. */
export const rows = ({ columns, name }: Table) =>
  Stream.unwrap(
    Effect.map(SqlClient.SqlClient, (sql) => {
      const values = sql.csv(columns.map((column) => `${quoted(column.name)}::text`))
      return sql<{ readonly row: string }>`
        select to_json(array[${values}]::text[])::text as row from only ${sql.literal(quoted(name))}`.stream
    })
  ).pipe(Stream.mapArray((some) => Arr.map(some, ({ row }) => row)))

/** The row of an uploaded file; its size in bytes, as text. */
interface FileRow {
  readonly uuid: string
  readonly size: string
  readonly sha256: string
  readonly contentType: string
  readonly unattached: boolean
}

/** The files, unattached ones first; none in a database without the `files` table. */
export const files = Stream.unwrap(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    if (!(yield* exists("files"))) return Stream.empty
    return sql<FileRow>`
      select uuid, size::text as size, sha256, mime_type as "contentType", unattached_since is not null as unattached
        from files order by unattached_since, uuid`.stream
  })
)

/**
 * Blocks migrations and keeps the bytes of unattached files until the effect ends, which has the applied migrations as its
 * argument. The sweeper skips locked rows; a file that is attached now is kept for a week after it is detached.
 */
export const holding = <A, E, R>(effect: (migrations: Migrations) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* applySettings
        // A migration locks the ledgers first. It waits there, so no other query queues behind it for a table.
        yield* lock(yield* ledgers)
        if (yield* exists("files")) {
          yield* sql`select count(*) from (
            select from files where unattached_since < now() - interval '1 day' for key share
          ) held`
        }
        return yield* effect(yield* applied)
      })
    )
  )
