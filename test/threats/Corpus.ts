import { Effect } from "effect"
import { Sql } from "../../src/sql/Sql.ts"
import { type Prepared, successes } from "../support/contract/Calls.ts"
import { type Operation, operations } from "../support/contract/Documented.ts"
import { moduleCalls } from "../support/contract/ModuleCalls.ts"
import { refusals } from "../support/contract/Refusals.ts"

const isRefusal = ([name]: readonly [string, Prepared]) => name.includes(" ")

/** An operation, and a call of it that `prepared` makes ready. */
export interface Case {
  readonly operation: Operation
  /** `Success`, or the error it is refused with. */
  readonly tag: string
  readonly prepared: Prepared
}

const caseOf = ([name, prepared]: readonly [string, Prepared]): Case => {
  const [id, tag = "Success"] = name.split(" ") as [string, string?]
  return { operation: operations.find((operation) => operation.id === id)!, tag, prepared }
}

const calls = Object.entries({ ...successes, ...refusals, ...moduleCalls })

/** A call of every operation that succeeds. */
export const accepted: ReadonlyArray<Case> = calls.filter((call) => !isRefusal(call)).map(caseOf)

/** A call of every operation for every error of its own. */
export const refused: ReadonlyArray<Case> = calls.filter(isRefusal).map(caseOf)

const execute = <A extends object>(statement: string) =>
  Effect.flatMap(Sql, ({ pooled }) => pooled.unsafe<A>(statement))

/** What the background keeps, and what it notes of keys: they change without a request. */
const kept = new Set(["row_counts", "stale_asset_texts", "asset_texts", "asset_words", "jobs"])

/** Of keys when they were last used, and of files what trying to show them found out: requests write neither. */
const keptColumns = ["last_used_at", "processing", "width", "height", "duration"]

/** A hash of every row that requests write. */
export const databaseHash = Effect.gen(function* () {
  const tables = yield* execute<{ readonly name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public' order by 1"
  )
  const hashes = tables
    .filter(({ name }) => !kept.has(name))
    .map(
      ({ name }) => `select '${name}' || md5(coalesce(string_agg(row, '' order by row), '')) as hash
      from (select (to_jsonb(t) - '{${keptColumns.join()}}'::text[])::text as row from "${name}" t) rows`
    )
  const rows = yield* execute<{ readonly hash: string }>(hashes.join(" union all "))
  return rows.map(({ hash }) => hash).toSorted()
})

/** A prefix of nothing that is there by chance. */
export const canary = "canary7f3a9c51d2"
