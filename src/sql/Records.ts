import { Effect } from "effect"
import type { Encoded, EncodedPage } from "../domain/schema/Encoded.ts"
import type { Selection } from "../domain/query/Selection.ts"
import type { Precondition } from "../domain/query/Precondition.ts"
import type { Shaped } from "../domain/write/Markers.ts"
import { readOnlyMembers } from "../domain/write/Shape.ts"
import * as Written from "../domain/write/Written.ts"
import * as Batch from "./batch/Batch.ts"
import type { BatchOptions } from "./batch/BatchTypes.ts"
import { type Column, isStored, type StoredColumn, types } from "./Columns.ts"
import { changeSetting } from "./ChangeSetting.ts"
import { type Fragment, sql } from "./Fragment.ts"
import type { ListRequest } from "./lists/Listing.ts"
import { withLongTimeout } from "./connections/ManyRecords.ts"
import type { View } from "./View.ts"
import { stored, storedNew, uuidsV7, type Values } from "./RecordValues.ts"
import * as Reads from "./Reads.ts"
import { Sql } from "./Sql.ts"
import * as Transactions from "./Transactions.ts"

/** The types of a resource; `rejected` are the errors of its rules, by operation. */
interface Resource {
  readonly kind: string
  readonly record: { readonly uuid: string }
  readonly create: unknown
  readonly patch: unknown
  readonly notFound: unknown
  readonly rejected: { readonly create: unknown; readonly update: unknown; readonly delete: unknown }
  /** What a write returns, if that is more than which record it wrote. */
  readonly written?: unknown
}

/** The operations on the records of a resource. */
export interface Repository<R extends Resource> {
  get(uuid: R["record"]["uuid"], selection?: Selection): Effect.Effect<Encoded<R["record"]>, R["notFound"]>
  list(request: ListRequest): Effect.Effect<EncodedPage<R["record"]>>
  create(record: R["create"]): Effect.Effect<WrittenOf<R>, R["rejected"]["create"]>
  update(
    uuid: R["record"]["uuid"],
    patch: R["patch"],
    precondition: Precondition
  ): Effect.Effect<WrittenOf<R>, R["notFound"] | R["rejected"]["update"]>
  delete(
    uuid: R["record"]["uuid"],
    precondition: Precondition
  ): Effect.Effect<WrittenOf<R>, R["notFound"] | R["rejected"]["delete"]>
}

type WrittenOf<R extends Resource> = R extends { readonly written: infer W }
  ? W
  : Written.Written<R["kind"], R["record"]["uuid"]>

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
>(
  options: Reads.Options<A, NotFound> & {
    readonly kind: Kind
    readonly record: Shaped
    /** Members that are written and not answered, or not as they are written. */
    readonly writeOnly?: ReadonlyArray<StoredColumn>
    /** The new value of a member, from its column and the value that was sent; replaced or merged unless given. */
    readonly assignments?: Readonly<Record<string, (current: Fragment, sent: Fragment) => Fragment>>
    /** An expression over the written row that a write of this member reports back. */
    readonly reports?: { readonly member: string; readonly sql: Fragment }
  }
) {
  const { kind, notFound, reports } = options
  const table = sql.literal(options.table)
  const { manyWrites, pooled, writes } = yield* Sql
  const { columns, guard, ...reads } = yield* Reads.make(options)
  const readOnly = readOnlyMembers(options.record)
  const writable = [
    ...columns.filter(isStored).filter(({ member }) => !readOnly.includes(member)),
    ...(options.writeOnly ?? [])
  ]
  const idOf = (uuid: string) => uuid as A["uuid"]
  /** A stored value as a parameter. */
  const bind = ({ kind }: Column, value: unknown) =>
    sql`${kind === "json" && value !== null ? JSON.stringify(value) : value}::${types[kind]}`

  const names = sql.csv(writable.map(({ name }) => name))
  const reported = sql`(${reports?.sql ?? sql`null`})::text as returned`
  const insert = Effect.fnUntraced(function* (values: Values) {
    const [uuid] = yield* uuidsV7(1)
    const setting = yield* changeSetting
    const bound = writable.map((column) => bind(column, storedNew(column, values[column.member])))
    const [row] = yield* Transactions.write(
      writes,
      writes<{ readonly returned: string | null }>`
        insert into ${table} as t (uuid, ${names}) values (${uuid}, ${sql.csv(bound)}) returning ${reported}, ${setting}`
    )
    return { ...Written.created(kind, idOf(uuid!)), returned: row?.returned ?? undefined }
  })

  const assignment = (column: Column, sent: Fragment): Fragment => {
    const assign = options.assignments?.[column.member]
    if (assign !== undefined) return assign(column.sql, sent)
    // The row is read under its lock, so that two concurrent patches of different members never undo each other.
    return column.kind === "json" ? sql`waypost_merge(${column.sql}, ${sent})` : sent
  }

  /** The statement of a patch. One that changes nothing writes nothing: the condition sees the row under its lock. */
  const patchSql = (uuid: string, values: Values, setting: Fragment): Fragment => {
    const found = sql`exists (select from ${table} where uuid = ${uuid}) as found`
    const changes = writable
      .filter(({ member }) => values[member] !== undefined)
      .map((column) => ({ column, value: assignment(column, bind(column, stored(column, values[column.member]))) }))
    if (changes.length === 0) return sql`select ${found}, false as changed, null as returned`
    const isReported = changes.some(({ column }) => column.member === reports?.member)
    return sql`with changed as (
      update ${table} as t
      set ${sql.csv(changes.map(({ column, value }) => sql`${column.name} = ${value}`))}, ${Reads.touched("t")}
      where t.uuid = ${uuid} and ${sql.or(changes.map(({ column, value }) => sql`${column.sql} is distinct from ${value}`))}
      returning ${isReported ? reported : sql`null::text as returned`}, ${setting}
    ) select ${found}, exists (select from changed) as changed, (select returned from changed) as returned`
  }
  const patch = Effect.fnUntraced(function* (uuid: string, values: Values, precondition: Precondition, view?: View) {
    const statement = writes<PatchedRow>`${patchSql(uuid, values, yield* changeSetting)}`
    const [row] = yield* guard(uuid, statement, precondition, view)
    if (!row!.found) return yield* Effect.fail(notFound.of(uuid))
    return { ...Written.updated(kind, idOf(uuid), row!.changed), returned: row!.returned ?? undefined }
  })

  const remove = Effect.fnUntraced(function* (uuid: string, precondition: Precondition, view?: View) {
    const statement = pooled`delete from ${table} where uuid = ${uuid} returning uuid, ${yield* changeSetting}`
    const rows = yield* guard(uuid, statement, precondition, view)
    return rows.length > 0 ? Written.deleted(kind, idOf(uuid)) : yield* Effect.fail(notFound.of(uuid))
  })

  /** Deletes a record that many others name, within a transaction. */
  const removeNamed = (uuid: string, precondition: Precondition) => withLongTimeout(pooled, remove(uuid, precondition))

  /** The statements that write many records. */
  const batch = (options: BatchOptions) =>
    Batch.make({ manyWrites, pooled }, { kind, table, columns, writable, assignment }, options)

  return { ...reads, guard, insert, patch, remove, removeNamed, batch }
})

interface PatchedRow {
  readonly found: boolean
  readonly changed: boolean
  readonly returned: string | null
}
