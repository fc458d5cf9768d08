import { Effect, Option, type Schema } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { Encoded } from "../domain/schema/Encoded.ts"
import type { Precondition } from "../domain/query/Precondition.ts"
import { CurrentTransaction } from "../domain/write/SurroundingTransaction.ts"
import { columnsOf, type Computed } from "./Columns.ts"
import * as EntityTag from "./EntityTag.ts"
import { compact, type Fragment, sql } from "./Fragment.ts"
import * as Listing from "./lists/Listing.ts"
import * as Selected from "./Selected.ts"
import { isPlain, type View } from "./View.ts"
import { Sql } from "./Sql.ts"
import { sandbox } from "./SqlErrors.ts"
import * as Transactions from "./Transactions.ts"

/** The assignment that moves `edited_at` of a row forward, also within one millisecond. */
export const touched = (row: string): Fragment =>
  sql.literal(`edited_at = greatest(now(), ${row}.edited_at + interval '1 millisecond')`)

/** Characters of a record up to which it is read over the pipelined pool, and how many larger ones are remembered. */
const cheapLength = 64 * 1024
const maxLarge = 10_000

/** A resource, as it is read. */
export interface Options<A, NotFound> {
  readonly table: string
  readonly record: Schema.Codec<A, unknown>
  readonly notFound: { readonly of: (uuid: string) => NotFound }
  /** Expressions of members that no column holds. */
  readonly computed?: Computed
  /** Members that are only answered when they are asked for. */
  readonly extras?: ReadonlyArray<string>
  /** What an answer can include of other records. */
  readonly related?: Selected.Answers["related"]
  /** Members that change without a write, and that a precondition is not about: the tag of a read is a `lastingTag`. */
  readonly passing?: ReadonlyArray<string>
}

/** The reads of a resource, derived from its record. */
export const make = Effect.fnUntraced(function* <A, NotFound>(options: Options<A, NotFound>) {
  const { cheap, pooled } = yield* Sql
  const { extras, notFound, passing, related } = options
  const table = sql.literal(options.table)
  const columns = columnsOf(options.record, options.computed)
  const answers = { columns, extras, related }
  const { list, listWithin } = yield* Listing.make<A>({ table: options.table, ...answers })
  const isPrepared = Selected.makePrepared()
  /** The statement that reads a record as the request sees it, up to the uuid. */
  const readOf = (view: View) =>
    compact(sql`select ${Selected.answerOf(answers, view)} as json from ${table} t where t.uuid = `)
  const readDefault = readOf({})
  const read = (view: View = {}) => (isPlain(view) ? readDefault : readOf(view))
  // One text for every read: the driver finds its prepared statement by it, and hashes a new text each time.
  const [defaultText, defaultValues] = pooled`${readDefault}${""}`.compile()
  /** Large records, which leave the pipelined pool. */
  const large = new Set<string>()
  const noteLarge = (uuid: string, json: string | undefined) => {
    if (json === undefined || json.length <= cheapLength) return
    if (large.size >= maxLarge) large.clear()
    large.add(uuid)
  }
  const find = (uuid: string, view?: View): Effect.Effect<Option.Option<Encoded<A>>> => {
    const rowsOf = (client: SqlClient.SqlClient) => {
      if (view === undefined || isPlain(view)) {
        return client.unsafe<{ readonly json: Encoded<A> }>(defaultText, [...defaultValues.slice(0, -1), uuid])
      }
      const statement = client<{ readonly json: Encoded<A> }>`${read(view)}${uuid}`
      return isPrepared(view) ? statement : statement.unprepared
    }
    // A transaction sees what it wrote itself. What is included can be many times as large as the record.
    const isLarge = view?.include !== undefined || large.has(uuid)
    return CurrentTransaction.pipe(
      Effect.flatMap((surrounding) => (surrounding !== undefined || isLarge ? rowsOf(pooled) : cheap(rowsOf))),
      Effect.map(([row]) => {
        noteLarge(uuid, row?.json)
        return Option.fromUndefinedOr(row?.json)
      }),
      Effect.orDie
    )
  }
  const get = (uuid: string, view?: View): Effect.Effect<Encoded<A>, NotFound> =>
    Effect.flatMap(find(uuid, view), (json) => Effect.fromOption(json, () => notFound.of(uuid)))
  const check = (precondition: Precondition, json: string) =>
    passing === undefined
      ? EntityTag.checkPrecondition(precondition, json)
      : EntityTag.checkLasting(precondition, json, passing)

  /** A write; with a precondition, the record is locked and checked first. */
  const guard = <B>(
    uuid: string,
    write: Effect.Effect<B, SqlError.SqlError>,
    precondition: Precondition,
    view?: View
  ): Effect.Effect<B, SqlError.SqlError> => {
    if (precondition === undefined) return Transactions.write(pooled, write)
    const checked = Effect.flatMap(pooled<{ readonly json: string }>`${read(view)}${uuid} for update of t`, ([row]) =>
      row === undefined ? write : Effect.andThen(check(precondition, row.json), write)
    )
    return Transactions.write(pooled, sandbox(pooled.withTransaction(checked)))
  }

  /** Fails if the record does not exist; ends the request with 412 if it does not meet the precondition. */
  const checkPrecondition = (uuid: string, precondition: Precondition, view?: View): Effect.Effect<void, NotFound> =>
    Effect.flatMap(get(uuid, view), (json) => check(precondition, json))

  /** Locks the record for a write of what belongs to it, and checks the precondition under the lock. */
  const lock = Effect.fnUntraced(function* (
    uuid: string,
    precondition: Precondition,
    strength: "no key update" | "update" = "no key update"
  ) {
    const rows = yield* pooled`select 1 from ${table} where uuid = ${uuid} for ${sql.literal(strength)}`
    if (rows.length === 0) return yield* Effect.fail(notFound.of(uuid))
    if (precondition !== undefined) yield* checkPrecondition(uuid, precondition)
  })

  /** Moves `edited_at` forward after a write of what belongs to the record. */
  const touch = (uuid: string) => pooled`update ${table} as t set ${touched("t")} where t.uuid = ${uuid}`

  return { columns, find, get, guard, list, listWithin, checkPrecondition, lock, touch }
})
