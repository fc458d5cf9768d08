import { Clock, Effect, Option, Schema } from "effect"
import type { SqlError } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { Encoded } from "../domain/schema/Encoded.ts"
import type { Precondition } from "../domain/query/Precondition.ts"
import type { Shaped } from "../domain/write/Markers.ts"
import { readOnlyMembers } from "../domain/write/Shape.ts"
import { Parameters } from "./Parameters.ts"
import * as EntityTag from "./EntityTag.ts"
import * as Listing from "./Listing.ts"
import type { View } from "./ListSql.ts"
import { mergeSql, prune } from "./Merge.ts"
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

/** Whether a write found its record, and what `reports` asked for. */
export interface Written {
  readonly found: boolean
  readonly returned: string | undefined
}

/** The reads of a resource, derived from its record. */
export const readsOf = Effect.fnUntraced(function* <A>(options: {
  readonly table: string
  readonly record: Schema.Codec<A, unknown>
  /** Expressions of members that no column holds. */
  readonly computed?: Computed
  /** Members that are only answered when they are asked for. */
  readonly extras?: ReadonlyArray<string>
}) {
  const { pipelined, pooled } = yield* Sql
  const { extras, table } = options
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
  const get = (uuid: string, view?: View): Effect.Effect<Option.Option<Encoded<A>>> => {
    const { text, values } = select(uuid, view)
    return pipelined.unsafe<{ readonly json: Encoded<A> }>(text, values).pipe(
      Effect.map((rows) => Option.fromUndefinedOr(rows[0]?.json)),
      Effect.orDie
    )
  }
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

  /** Whether the record exists; ends the request with 412 if it exists and does not meet the precondition. */
  const checkPrecondition = (uuid: string, precondition: Precondition, view?: View): Effect.Effect<boolean> =>
    Effect.flatMap(
      get(uuid, view),
      Option.match({
        onNone: () => Effect.succeed(false),
        onSome: (json) => Effect.as(EntityTag.checkPrecondition(precondition, json), true)
      })
    )

  return { columns, get, guard, list, listWithin, checkPrecondition }
})

/**
 * The statements every resource needs: its reads, and insert, patch and delete. A repository adds its rules and errors.
 *
 * Each is one statement. Failures of the database come out as `SqlError`, because only the repository knows which
 * domain error a constraint stands for.
 */
export const make = Effect.fnUntraced(function* <A, Patch>(options: {
  readonly table: string
  readonly record: Schema.Codec<A, unknown> & Shaped
  readonly create: Schema.Codec<unknown, unknown>
  readonly patch: Schema.Codec<Patch, unknown>
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
  const { reports, table } = options
  const returning = reports?.sql ?? "null"
  const { pooled } = yield* Sql
  const { columns, get, guard, list, checkPrecondition } = yield* readsOf(options)
  const readOnly = readOnlyMembers(options.record)
  const writable = [
    ...columns.filter((column) => isColumn(column) && !readOnly.includes(column.member)),
    ...(options.writeOnly ?? [])
  ]
  const columnName = ({ sql }: Column) => sql.slice(alias.length + 1)
  /** The value as its column takes it; lists are never null. */
  const bind = ({ kind }: Column, value: unknown) =>
    kind === "list"
      ? (value ?? [])
      : value === undefined || value === null
        ? null
        : kind === "json"
          ? JSON.stringify(value)
          : value

  const encodeCreate = Schema.encodeUnknownEffect(options.create)
  const placeholders = writable.map(({ kind }, index) => `$${index + 2}::${castOf[kind]}`)
  const insertSql = `insert into ${table} as ${alias} (uuid, ${writable.map(columnName).join(", ")})
    values ($1, ${placeholders.join(", ")}) returning (${returning})::text as returned`
  const insert = Effect.fnUntraced(function* (value: unknown) {
    const encoded = (yield* Effect.orDie(encodeCreate(value))) as Readonly<Record<string, unknown>>
    const uuid = yield* uuidV7
    const values = writable.map((column) => bind(column, prune(encoded[column.member])))
    const rows = yield* SqlErrors.write(
      pooled,
      pooled.unsafe<{ readonly returned: string | null }>(insertSql, [uuid, ...values])
    )
    return { uuid, returned: rows[0]?.returned ?? undefined }
  })

  const encodePatch = Schema.encodeUnknownEffect(options.patch)
  const assignment = (column: Column, value: unknown, parameters: Parameters) => {
    const assign = options.assignments?.[column.member]
    if (assign !== undefined) return assign(column.sql, parameters.add(bind(column, value), castOf[column.kind]))
    return column.kind === "json" && typeof value === "object" && value !== null && !Array.isArray(value)
      ? mergeSql(column.sql, value as never, parameters)
      : parameters.add(bind(column, value), castOf[column.kind])
  }

  const found = `exists (select from ${table} where uuid = $1)`
  const patch = Effect.fnUntraced(function* (
    uuid: string,
    value: Patch,
    precondition: Precondition,
    view?: View
  ): Effect.fn.Return<Written, SqlError.SqlError> {
    const encoded = (yield* Effect.orDie(encodePatch(value))) as Readonly<Record<string, unknown>>
    const parameters = new Parameters()
    parameters.values.push(uuid)
    const changes = writable
      .filter(({ member }) => encoded[member] !== undefined)
      .map((column) => ({ column, sql: assignment(column, encoded[column.member], parameters) }))
    const reported = changes.some(({ column }) => column.member === reports?.member) ? returning : "null"
    // A patch that changes nothing writes nothing: the condition sees the row under its lock, like the assignments.
    const text =
      changes.length === 0
        ? `select ${found} as found, null as returned`
        : `with changed as (
          update ${table} as ${alias}
          set ${changes.map(({ column, sql }) => `${columnName(column)} = ${sql}`).join(", ")},
            edited_at = greatest(now(), ${alias}.edited_at + interval '1 millisecond')
          where ${alias}.uuid = $1 and (${changes.map(({ column, sql }) => `${column.sql} is distinct from ${sql}`).join(" or ")})
          returning (${reported})::text as returned
        ) select ${found} as found, (select returned from changed) as returned`
    const rows = yield* guard(
      uuid,
      pooled.unsafe<{ readonly found: boolean; readonly returned: string | null }>(text, parameters.values),
      precondition,
      view
    )
    return { found: rows[0]!.found, returned: rows[0]!.returned ?? undefined }
  })

  const remove = (uuid: string, precondition: Precondition, view?: View): Effect.Effect<boolean, SqlError.SqlError> =>
    guard(uuid, pooled.unsafe(`delete from ${table} where uuid = $1 returning uuid`, [uuid]), precondition, view).pipe(
      Effect.map((rows) => rows.length > 0)
    )

  return { get, list, insert, patch, checkPrecondition, remove }
})

/** Ordered by time. Its random bits are of those that Node keeps ready: asking for ten bytes takes ten times as long. */
const uuidV7 = Effect.map(Clock.currentTimeMillis, (millis) => {
  const time = millis.toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
})
