import { Data, Effect } from "effect"
import type { Condition } from "../../domain/query/FilterConditions.ts"
import * as Written from "../../domain/write/Written.ts"
import { type Column, jsonOf, type StoredColumn } from "../Columns.ts"
import { conditionSql } from "../Conditions.ts"
import { type Fragment, sql } from "../Fragment.ts"
import { withLongTimeout } from "../connections/ManyRecords.ts"
import { touched } from "../Reads.ts"
import { stored, storedNew, uuidsV7, type Values } from "../RecordValues.ts"
import type { Sql } from "../Sql.ts"
import { transaction } from "../Transactions.ts"
import type { Batch, BatchOptions, Target } from "./BatchTypes.ts"
import * as SentRows from "./SentRows.ts"
import * as Trials from "./Trials.ts"

class LeftToOperation extends Data.TaggedError("LeftToOperation") {}

/** Leaves a write to the operation on one record, whose rules need the database. */
export const leave = Effect.fail(new LeftToOperation())

/** The conditions of a filter on the row `t` of these columns. */
export const whereOf = (columns: ReadonlyArray<Column>) => (filter: ReadonlyArray<Condition>) =>
  filter.length === 0
    ? sql.literal("true")
    : sql.and(
        filter.map((condition) => {
          const column = columns.find(({ member }) => member === condition.field.split(".", 1)[0])!
          const field = column.fields.find(({ path }) => path === condition.field)
          return conditionSql(column, field, condition)
        })
      )

interface Resource {
  readonly kind: string
  readonly table: Fragment
  readonly columns: ReadonlyArray<Column>
  readonly writable: ReadonlyArray<StoredColumn>
  readonly assignment: SentRows.Assignment
}

export const make = (
  { manyWrites, pooled }: Pick<Sql["Service"], "manyWrites" | "pooled">,
  { assignment, columns: all, kind, table, writable }: Resource,
  options: BatchOptions
): Batch => {
  const { computable, deletes, generating, key, relations, unique = [] } = options
  const columns = SentRows.aliased(writable)

  const uniqueMembers = [...(key === undefined ? [] : [key.member]), ...unique]
  const uniqueColumns = writable.filter(({ member }) => uniqueMembers.includes(member))
  const shown = sql`jsonb_build_object(${sql.csv(
    uniqueColumns.map((column) => sql`${sql.literal(`'${column.member}'`)}, ${column.sql}`)
  )})`
  const keyColumn = writable.find(({ member }) => member === key?.member)
  const compared = key?.compared ?? ((key: Fragment) => key)
  const byKey =
    keyColumn === undefined
      ? sql`select place, uuid from named where false`
      : sql`select place, t.uuid from named join ${table} t on ${compared(keyColumn.sql)} = ${compared(sql`named.key`)}`

  /** Replaces the relations that records have values for, and returns the uuids of those that changed. */
  const relate = Effect.fnUntraced(function* (
    records: ReadonlyArray<{ readonly uuid: string; readonly values: Values }>
  ) {
    const changed = new Set<string>()
    for (const member of relations?.members ?? []) {
      const sets = records.flatMap(({ uuid, values }) => {
        const members = values[member]
        return Array.isArray(members) ? [{ uuid, members }] : []
      })
      if (sets.length > 0) for (const uuid of yield* relations!.replace(member, sets)) changed.add(uuid)
    }
    return changed
  })

  /** Finds records, and does with their rows what the end of the statement says. */
  const locate = (targets: ReadonlyArray<Target>, end: Fragment) =>
    Effect.map(
      pooled<{ readonly place: number; readonly uuid: string; readonly unique: Values }>`
        with named as materialized (
          select * from jsonb_to_recordset(${JSON.stringify(targets.map((target, place) => ({ place, ...target })))}::jsonb)
            as sent (place int, uuid uuid, key text)
        ), found as materialized (
          select place, uuid from named where uuid is not null union all ${byKey}
        ) select found.place, t.uuid, ${shown} as "unique"
        from found join ${table} t on t.uuid = found.uuid ${end}`,
      (rows) => {
        const located = new Map(rows.map(({ place, unique, uuid }) => [place, { uuid, unique }] as const))
        return targets.map((_, place) => located.get(place))
      }
    )

  return {
    key: key?.member,
    areSameKeys: (pairs) =>
      Effect.map(
        pooled<{ readonly isSame: boolean }>`
          select ${compared(sql`one`)} = ${compared(sql`other`)} as "isSame"
            from unnest(${pairs.map(([one]) => one)}::text[], ${pairs.map(([, other]) => other)}::text[])
              with ordinality as pair (one, other, place) order by place`,
        (rows) => rows.map(({ isSame }) => isSame)
      ),
    comparison: keyColumn && { table, key: keyColumn.sql, compared, json: jsonOf(writable), where: whereOf(all) },
    trials: computable
      ? Trials.make(pooled, {
          kind,
          table,
          columns,
          json: jsonOf(writable),
          assignment,
          isAllowed: computable.isAllowed,
          locate: (named) => locate(named, sql``)
        })
      : undefined,
    unique: uniqueMembers,
    deletes,
    relations: relations?.members ?? [],
    missing: relations?.missing ?? (() => Effect.succeed([])),
    differing: relations?.differing ?? (() => Effect.succeed([])),
    transaction: (write, { locks }) =>
      locks && relations !== undefined
        ? relations.locked(write, manyWrites)
        : transaction(pooled, write, { waitsForLocks: true, turn: manyWrites }),
    prepareCreate: (payload) => options.create(payload),
    preparePatch: (patch) => options.update(patch),
    locate: (targets) => locate(targets, sql`order by t.uuid for no key update of t`),
    insert: Effect.fnUntraced(function* (records, { skipsTaken }) {
      const uuids = yield* uuidsV7(records.length)
      const rows = records.map((values, index) => ({ uuid: uuids[index]!, values }))
      const inserted = yield* pooled<{ readonly uuid: string }>`
        insert into ${table} as t (uuid, ${sql.csv(columns.map(({ name }) => name))})
          select sent.uuid, ${sql.csv(columns.map(({ alias }) => sql`sent.${alias}`))} from ${SentRows.make(rows, columns, storedNew)}
          ${sql.literal(skipsTaken ? "on conflict do nothing" : "")} returning uuid`
      const written = new Set(inserted.map(({ uuid }) => uuid))
      yield* relate(rows.filter(({ uuid }) => written.has(uuid)))
      return uuids.map((uuid) => (written.has(uuid) ? Written.created(kind, uuid) : undefined))
    }),
    patch: Effect.fnUntraced(function* (patches) {
      const set = SentRows.assigned(columns, patches, assignment)
      const changed = new Set<string>()
      if (set.length > 0) {
        const kept = columns.filter(
          ({ member }) => member === generating && set.every((column) => column.member !== member)
        )
        // Each new value is computed once, from the row that was locked when it was located.
        const rows = yield* pooled<{ readonly uuid: string }>`
          update ${table} as target
            set ${sql.csv([
              ...set.map(({ alias, name }) => sql`${name} = next.${alias}`),
              ...kept.map(({ name }) => sql`${name} = target.${name}`)
            ])}, ${touched("target")}
            from (select t.uuid, ${sql.csv(set.map(({ alias, value }) => sql`${value} as ${alias}`))}
              from ${SentRows.make(patches, set, stored)} join ${table} t on t.uuid = sent.uuid offset 0) next
            where target.uuid = next.uuid
              and ${sql.or(set.map(({ alias, name }) => sql`target.${name} is distinct from next.${alias}`))}
            returning target.uuid`
        for (const { uuid } of rows) changed.add(uuid)
      }
      for (const uuid of yield* relate(patches)) changed.add(uuid)
      return patches.map(({ uuid }) => Written.updated(kind, uuid, changed.has(uuid)))
    }),
    remove: Effect.fnUntraced(function* (uuids) {
      const statement = pooled<{ readonly uuid: string }>`
        delete from ${table} where uuid = any (${uuids}::uuid[]) returning uuid`
      // Each of them can have any number of members.
      const rows = yield* relations === undefined ? statement : withLongTimeout(pooled, statement)
      const removed = new Set(rows.map(({ uuid }) => uuid))
      return uuids.map((uuid) => (removed.has(uuid) ? Written.deleted(kind, uuid) : undefined))
    })
  }
}
