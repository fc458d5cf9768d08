import { Array as Arr, Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { type Table, quoted } from "./Catalogue.ts"

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
export const settle = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(habits, (habit) => sql.unsafe(`set local ${habit}`), { discard: true })
})

/** Runs an effect on the database as it is at one moment, however many others write meanwhile. */
export const snapshot = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.withTransaction(
      sql
        .unsafe("set transaction isolation level repeatable read, read only")
        .pipe(Effect.andThen(settle), Effect.andThen(effect))
    )
  )

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
}

const hasFiles = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* sql<{ readonly exists: boolean }>`select to_regclass('files') is not null as exists`
  return found!.exists
})

/** The files, none in a database that is older than they are. */
export const files = Stream.unwrap(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    if (!(yield* hasFiles)) return Stream.empty
    return sql.unsafe<FileRow>(
      `select uuid, size::text as size, sha256, mime_type as "contentType" from files order by uuid`
    ).stream
  })
)

/**
 * Keeps the bytes of every file that is there when this begins until the effect ends. The sweeper passes over rows that
 * somebody has locked, and files that are in use now have six more days after they no longer are.
 */
export const holdingFiles = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* settle
        if (yield* hasFiles) {
          yield* sql`select count(*) from (
            select from files where unattached_since < now() - interval '1 day' for key share
          ) held`
        }
        return yield* effect
      })
    )
  )
