import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Database, Sql } from "../../src/sql/Sql.ts"
import * as Postgres from "../support/Postgres.ts"

interface Statement {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
}

/** The statements sent to the database, newest last. */
export class Sent extends Context.Service<Sent, Array<Statement>>()("waypost/test/Explained/Sent") {}

/** Runs statements through a connection without the timeouts of the service. */
const fill = Effect.fnUntraced(function* (statements: ReadonlyArray<string>) {
  const database = yield* Database
  yield* Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
  ).pipe(Effect.provide(PgClient.layer({ ...database, maxConnections: 1 })))
})

/** Pools that record the statements of the repositories, on a database that is filled first. */
export const noting = (statements: ReadonlyArray<string>) =>
  Layer.effect(
    Sql,
    Effect.gen(function* () {
      const sent = yield* Sent
      const { pipelined, pooled } = yield* Sql
      const note = (client: SqlClient.SqlClient): SqlClient.SqlClient =>
        new Proxy(client, {
          get: (target, member, receiver) =>
            member === "unsafe"
              ? (text: string, values: ReadonlyArray<unknown> = []) => {
                  sent.push({ text, values })
                  return target.unsafe(text, values)
                }
              : Reflect.get(target, member, receiver)
        })
      return Sql.of({ pipelined: note(pipelined), pooled: note(pooled) })
    })
  ).pipe(
    Layer.provideMerge(Layer.effectDiscard(fill(statements))),
    Layer.provideMerge(Postgres.sql),
    Layer.provideMerge(Layer.sync(Sent, () => []))
  )

export interface Plan {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Index Name"?: string
  /** Present only with `analyze`. */
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly Plans?: ReadonlyArray<Plan>
}

/** The nodes of a plan, root first. */
export const nodes = (plan: Plan): ReadonlyArray<Plan> => [plan, ...(plan.Plans ?? []).flatMap(nodes)]

export const isScanOf = (table: string) => (node: Plan) =>
  node["Node Type"] === "Seq Scan" && node["Relation Name"] === table

/** Nodes that process every row: a scan of the table, or a sort of more than a page. */
export const wholeTable = (plan: Plan, table: string): ReadonlyArray<Plan> =>
  nodes(plan).filter(
    (node) =>
      isScanOf(table)(node) ||
      (node["Node Type"].endsWith("Sort") && !nodes(node).some((inner) => inner["Node Type"] === "Limit"))
  )

/** The plan of the last statement that `read` sends; with `run` including the actual row counts. */
export const explained = Effect.fnUntraced(function* <A, E, R>(
  read: Effect.Effect<A, E, R>,
  { run = false }: { readonly run?: boolean } = {}
) {
  const { pooled } = yield* Sql
  const sent = yield* Sent
  yield* read
  const statement = sent.at(-1)
  if (statement === undefined) throw new Error("No statement")
  const [row] = yield* pooled.unsafe<{ readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: Plan }> }>(
    `explain (${run ? "analyze, timing off, " : ""}format json) ${statement.text}`,
    statement.values
  ).unprepared
  return row!["QUERY PLAN"][0]!.Plan
})
