import { Effect } from "effect"
import { Sql } from "../../src/sql/Sql.ts"
import { type Prepared, successes } from "../support/contract/Calls.ts"
import { bulkCalls } from "../support/contract/BulkCalls.ts"
import { planCalls } from "../support/contract/PlanCalls.ts"
import { accessCalls } from "../support/contract/AccessCalls.ts"
import { changeCalls } from "../support/contract/ChangeCalls.ts"
import { type Operation, operations } from "../support/contract/Documented.ts"
import { moduleCalls } from "../support/contract/ModuleCalls.ts"
import { errorCalls } from "../support/contract/ErrorCalls.ts"

const isError = ([name]: readonly [string, Prepared]) => name.includes(" ")

/** An operation and a prepared call of it. */
export interface Case {
  readonly operation: Operation
  /** `Success`, or the expected error. */
  readonly tag: string
  readonly prepared: Prepared
}

const caseOf = ([name, prepared]: readonly [string, Prepared]): Case => {
  const [id, tag = "Success"] = name.split(" ") as [string, string?]
  return { operation: operations.find((operation) => operation.id === id)!, tag, prepared }
}

const calls = Object.entries({
  ...successes,
  ...errorCalls,
  ...moduleCalls,
  ...changeCalls,
  ...accessCalls,
  ...bulkCalls,
  ...planCalls
})

/** A successful call of every operation. */
export const accepted: ReadonlyArray<Case> = calls.filter((call) => !isError(call)).map(caseOf)

/** Calls of every operation for each of its specific errors. */
export const refused: ReadonlyArray<Case> = calls.filter(isError).map(caseOf)

const execute = <A extends object>(statement: string) =>
  Effect.flatMap(Sql, ({ pooled }) => pooled.unsafe<A>(statement))

/** Tables that background jobs or triggers maintain: they change without a request. */
const maintained = new Set([
  "row_counts",
  "stale_asset_texts",
  "asset_texts",
  "asset_words",
  "jobs",
  "location_quality",
  "location_quality_claims",
  "location_quality_keys",
  "location_quality_progress",
  "stale_location_quality",
  "webhook_deliveries",
  "webhook_dropped",
  "webhook_feed",
  "webhook_queue",
  "webhook_replays",
  "webhook_states"
])

/** Columns that background jobs set: the last use of keys, and the results of media processing. */
const maintainedColumns = ["last_used_at", "processing", "width", "height", "duration", "rendered_at"]

/**
 * A statement that hashes the rows of all tables that requests write. Of a row, its place and the transaction that wrote it stand
 * for its content, which takes long to hash; where a column is maintained, the others are hashed.
 */
const hashing = Effect.gen(function* () {
  const tables = yield* execute<{ readonly name: string; readonly columns: string; readonly isMaintained: boolean }>(`
    select c.relname as name, bool_or(not requested) as "isMaintained",
      string_agg(quote_ident(a.attname), ', ' order by a.attnum) filter (where requested) as columns
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped,
      lateral (select a.attname <> all ('{${maintainedColumns.join()}}') as requested)
    where c.relkind = 'r' and c.relnamespace = 'public'::regnamespace
    group by 1 order by 1`)
  const hashes = tables
    .filter(({ name }) => !maintained.has(name))
    .map(({ columns, isMaintained, name }) => {
      const row = isMaintained ? `row(${columns})::text` : "ctid::text || xmin"
      return `select '${name} ' || count(*) || ' ' || coalesce(sum(hashtextextended(${row}, 0)), 0) as hash from "${name}"`
    })
  return `select string_agg(hash, ',' order by hash) as hashes from (${hashes.join(" union all ")})`
})

/** That statement, by the pools of its database, whose tables stay unchanged. */
const statements = new WeakMap<typeof Sql.Service, string>()

/** Hashes of the rows of all tables that requests write. */
export const databaseHash = Effect.gen(function* () {
  const pools = yield* Sql
  const statement = statements.get(pools) ?? (yield* hashing)
  statements.set(pools, statement)
  yield* execute("select waypost_seal_all()")
  const [row] = yield* execute<{ readonly hashes: string }>(statement)
  return row!.hashes.split(",")
})

/** A text that does not occur by chance. */
export const canary = "canary7f3a9c51d2"
