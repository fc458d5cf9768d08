import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Written from "../../domain/write/Written.ts"
import type { Batch, Trial, Tried } from "./BatchTypes.ts"
import { type Fragment, sql } from "../Fragment.ts"
import { stored, storedNew, uuidsV7 } from "../RecordValues.ts"
import * as SentRows from "./SentRows.ts"

interface Resource extends Pick<Batch, "locate"> {
  readonly kind: string
  readonly table: Fragment
  readonly columns: ReadonlyArray<SentRows.Aliased>
  /** The JSON text of the members of the row `t`. */
  readonly json: Fragment
  readonly assignment: SentRows.Assignment
}

interface TriedRow extends Tried {
  readonly uuid: string
  readonly isValid: boolean
}

/**
 * Computes records with the expressions that store them. A row that a check constraint would reject is left out, as a
 * statement that writes leaves it. The constraints are read from the catalog, so that they stand in one place.
 */
export const make = (
  pooled: SqlClient.SqlClient,
  { assignment, columns, json, kind, locate, table }: Resource
): Effect.Effect<() => Trial, SqlError.SqlError> =>
  Effect.map(
    pooled<{ readonly checks: string | null }>`
      select string_agg(format('(%s) is not false', pg_get_expr(conbin, conrelid)), ' and ') as checks
      from pg_constraint where contype = 'c' and conrelid = ${sql`'${table}'`}::regclass`,
    ([row]) => {
      const isValid = sql.literal(row?.checks ?? "true")
      return () => {
        const tried = new Map<string, Tried>()
        const accept = (rows: ReadonlyArray<TriedRow>) => {
          const valid = rows.filter(({ isValid }) => isValid)
          for (const { isValid: _, uuid, ...texts } of valid) tried.set(uuid, texts)
          return new Set(valid.map(({ uuid }) => uuid))
        }
        return {
          tried,
          locate,
          insert: Effect.fnUntraced(function* (records) {
            const uuids = yield* uuidsV7(records.length)
            const rows = records.map((values, index) => ({ uuid: uuids[index]!, values }))
            const accepted = accept(
              yield* pooled<TriedRow>`
              select t.uuid::text as uuid, ${json} as after, ${isValid} as "isValid"
              from (select sent.uuid, ${sql.csv(columns.map(({ alias, name }) => sql`sent.${alias} as ${name}`))}
                from ${SentRows.make(rows, columns, storedNew)} offset 0) t`
            )
            return uuids.map((uuid) => (accepted.has(uuid) ? Written.created(kind, uuid) : undefined))
          }),
          patch: Effect.fnUntraced(function* (patches) {
            const set = SentRows.assigned(columns, patches, assignment)
            if (set.length === 0) return patches.map(({ uuid }) => Written.updated(kind, uuid, false))
            const values = new Map(set.map(({ index, value }) => [index, value]))
            const rows = yield* pooled<TriedRow>`
              select next.uuid::text as uuid, before.json as before, after.json as after, after."isValid"
              from (select t.uuid, ${sql.csv(
                columns.map(({ index, name, sql: current }) => sql`${values.get(index) ?? current} as ${name}`)
              )} from ${SentRows.make(patches, set, stored)} join ${table} t on t.uuid = sent.uuid offset 0) next
              join ${table} target on target.uuid = next.uuid
              cross join lateral (select ${json} as json from (select target.*) t) before
              cross join lateral (select ${json} as json, ${isValid} as "isValid" from (select next.*) t) after
              where ${sql.or(set.map(({ name }) => sql`target.${name} is distinct from next.${name}`))}`
            const accepted = accept(rows)
            const rejected = new Set(rows.flatMap(({ isValid, uuid }) => (isValid ? [] : [uuid])))
            return patches.map(({ uuid }) =>
              rejected.has(uuid) ? undefined : Written.updated(kind, uuid, accepted.has(uuid))
            )
          })
        }
      }
    }
  )
