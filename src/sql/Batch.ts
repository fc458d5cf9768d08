import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Condition } from "../domain/query/FilterConditions.ts"
import * as Written from "../domain/write/Written.ts"
import { type Column, jsonOf, type StoredColumn, types } from "./Columns.ts"
import { conditionSql } from "./Conditions.ts"
import { type Fragment, sql } from "./Fragment.ts"
import type { Relations } from "./Links.ts"
import { touched } from "./Reads.ts"
import { stored, storedNew, uuidsV7, type Values } from "./RecordValues.ts"
import type { Sql } from "./Sql.ts"
import { transaction } from "./SqlErrors.ts"

/** The business key by which a record is found: its member, and what the unique rule of the table compares. */
export interface BusinessKey {
  readonly member: string
  readonly compared?: (key: Fragment) => Fragment
}

/** What a resource says about writing many of its records. A `prepare` that fails leaves the write to its operation. */
export interface BatchOptions {
  readonly key?: BusinessKey
  /** Other members that are unique. */
  readonly unique?: ReadonlyArray<string>
  /** The values that an insert stores. */
  readonly create: (payload: never) => Effect.Effect<Values, unknown>
  /** The values that a patch sets. */
  readonly update: (patch: never) => Effect.Effect<Values, unknown>
  readonly relations?: Relations
  /** Whether the order in which records are deleted makes no difference. */
  readonly deletes: boolean
}

/** Leaves a write to the operation on one record, whose rules need the database. */
export const leave = Effect.fail("left")

/** A record that an operation names by its uuid or by its key. */
export type Target = { readonly uuid: string } | { readonly key: string }

/** A record that was found, with the values of its unique members. */
export interface Located {
  readonly uuid: string
  readonly unique: Values
}

/** Writes many records with one statement. A record that a statement leaves out is `undefined` in its place. */
export interface Batch extends Pick<BatchOptions, "deletes"> {
  readonly key: string | undefined
  /** The members whose values no two records share. */
  readonly unique: ReadonlyArray<string>
  readonly relations: ReadonlyArray<string>
  /** The uuids that no record of a relation has. */
  readonly missing: Relations["missing"]
  /** Runs the writes of a request in one transaction; `locks` says whether they write rows of join tables. */
  readonly transaction: <A, E>(
    write: Effect.Effect<A, E>,
    options: { readonly locks: boolean }
  ) => Effect.Effect<A, Exclude<E, SqlError.SqlError>>
  readonly prepareCreate: (payload: unknown) => Effect.Effect<Values, unknown>
  readonly preparePatch: (patch: unknown) => Effect.Effect<Values, unknown>
  /** Finds records, and locks them in one order. */
  readonly locate: (
    targets: ReadonlyArray<Target>
  ) => Effect.Effect<ReadonlyArray<Located | undefined>, SqlError.SqlError>
  readonly insert: (records: ReadonlyArray<Values>) => Writing
  /** Patches records, all of them with values for the same members. */
  readonly patch: (patches: ReadonlyArray<{ readonly uuid: string; readonly values: Values }>) => Writing
  readonly remove: (uuids: ReadonlyArray<string>) => Writing
  /** None for a resource without a business key. */
  readonly comparison: Comparison | undefined
}

/** The SQL by which records are compared with those of a file. */
export interface Comparison {
  readonly table: Fragment
  /** The business key of the row `t`. */
  readonly key: Fragment
  /** A key as the unique rule of the table compares it. */
  readonly compared: (key: Fragment) => Fragment
  /** The JSON text of the members that are written, of the row `t`. */
  readonly json: Fragment
  readonly where: (filter: ReadonlyArray<Condition>) => Fragment
}

type Writing = Effect.Effect<ReadonlyArray<Written.Written | undefined>, SqlError.SqlError>

interface Resource {
  readonly kind: string
  readonly table: Fragment
  readonly columns: ReadonlyArray<Column>
  readonly writable: ReadonlyArray<StoredColumn>
  /** The new value of a member, from the value that was sent. */
  readonly assignment: (column: StoredColumn, sent: Fragment) => Fragment
}

export const make = (
  { manyWrites, pooled }: Pick<Sql["Service"], "manyWrites" | "pooled">,
  { assignment, columns: all, kind, table, writable }: Resource,
  { create, deletes, key, relations, unique = [], update }: BatchOptions
): Batch => {
  const columns = writable.map((column, index) => ({ ...column, alias: sql.literal(`value_${index}`), index }))
  type Aliased = (typeof columns)[number]

  /** The records as rows `sent` with their uuids and values. */
  const rowsOf = (
    sent: ReadonlyArray<{ readonly uuid: string; readonly values: Values }>,
    columns: ReadonlyArray<Aliased>,
    storedAs: typeof stored
  ) => {
    const rows = sent.map(({ uuid, values }) =>
      Object.fromEntries([
        ["uuid", uuid],
        ...columns.map((column) => [`value_${column.index}`, storedAs(column, values[column.member])] as const)
      ])
    )
    const definitions = columns.map(({ alias, kind }) => sql`${alias} ${types[kind]}`)
    return sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as sent (${sql.csv([sql`uuid uuid`, ...definitions])})`
  }

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

  const where = (filter: ReadonlyArray<Condition>) =>
    filter.length === 0
      ? sql.literal("true")
      : sql.and(
          filter.map((condition) => {
            const column = all.find(({ member }) => member === condition.field.split(".", 1)[0])!
            const field = column.fields.find(({ path }) => path === condition.field)
            return conditionSql(column, field, condition)
          })
        )

  /** Replaces the relations that records have values for, and returns the uuids of those that changed. */
  const relate = Effect.fnUntraced(function* (
    records: ReadonlyArray<{ readonly uuid: string; readonly values: Values }>
  ) {
    const changed = new Set<string>()
    for (const member of relations?.members ?? []) {
      const sets = records.flatMap(({ uuid, values }) =>
        values[member] === undefined ? [] : [{ uuid, members: values[member] as ReadonlyArray<string> }]
      )
      if (sets.length > 0) for (const uuid of yield* relations!.replace(member, sets)) changed.add(uuid)
    }
    return changed
  })

  return {
    key: key?.member,
    comparison: keyColumn && { table, key: keyColumn.sql, compared, json: jsonOf(writable), where },
    unique: uniqueMembers,
    deletes,
    relations: relations?.members ?? [],
    missing: relations?.missing ?? (() => Effect.succeed([])),
    transaction: (write, { locks }) =>
      manyWrites(
        locks && relations !== undefined ? relations.locked(write) : transaction(pooled, write, { waitsForLocks: true })
      ),
    prepareCreate: (payload) => create(payload as never),
    preparePatch: (patch) => update(patch as never),
    locate: (targets) =>
      Effect.map(
        pooled<{ readonly place: number; readonly uuid: string; readonly unique: Values }>`
          with named as materialized (
            select * from jsonb_to_recordset(${JSON.stringify(targets.map((target, place) => ({ place, ...target })))}::jsonb)
              as sent (place int, uuid uuid, key text)
          ), found as materialized (
            select place, uuid from named where uuid is not null union all ${byKey}
          ) select found.place, t.uuid, ${shown} as "unique"
          from found join ${table} t on t.uuid = found.uuid order by t.uuid for no key update of t`,
        (rows) => {
          const located = new Map(rows.map(({ place, unique, uuid }) => [place, { uuid, unique }] as const))
          return targets.map((_, place) => located.get(place))
        }
      ),
    insert: Effect.fnUntraced(function* (records) {
      const uuids = yield* uuidsV7(records.length)
      const rows = records.map((values, index) => ({ uuid: uuids[index]!, values }))
      const inserted = yield* pooled<{ readonly uuid: string }>`
        insert into ${table} as t (uuid, ${sql.csv(columns.map(({ name }) => name))})
          select sent.uuid, ${sql.csv(columns.map(({ alias }) => sql`sent.${alias}`))} from ${rowsOf(rows, columns, storedNew)}
          on conflict do nothing returning uuid`
      const written = new Set(inserted.map(({ uuid }) => uuid))
      yield* relate(rows.filter(({ uuid }) => written.has(uuid)))
      return uuids.map((uuid) => (written.has(uuid) ? Written.created(kind, uuid) : undefined))
    }),
    patch: Effect.fnUntraced(function* (patches) {
      const members = patches[0]?.values ?? {}
      const set = columns
        .filter(({ member }) => members[member] !== undefined)
        .map((column) => ({ ...column, value: assignment(column, sql`sent.${column.alias}`) }))
      const changed = new Set<string>()
      if (set.length > 0) {
        // Each new value is computed once, from the row that was locked when it was located.
        const rows = yield* pooled<{ readonly uuid: string }>`
          update ${table} as target
            set ${sql.csv(set.map(({ alias, name }) => sql`${name} = next.${alias}`))}, ${touched("target")}
            from (select t.uuid, ${sql.csv(set.map(({ alias, value }) => sql`${value} as ${alias}`))}
              from ${rowsOf(patches, set, stored)} join ${table} t on t.uuid = sent.uuid offset 0) next
            where target.uuid = next.uuid
              and ${sql.or(set.map(({ alias, name }) => sql`target.${name} is distinct from next.${alias}`))}
            returning target.uuid`
        for (const { uuid } of rows) changed.add(uuid)
      }
      for (const uuid of yield* relate(patches)) changed.add(uuid)
      return patches.map(({ uuid }) => Written.updated(kind, uuid, changed.has(uuid)))
    }),
    remove: (uuids) =>
      Effect.map(
        pooled<{ readonly uuid: string }>`delete from ${table} where uuid = any (${uuids}::uuid[]) returning uuid`,
        (rows) => {
          const removed = new Set(rows.map(({ uuid }) => uuid))
          return uuids.map((uuid) => (removed.has(uuid) ? Written.deleted(kind, uuid) : undefined))
        }
      )
  }
}
