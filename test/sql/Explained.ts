import { PgClient } from "@effect/sql-pg"
import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient, Statement } from "effect/sql"
import { Database, Sql } from "../../src/sql/Sql.ts"
import * as Postgres from "../support/Postgres.ts"

const isVacuum = (statement: string) => statement.startsWith("vacuum")

/**
 * Runs statements through a connection without the timeouts of the service. Their commits are synchronous: `vacuum` marks no page as
 * visible to all before the log has the commit of its rows. GIN indexes are created once the rows are there, which is
 * faster than inserting each row into them.
 */
const fill = Effect.fnUntraced(function* (statements: ReadonlyArray<string>) {
  const database = yield* Database
  yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const run = (statement: string) => sql.unsafe(statement)
    const indexes = yield* sql<{ readonly create: string; readonly drop: string }>`
      select pg_get_indexdef(oid) as create, 'drop index ' || oid::regclass as drop
      from pg_class where relam = (select oid from pg_am where amname = 'gin') and not relispartition
        and relnamespace = 'public'::regnamespace`
    yield* Effect.forEach(
      [
        "set synchronous_commit = on",
        ...indexes.map(({ drop }) => drop),
        ...statements.filter((statement) => !isVacuum(statement)),
        ...indexes.map(({ create }) => create),
        ...statements.filter(isVacuum)
      ],
      run,
      { discard: true }
    )
  }).pipe(Effect.provide(PgClient.layer({ ...database, maxConnections: 1 })))
})

/** The pools on a database that is filled first. */
export const filled = (statements: ReadonlyArray<string>) =>
  Layer.effectDiscard(fill(statements)).pipe(Layer.provideMerge(Postgres.sql))

export interface Plan {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Index Name"?: string
  /** Only when it was run. */
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  /** For each loop. */
  readonly "Rows Removed by Filter"?: number
  readonly "Rows Removed by Join Filter"?: number
  readonly Plans?: ReadonlyArray<Plan>
}

/** The nodes of a plan, the topmost first. */
export const nodes = (plan: Plan): ReadonlyArray<Plan> => [plan, ...(plan.Plans ?? []).flatMap(nodes)]

/** How many rows a node of a plan that was run returned. */
export const rowsOf = (node: Plan) => node["Actual Rows"] * node["Actual Loops"]

/** How many rows a node of a plan that was run returned or left out. */
export const rowsReadBy = (node: Plan) =>
  rowsOf(node) +
  ((node["Rows Removed by Filter"] ?? 0) + (node["Rows Removed by Join Filter"] ?? 0)) * node["Actual Loops"]

export const isScanOf = (table: string) => (node: Plan) =>
  node["Node Type"] === "Seq Scan" && node["Relation Name"] === table

/** What looks at every row: a scan of the table, or a sort of more than a page. */
export const wholeTable = (plan: Plan, table: string): ReadonlyArray<Plan> =>
  nodes(plan).filter(
    (node) =>
      isScanOf(table)(node) ||
      (node["Node Type"].endsWith("Sort") && !nodes(node).some((inner) => inner["Node Type"] === "Limit"))
  )

/** The last statement that `read` sends, of those with a text, and its values. */
export const lastSent = Effect.fnUntraced(function* <A, E, R>(read: Effect.Effect<A, E, R>, having = "") {
  const sent: Array<Statement.Statement<unknown>> = []
  yield* Effect.provideService(read, Statement.CurrentTransformer, (statement) =>
    Effect.sync(() => {
      sent.push(statement)
      return statement
    })
  )
  const texts = sent.map((statement) => statement.compile())
  return texts.findLast(([text]) => text.includes(having)) ?? assert.fail("No statement")
})

/** The plan of the last statement that `read` sends, of those with a text; with `run` including the actual row counts. */
export const explained = Effect.fnUntraced(function* <A, E, R>(
  read: Effect.Effect<A, E, R>,
  { having, run = false }: { readonly run?: boolean; readonly having?: string } = {}
) {
  const { pooled } = yield* Sql
  const [text, values] = yield* lastSent(read, having)
  const [row] = yield* pooled.unsafe<{ readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: Plan }> }>(
    `explain (${run ? "analyze, timing off, " : ""}format json) ${text}`,
    values
  ).unprepared
  return row!["QUERY PLAN"][0]!.Plan
})

interface ListAsked {
  readonly sortBy: string
  readonly sortOrder: "asc" | "desc"
  readonly limit: number
  readonly after: string
  readonly fields?: ReadonlyArray<string>
}

/** Asserts that a page behind a cursor, after some records, reads no more entries of indexes with a name than it has. */
export const assertWalk = Effect.fnUntraced(function* <E, R>(
  list: (request: ListAsked) => Effect.Effect<{ readonly pagination: { readonly next?: string } }, E, R>,
  {
    index,
    limit,
    rows,
    table,
    ...order
  }: Omit<ListAsked, "after" | "fields"> & { readonly rows: number; readonly table: string; readonly index: string }
) {
  const before = rows === 0 ? undefined : yield* list({ ...order, limit: rows, after: "", fields: ["uuid"] })
  const plan = yield* explained(list({ ...order, limit, after: before?.pagination.next ?? "" }), { run: true })
  assert.deepStrictEqual(nodes(plan).filter(isScanOf(table)), [])
  const walks = nodes(plan).filter(({ "Index Name": name = "" }) => name.startsWith(index) && name !== `${table}_pkey`)
  assert.isNotEmpty(walks)
  const read = walks.reduce((sum, node) => sum + rowsOf(node), 0)
  assert.isAtMost(read, limit + 1)
  return walks
})

/**
 * How often the server runs a statement of `read` with a plan it has kept, out of twelve times on one connection. It begins
 * with the given text; that of a filtered list unless given.
 */
export const keptPlans = Effect.fnUntraced(function* <A, E, R>(
  read: Effect.Effect<A, E, R>,
  beginning = "with hits as materialized"
) {
  const { pooled } = yield* Sql
  const kept = Effect.map(
    pooled<{ readonly plans: number }>`select coalesce(sum(generic_plans), 0)::int as plans
      from pg_prepared_statements where statement like ${`${beginning}%`}`,
    ([row]) => row!.plans
  )
  // A transaction stays on its connection.
  return yield* pooled.withTransaction(
    Effect.gen(function* () {
      const before = yield* kept
      yield* Effect.replicateEffect(read, 12, { discard: true })
      return (yield* kept) - before
    })
  )
})
