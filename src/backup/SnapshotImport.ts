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
import { lockTables } from "./Snapshot.ts"
import { migrateTo, migrationTables } from "../sql/Sql.ts"

/** The rows do not get into the database, which stays as it was; the message says why. */
class LoadError extends Schema.TaggedError<LoadError>()("LoadError", { message: Schema.String }) {}

/** Tables that a migration puts rows into. Every other row is somebody's. */
const filledByMigrations: ReadonlySet<string> = new Set(["post_language", "row_counts", "secrets"])

/** Fails unless the database has nothing in it but what migrations make. */
const checkEmpty = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  for (const { name } of yield* tablesOf) {
    if (filledByMigrations.has(name)) continue
    const [found] = yield* sql.unsafe<{ readonly any: boolean }>(`select exists (select from ${quoted(name)}) as any`)
    if (found!.any) return yield* new LoadError({ message: `The database has records: the table ${name} is not empty` })
  }
})

type Rows = Stream.Stream<string, PlatformError.PlatformError>

/** What a database is made of again. */
interface Content {
  readonly migrations: { readonly waypost: Applied; readonly jobs: Applied }
  readonly tables: ReadonlyArray<{
    readonly name: string
    readonly columns: ReadonlyArray<string>
    readonly rows: number
  }>
  readonly sequences: ReadonlyArray<Sequence>
  /** The rows of a table as `Snapshot.rows` wrote them. */
  readonly rowsOf: (table: string) => Rows
}

/** Tables of a backup that are left out, and why. */
export interface LeftOut {
  /** The queue, when its library keeps jobs in another form by now. */
  readonly changed: ReadonlyArray<string>
  /** What no migration makes: somebody else's. */
  readonly foreign: ReadonlyArray<string>
}

type Form = Pick<Content, "migrations" | "tables">

/** Makes the tables as they were, where nobody else sees them; fails when they do not take what the backup holds. */
const prepare = Effect.fnUntraced(function* ({ migrations, tables }: Form) {
  yield* lockTables
  yield* alone
  yield* checkEmpty
  yield* migrateTo(migrations.waypost.at(-1)?.[0])
  // Somebody else may have made the tables just before, and put something into them.
  yield* alone
  yield* checkEmpty
  const now = yield* applied
  if (!same(now.waypost, migrations.waypost)) return yield* otherTables
  const known = yield* tablesOf
  // The queue belongs to a library, which may have changed its tables since; what waits in it is made on demand too.
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

/** Whether a database takes a backup, found out in a transaction that leaves nothing behind. */
export const rehearse = (form: Form) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql
      .withTransaction(Effect.andThen(prepare(form), Effect.fail(new Rehearsed())))
      .pipe(Effect.catchTag("Rehearsed", () => Effect.void))
  )

class Rehearsed extends Data.TaggedError("Rehearsed") {}

/**
 * Fills an empty database, in one transaction: the tables are made as they were, filled while triggers and references
 * rest, checked, and brought up to date. What breaks off leaves nothing behind.
 */
export const load = ({ migrations, rowsOf, sequences, tables }: Content) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        const { known, leftOut } = yield* prepare({ migrations, tables })
        const restoreIndexes = yield* dropIndexes(known)
        for (const { columns, name, rows } of tables) {
          const table = known.find((table) => table.name === name)
          if (table === undefined || leftOut.changed.includes(name)) continue
          yield* fill(table, columns, rowsOf(name)).pipe(Effect.catchTag("SqlError", (error) => refused(name, error)))
          const [count] = yield* sql.unsafe<{ readonly rows: number }>(
            `select count(*)::float8 as rows from ${quoted(name)}`
          )
          if (count!.rows !== rows) {
            return yield* new LoadError({ message: `${name} has ${count!.rows} rows now, and ${rows} in the backup` })
          }
        }
        const counters = new Set((yield* sequencesOf).map(({ name }) => name))
        for (const { called, name, value } of sequences.filter(({ name }) => counters.has(name))) {
          yield* sql`select setval(${quoted(name)}, ${value}::bigint, ${called})`
        }
        yield* Effect.forEach(restoreIndexes, (statement) => sql.unsafe(statement), { discard: true }).pipe(
          Effect.catchTag("SqlError", (error) => refused("one table", error))
        )
        yield* migrateTo()
        yield* sql`analyze`
        return leftOut
      })
    )
  )

const same = (left: Applied, right: Applied) => JSON.stringify(left) === JSON.stringify(right)

const otherTables = new LoadError({
  message: "The database has been migrated further than the backup; restore needs one without any tables"
})

const otherColumn = (table: string, column: string) =>
  new LoadError({
    message:
      `The backup has a column ${column} in ${table}, which Waypost does not make. Make it in the new database as well ` +
      "(waypost migrate, with the version that made the backup, then alter table), and restore again"
  })

const refused = (table: string, { message, reason }: SqlError.SqlError) =>
  Effect.fail(
    new LoadError({
      message: `PostgreSQL refuses the rows of ${table}: ${reason.cause instanceof Error ? reason.cause.message : message}`
    })
  )

/** Nobody else reads or writes from here on; who tries waits until the end. */
const alone = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const names = (yield* tablesOf).map(({ name }) => quoted(name))
  if (names.length > 0) yield* sql.unsafe(`lock table ${names.join(", ")} in access exclusive mode`)
})

/** So many characters of rows go into one statement, unless a single row is longer. */
const batch = 1024 * 1024

const fill = Effect.fnUntraced(function* (table: Table, columns: ReadonlyArray<string>, rows: Rows) {
  const sql = yield* SqlClient.SqlClient
  const types = columns.map((column) => table.columns.find(({ name }) => name === column)!.type)
  const insert = `insert into ${quoted(table.name)} (${columns.map(quoted).join(", ")}) overriding system value
    select ${types.map((type, index) => `(r->>${index})::${type}`).join(", ")} from jsonb_array_elements($1::text::jsonb) r`
  let waiting: Array<string> = []
  let length = 0
  const flush = Effect.suspend(() => {
    const some = `[${waiting.join(",")}]`
    waiting = []
    length = 0
    return sql.unsafe(insert, [some])
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
