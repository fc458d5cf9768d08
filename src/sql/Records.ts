import { Clock, DateTime, Effect, Option, type Schema } from "effect"
import type { SqlError } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { Encoded } from "../domain/schema/Encoded.ts"
import type { Precondition } from "../domain/query/Precondition.ts"
import type { Shaped } from "../domain/write/Markers.ts"
import { readOnlyMembers } from "../domain/write/Shape.ts"
import * as Written from "../domain/write/Written.ts"
import { Parameters } from "./Parameters.ts"
import * as EntityTag from "./EntityTag.ts"
import * as Listing from "./Listing.ts"
import type { View } from "./ListSql.ts"
import { isObject, mergeSql, prune } from "./Merge.ts"
import {
  alias,
  castOf,
  type Column,
  columnsOf,
  type Computed,
  isColumn,
  jsonOf,
  shownOf,
  withoutExtras
} from "./Columns.ts"
import { Sql } from "./Sql.ts"
import * as SqlErrors from "./SqlErrors.ts"

/** The assignment that moves `edited_at` of a row forward, also within one millisecond. */
export const touched = (row: string): string =>
  `edited_at = greatest(now(), ${row}.edited_at + interval '1 millisecond')`

/** The reads of a resource, derived from its record. */
export const readsOf = Effect.fnUntraced(function* <A, NotFound>(options: {
  readonly table: string
  readonly record: Schema.Codec<A, unknown>
  readonly notFound: { readonly of: (uuid: string) => NotFound }
  /** Expressions of members that no column holds. */
  readonly computed?: Computed
  /** Members that are only answered when they are asked for. */
  readonly extras?: ReadonlyArray<string>
}) {
  const { pipelined, pooled } = yield* Sql
  const { extras, notFound, table } = options
  const columns = columnsOf(options.record, options.computed)
  const { list, listWithin } = yield* Listing.make(options.record, { table, columns, extras })
  const selectOf = (shown: ReadonlyArray<Column>) =>
    `select ${jsonOf(shown)} as json from ${table} ${alias} where ${alias}.uuid = $1`
  const selectWhole = selectOf(withoutExtras(columns, extras))
  /** The statement that reads a record, as the request sees it. */
  const select = (uuid: string, view: View | undefined) => {
    const parameters = new Parameters()
    parameters.values.push(uuid)
    const shown = () => withoutExtras(view?.columns ?? columns, extras, view?.include)
    const text = view === undefined ? selectWhole : selectOf(shownOf(shown(), view.members?.(parameters)))
    return { text, values: parameters.values }
  }
  const find = (uuid: string, view?: View): Effect.Effect<Option.Option<Encoded<A>>> => {
    const { text, values } = select(uuid, view)
    return pipelined.unsafe<{ readonly json: Encoded<A> }>(text, values).pipe(
      Effect.map((rows) => Option.fromUndefinedOr(rows[0]?.json)),
      Effect.orDie
    )
  }
  const get = (uuid: string, view?: View): Effect.Effect<Encoded<A>, NotFound> =>
    Effect.flatMap(find(uuid, view), (json) => Effect.fromOption(json, () => notFound.of(uuid)))
  /** A write; with a precondition, the record is locked and checked first. */
  const guard = <B>(
    uuid: string,
    write: Effect.Effect<B, SqlError.SqlError>,
    precondition: Precondition,
    view?: View
  ): Effect.Effect<B, SqlError.SqlError> => {
    if (precondition === undefined) return SqlErrors.write(pooled, write)
    const { text, values } = select(uuid, view)
    const checked = Effect.flatMap(
      pooled.unsafe<{ readonly json: string }>(`${text} for update of ${alias}`, values),
      ([row]) =>
        row === undefined ? write : Effect.andThen(EntityTag.checkPrecondition(precondition, row.json), write)
    )
    return SqlErrors.write(pooled, SqlErrors.sandbox(pooled.withTransaction(checked)))
  }

  /** Fails if the record does not exist; ends the request with 412 if it does not meet the precondition. */
  const checkPrecondition = (uuid: string, precondition: Precondition, view?: View): Effect.Effect<void, NotFound> =>
    Effect.flatMap(get(uuid, view), (json) => EntityTag.checkPrecondition(precondition, json))

  /** Locks the record for a write of what belongs to it, and checks the precondition under the lock. */
  const lock = Effect.fnUntraced(function* (
    uuid: string,
    precondition: Precondition,
    strength: "no key update" | "update" = "no key update"
  ) {
    const rows = yield* pooled.unsafe(`select 1 from ${table} where uuid = $1 for ${strength}`, [uuid])
    if (rows.length === 0) return yield* Effect.fail(notFound.of(uuid))
    if (precondition !== undefined) yield* checkPrecondition(uuid, precondition)
  })

  /** Moves `edited_at` forward after a write of what belongs to the record. */
  const touch = (uuid: string) =>
    pooled.unsafe(`update ${table} as ${alias} set ${touched(alias)} where ${alias}.uuid = $1`, [uuid])

  return { columns, find, get, guard, list, listWithin, checkPrecondition, lock, touch }
})

/**
 * The statements every resource needs: its reads, and insert, patch and delete. A repository adds its rules and errors.
 *
 * Each is one statement. Failures of the database come out as `SqlError`, because only the repository knows which
 * domain error a constraint stands for.
 *
 * Values arrive decoded and are bound without being encoded again: their columns take the decoded form of everything
 * but points in time, and those stand in columns of their own.
 */
export const make = Effect.fnUntraced(function* <
  const Kind extends string,
  A extends { readonly uuid: string },
  NotFound
>(options: {
  readonly kind: Kind
  readonly table: string
  readonly record: Schema.Codec<A, unknown> & Shaped
  readonly notFound: { readonly of: (uuid: string) => NotFound }
  /** Members that are written and not answered, or not as they are written. */
  readonly writeOnly?: ReadonlyArray<Column>
  /** Expressions of members that no column holds. */
  readonly computed?: Computed
  /** Members that are only answered when they are asked for. */
  readonly extras?: ReadonlyArray<string>
  /** The new value of a member, from its column and the value that was sent; replaced or merged unless given. */
  readonly assignments?: Readonly<Record<string, (current: string, sent: string) => string>>
  /** An expression over the written row that a write of this member reports back. */
  readonly reports?: { readonly member: string; readonly sql: string }
}) {
  const { kind, notFound, reports, table } = options
  const returning = reports?.sql ?? "null"
  const { pooled } = yield* Sql
  const { columns, guard, ...reads } = yield* readsOf(options)
  const readOnly = readOnlyMembers(options.record)
  const writable = [
    ...columns.filter((column) => isColumn(column) && !readOnly.includes(column.member)),
    ...(options.writeOnly ?? [])
  ]
  const idOf = (uuid: string) => uuid as A["uuid"]
  const columnName = ({ sql }: Column) => sql.slice(alias.length + 1)
  /** The value as its column takes it; lists are never null. */
  const bind = (column: Column, value: unknown) => {
    if (column.kind === "list") return value ?? []
    if (value === undefined || value === null) return null
    if (DateTime.isDateTime(value)) return DateTime.formatIso(value)
    return column.kind === "json" ? JSON.stringify(value) : value
  }

  const placeholders = writable.map(({ kind }, index) => `$${index + 2}::${castOf[kind]}`)
  const insertSql = `insert into ${table} as ${alias} (uuid, ${writable.map(columnName).join(", ")})
    values ($1, ${placeholders.join(", ")}) returning (${returning})::text as returned`
  const insert = Effect.fnUntraced(function* (values: Values) {
    const uuid = yield* uuidV7
    const bound = writable.map((column) => {
      const value = values[column.member]
      return bind(column, column.kind === "json" ? prune(value) : value)
    })
    const [row] = yield* SqlErrors.write(
      pooled,
      pooled.unsafe<{ readonly returned: string | null }>(insertSql, [uuid, ...bound])
    )
    return { ...Written.created(kind, idOf(uuid)), returned: row?.returned ?? undefined }
  })

  const assignment = (column: Column, value: unknown, parameters: Parameters) => {
    const assign = options.assignments?.[column.member]
    if (assign !== undefined) return assign(column.sql, parameters.add(bind(column, value), castOf[column.kind]))
    return column.kind === "json" && isObject(value)
      ? mergeSql(column.sql, value, parameters)
      : parameters.add(bind(column, value), castOf[column.kind])
  }

  const found = `exists (select from ${table} where uuid = $1)`
  /** The statement of a patch. One that changes nothing writes nothing: the condition sees the row under its lock. */
  const patchSql = (values: Values, parameters: Parameters) => {
    const changes = writable
      .filter(({ member }) => values[member] !== undefined)
      .map((column) => ({ column, sql: assignment(column, values[column.member], parameters) }))
    if (changes.length === 0) return `select ${found} as found, false as changed, null as returned`
    const reported = changes.some(({ column }) => column.member === reports?.member) ? returning : "null"
    return `with changed as (
      update ${table} as ${alias}
      set ${changes.map(({ column, sql }) => `${columnName(column)} = ${sql}`).join(", ")}, ${touched(alias)}
      where ${alias}.uuid = $1 and (${changes.map(({ column, sql }) => `${column.sql} is distinct from ${sql}`).join(" or ")})
      returning (${reported})::text as returned
    ) select ${found} as found, exists (select from changed) as changed, (select returned from changed) as returned`
  }
  const patch = Effect.fnUntraced(function* (uuid: string, values: Values, precondition: Precondition, view?: View) {
    const parameters = new Parameters()
    parameters.values.push(uuid)
    const text = patchSql(values, parameters)
    const [row] = yield* guard(uuid, pooled.unsafe<PatchedRow>(text, parameters.values), precondition, view)
    if (!row!.found) return yield* Effect.fail(notFound.of(uuid))
    return { ...Written.updated(kind, idOf(uuid), row!.changed), returned: row!.returned ?? undefined }
  })

  const remove = Effect.fnUntraced(function* (uuid: string, precondition: Precondition, view?: View) {
    const statement = pooled.unsafe(`delete from ${table} where uuid = $1 returning uuid`, [uuid])
    const rows = yield* guard(uuid, statement, precondition, view)
    return rows.length > 0 ? Written.deleted(kind, idOf(uuid)) : yield* Effect.fail(notFound.of(uuid))
  })

  return { ...reads, insert, patch, remove }
})

type Values = Readonly<Record<string, unknown>>

interface PatchedRow {
  readonly found: boolean
  readonly changed: boolean
  readonly returned: string | null
}

/** Ordered by time. `randomUUID` draws from a pool; requesting ten random bytes takes ten times as long. */
const uuidV7 = Effect.map(Clock.currentTimeMillis, (millis) => {
  const time = millis.toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
})
