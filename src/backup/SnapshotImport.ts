import { Data, Effect, type PlatformError, Schema, Stream } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import {
  type Applied,
  applied,
  quoted,
  type Sequence,
  sequences as sequencesOf,
  type Table,
  tables as tablesOf
} from "./Introspection.ts"
import { dropIndexes } from "./Indexes.ts"
import { applySettings } from "./Snapshot.ts"
import { CurrentChange } from "../domain/changes/Actor.ts"
import { changeSetting } from "../sql/ChangeSetting.ts"
import { migrateTo, migrationTables } from "../sql/Migrations.ts"

/** The import failed and left the database unchanged; the message says why. */
class SnapshotImportError extends Schema.TaggedError<SnapshotImportError>()("SnapshotImportError", {
  message: Schema.String,
  /** Whether an empty database can take the backup, and this one cannot. */
  needsEmptyDatabase: Schema.Boolean
}) {}

const failed = (message: string) => new SnapshotImportError({ message, needsEmptyDatabase: false })
const needsEmpty = (message: string) => new SnapshotImportError({ message, needsEmptyDatabase: true })

/** Tables that a migration inserts rows into. Rows of every other table are records of the user. */
const filledByMigrations: ReadonlySet<string> = new Set([
  "event_generations",
  "event_log",
  "location_quality_progress",
  "post_language",
  "row_counts",
  "secrets",
  "webhook_feed"
])

/** Fails unless the database holds only the rows that migrations insert. */
const checkEmpty = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const { name } of yield* tablesOf) {
    if (filledByMigrations.has(name)) continue
    const [found] = yield* sql<{ readonly any: boolean }>`
      select exists (select from ${sql.literal(quoted(name))}) as any`
    if (found!.any) return yield* needsEmpty(`The database has records: the table ${name} is not empty`)
  }
})

type Rows = Stream.Stream<string, PlatformError.PlatformError>

/** The content of a backup. */
interface Content {
  readonly migrations: { readonly waypost: Applied; readonly jobs: Applied }
  readonly tables: ReadonlyArray<{
    readonly name: string
    readonly columns: ReadonlyArray<string>
    readonly rows: number
  }>
  readonly sequences: ReadonlyArray<Sequence>
  /** Whether active webhooks of the backup stay active. */
  readonly resumesWebhooks: boolean
  /** The rows of a table as `Snapshot.rows` wrote them. */
  readonly rowsOf: (table: string) => Rows
}

/** Tables of a backup that the import skips. */
export interface LeftOut {
  /** The job queue, when its library has changed the table since. */
  readonly changed: ReadonlyArray<string>
  /** Tables that no migration creates. */
  readonly foreign: ReadonlyArray<string>
}

type Form = Pick<Content, "migrations" | "tables">

/** Creates the tables at the version of the backup, in the open transaction; fails when they cannot hold its rows. */
const prepare = Effect.fnUntraced(function* ({ migrations, tables }: Form) {
  yield* applySettings
  yield* lockExclusively
  yield* checkEmpty
  yield* migrateTo(migrations.waypost.at(-1)?.[0])
  // Another process may have created the tables just before, and inserted rows.
  yield* lockExclusively
  yield* checkEmpty
  const now = yield* applied
  if (!same(now.waypost, migrations.waypost)) return yield* otherTables
  const known = yield* tablesOf
  // The library of the queue may have changed its tables since. Lost jobs are harmless: thumbnails are also made on demand.
  const changed: ReadonlyArray<string> = same(now.jobs, migrations.jobs) ? [] : [migrationTables.queue]
  const foreign: Array<string> = []
  for (const { columns, name } of tables) {
    if (changed.includes(name)) continue
    const table = known.find((table) => table.name === name)
    const column = columns.find((column) => table?.columns.every(({ name }) => name !== column))
    if (table === undefined) foreign.push(name)
    if (column !== undefined) return yield* otherColumn(name, column)
  }
  return { known, leftOut: { changed, foreign } satisfies LeftOut }
})

/** Checks that the database can take the backup, in a transaction that is rolled back. */
export const rehearse = (form: Form) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql
      .withTransaction(Effect.andThen(prepare(form), Effect.fail(new Rehearsed())))
      .pipe(Effect.catchTag("Rehearsed", () => Effect.void))
  )

class Rehearsed extends Data.TaggedError("Rehearsed") {}

/**
 * Fills an empty database in one transaction: creates the tables at the version of the backup, fills them without triggers
 * and foreign keys, compares the row counts, and applies the later migrations. A failure rolls everything back.
 */
export const load = ({ migrations, resumesWebhooks, rowsOf, sequences, tables }: Content) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        const { known, leftOut } = yield* prepare({ migrations, tables })
        const restoreIndexes = yield* dropIndexes(known)
        // Migration 66 drops it, too: this server may not know a time zone that the other one knew.
        yield* sql`alter table if exists locations drop constraint if exists locations_timezone_known`
        for (const { columns, name, rows } of tables) {
          const table = known.find((table) => table.name === name)
          if (table === undefined || leftOut.changed.includes(name)) continue
          yield* fill(table, columns, rowsOf(name)).pipe(Effect.catchTag("SqlError", (error) => rejected(name, error)))
          const [count] = yield* sql<{ readonly rows: number }>`
            select count(*)::float8 as rows from ${sql.literal(quoted(name))}`
          if (count!.rows !== rows) {
            return yield* failed(`${name} has ${count!.rows} rows, but ${rows} in the backup`)
          }
        }
        const counters = new Set((yield* sequencesOf).map(({ name }) => name))
        for (const { called, name, value } of sequences.filter(({ name }) => counters.has(name))) {
          yield* sql`select setval(${quoted(name)}, ${value}::bigint, ${called})`
        }
        // PostgreSQL composed these statements.
        yield* Effect.forEach(restoreIndexes, (statement) => sql.unsafe(statement), { discard: true }).pipe(
          Effect.catchTag("SqlError", (error) => rejected("one table", error))
        )
        yield* migrateTo()
        if (!resumesWebhooks) yield* pauseWebhooks
        yield* beginGeneration
        yield* sql`analyze`
        return leftOut
      })
    )
  )

/** The receivers may know more than the backup, or belong to the installation that it was made of. */
const pauseWebhooks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`select ${yield* changeSetting}`
  yield* sql`update webhooks set state = 'paused', edited_at = greatest(now(), edited_at + interval '1 millisecond')
    where state <> 'paused'`
}).pipe(Effect.provideService(CurrentChange, { actor: { type: "command" } }))

/**
 * Begins a generation of the change log behind the last event of the backup. What the backup has that was committed and had
 * no position yet gets one now: the original may have given it another.
 */
const beginGeneration = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`insert into event_generations (after_position) select position from event_log`
  yield* sql`select waypost_seal_all()`
})

const same = (left: Applied, right: Applied) => JSON.stringify(left) === JSON.stringify(right)

const otherTables = needsEmpty("The database has later migrations than the backup")

const otherColumn = (table: string, column: string) =>
  failed(
    `The backup has a column ${column} in ${table}, which Waypost does not make. Add it to the new database as well ` +
      "(waypost migrate, with the version that made the backup, then alter table), and restore again"
  )

const rejected = (table: string, { message, reason }: SqlError.SqlError) =>
  Effect.fail(
    failed(
      `PostgreSQL rejected the rows of ${table}: ${reason.cause instanceof Error ? reason.cause.message : message}`
    )
  )

/** Locks the tables: other sessions that read or write them wait until the transaction ends. */
const lockExclusively = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const names = (yield* tablesOf).map(({ name }) => quoted(name))
  if (names.length > 0) yield* sql`lock table ${sql.csv(names)} in access exclusive mode`
})

/** Characters of rows in one statement; a single longer row has its own. */
const batch = 1024 * 1024

const fill = Effect.fnUntraced(function* (table: Table, columns: ReadonlyArray<string>, rows: Rows) {
  const sql = yield* SqlClient.SqlClient
  const types = columns.map((column) => table.columns.find(({ name }) => name === column)!.type)
  const values = sql.csv(types.map((type, index) => `(r->>${index})::${type}`))
  let waiting: Array<string> = []
  let length = 0
  const flush = Effect.suspend(() => {
    const some = `[${waiting.join(",")}]`
    waiting = []
    length = 0
    return sql`insert into ${sql.literal(quoted(table.name))} (${sql.csv(columns.map(quoted))}) overriding system value
      select ${values} from jsonb_array_elements(${some}::text::jsonb) r`
  })
  yield* Stream.runForEachArray(
    rows,
    Effect.fnUntraced(function* (some) {
      for (const row of some) {
        waiting.push(row)
        length += row.length
        if (length >= batch) yield* flush
      }
    })
  )
  if (waiting.length > 0) yield* flush
})
