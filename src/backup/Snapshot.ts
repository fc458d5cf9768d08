import { Array as Arr, Effect, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { exists, ledgers, quoted, type Table, tables } from "./Introspection.ts"

/** Somebody changes the tables just now; the message says what to do. */
class SnapshotError extends Schema.TaggedError<SnapshotError>()("SnapshotError", { message: Schema.String }) {}

/** How values are written, whatever server or role has other habits; and the rows in the order they lie in. */
const habits = [
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

/** Has the transaction take its time, and write values in the one form that every version of PostgreSQL reads. */
export const lockTables = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(habits, (habit) => sql.unsafe(`set local ${habit}`), { discard: true })
})

/** Has whoever changes the form of these tables wait until the transaction ends. */
const lock = Effect.fnUntraced(function* (names: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  if (names.length > 0) yield* sql.unsafe(`lock table ${names.map(quoted).join(", ")} in access share mode`)
})

/**
 * Runs an effect on the database as it is at one moment, however many others write meanwhile, and tells it the tables.
 * What writes a whole table anew, as many an `alter table` does, leaves it empty for every snapshot that is older. So
 * the tables are locked first: the snapshot is that of the first query, and a lock is none.
 */
export const snapshot = <A, E, R>(effect: (tables: ReadonlyArray<Table>) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const known = (yield* tables).map(({ name }) => name)
    const locked = [...(yield* ledgers), ...known]
    return yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql.unsafe("set transaction isolation level repeatable read, read only")
        yield* lockTables
        yield* sql.unsafe("set local lock_timeout = '1min'")
        yield* lock(locked).pipe(
          Effect.catchReasons("SqlError", {
            LockTimeoutError: () => Effect.fail(changing),
            SqlSyntaxError: () => Effect.fail(changed)
          })
        )
        yield* sql.unsafe("set local lock_timeout = 0")
        const found = yield* tables
        // What came into being since is not locked.
        if (found.some(({ name }) => !known.includes(name))) return yield* changed
        return yield* effect(found)
      })
    )
  })

const changing = new SnapshotError({
  message: "Somebody has been changing the tables for a minute; run it again when that is over"
})

const changed = new SnapshotError({
  message: "Tables were made or taken away while this began, as a migration does; run it again"
})

/** The rows of a table, each a JSON array of its columns as text, or null. */
export const rows = ({ columns, name }: Table) =>
  Stream.unwrap(
    Effect.map(SqlClient.SqlClient, (sql) => {
      const values = columns.map((column) => `${quoted(column.name)}::text`).join(", ")
      return sql.unsafe<{ readonly row: string }>(
        `select to_json(array[${values}]::text[])::text as row from only ${quoted(name)}`
      ).stream
    })
  ).pipe(Stream.mapArray((some) => Arr.map(some, ({ row }) => row)))

/** A file that was uploaded, as the database knows it; its size in bytes as text. */
interface FileRow {
  readonly uuid: string
  readonly size: string
  readonly sha256: string
  readonly contentType: string
  readonly unattached: boolean
}

/** The files, those that nothing has first; none in a database that is older than they are. */
export const files = Stream.unwrap(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    if (!(yield* exists("files"))) return Stream.empty
    return sql.unsafe<FileRow>(
      `select uuid, size::text as size, sha256, mime_type as "contentType", unattached_since is not null as unattached
        from files order by unattached_since, uuid`
    ).stream
  })
)

/**
 * Until the effect ends, keeps migrations from beginning, and the bytes of every file that nothing has. The sweeper passes
 * over rows that somebody has locked; a file that is in use now has a week from when it no longer is.
 */
export const holding = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* lockTables
        // A migration locks these before anything else. It waits for them, and nobody has to wait behind it for a table.
        yield* lock(yield* ledgers)
        if (yield* exists("files")) {
          yield* sql`select count(*) from (
            select from files where unattached_since < now() - interval '1 day' for key share
          ) held`
        }
        return yield* effect
      })
    )
  )
