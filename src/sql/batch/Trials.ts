import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import * as Written from "../../domain/write/Written.ts"
import type { Batch, Computable, Trial } from "./BatchTypes.ts"
import { type Fragment, sql } from "../Fragment.ts"
import { stored, storedNew, uuidsV7 } from "../RecordValues.ts"
import * as SentRows from "./SentRows.ts"

interface Resource extends Pick<Batch, "locate">, Computable {
  readonly kind: string
  readonly table: Fragment
  readonly columns: ReadonlyArray<SentRows.Aliased>
  /** The JSON text of the members of the row `t`. */
  readonly json: Fragment
  readonly assignment: SentRows.Assignment
}

interface CreatedRow {
  readonly uuid: string
  readonly isValid: boolean
  readonly after: string
}

/** A record that was found, with its text if it is changed. */
interface PatchedRow {
  readonly uuid: string
  readonly isChanged: boolean
  readonly isValid: boolean | null
  readonly after: string | null
}

/**
 * Computes records with the expressions that store them. A row that a check constraint or a trigger would reject is left to the
 * operation on one record. The constraints are read from the catalog, so that they stand in one place.
 */
export const make = (
  pooled: SqlClient.SqlClient,
  { assignment, columns, isAllowed, json, kind, locate, table }: Resource
): Effect.Effect<() => Trial, SqlError.SqlError> =>
  Effect.map(
    pooled<{ readonly checks: string | null }>`
      select string_agg(format('(%s) is not false', pg_get_expr(conbin, conrelid)), ' and ') as checks
      from pg_constraint where contype = 'c' and conrelid = ${sql`'${table}'`}::regclass`,
    ([row]) => {
      const isValid = sql.literal(row?.checks ?? "true")
      return () => {
        const tried = new Map<string, string>()
        return {
          tried,
          locate,
          insert: Effect.fnUntraced(function* (records) {
            const uuids = yield* uuidsV7(records.length)
            const rows = records.map((values, index) => ({ uuid: uuids[index]!, values }))
            const computed = yield* pooled<CreatedRow>`
              select t.uuid::text as uuid, ${json} as after,
                (${isValid}) and ${isAllowed(sql`t`)} as "isValid"
              from (select sent.uuid, ${sql.csv(columns.map(({ alias, name }) => sql`sent.${alias} as ${name}`))}
                from ${SentRows.make(rows, columns, storedNew)} offset 0) t`
            for (const { after, isValid, uuid } of computed) if (isValid) tried.set(uuid, after)
            return uuids.map((uuid) => (tried.has(uuid) ? Written.created(kind, uuid) : undefined))
          }),
          patch: Effect.fnUntraced(function* (patches) {
            const set = SentRows.assigned(columns, patches, assignment)
            if (set.length === 0) return patches.map(({ uuid }) => Written.updated(kind, uuid, false))
            const values = new Map(set.map(({ index, value }) => [index, value]))
            const ofChanged = (value: Fragment) =>
              sql`case when difference.is_found then (select ${value} from (select next.*) t) end`
            const computed = yield* pooled<PatchedRow>`
              select next.uuid::text as uuid, difference.is_found as "isChanged", ${ofChanged(json)} as after,
                ${ofChanged(sql`(${isValid}) and ${isAllowed(sql`t`, sql`target`)}`)} as "isValid"
              from (select t.uuid, ${sql.csv(
                columns.map(({ index, name, sql: current }) => sql`${values.get(index) ?? current} as ${name}`)
              )} from ${SentRows.make(patches, set, stored)} join ${table} t on t.uuid = sent.uuid offset 0) next
              join ${table} target on target.uuid = next.uuid
              cross join lateral (select ${sql.or(
                set.map(({ name }) => sql`target.${name} is distinct from next.${name}`)
              )} as is_found) difference`
            const found = new Map(computed.map((row) => [row.uuid, row]))
            return patches.map(({ uuid }) => {
              const row = found.get(uuid)
              if (row === undefined || row.isValid === false) return undefined
              if (row.isChanged) tried.set(uuid, row.after!)
              return Written.updated(kind, uuid, row.isChanged)
            })
          })
        }
      }
    }
  )
