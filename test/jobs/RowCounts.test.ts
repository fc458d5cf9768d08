import { assert, layer } from "@effect/vitest"
import { Arbitrary, Deferred, Duration, Effect, Fiber, Layer, Schema } from "effect"
import { fold, layer as folding } from "../../src/jobs/RowCounts.ts"
import { Sql } from "../../src/sql/Sql.ts"
import * as Postgres from "../support/Postgres.ts"
import { settings } from "../support/TestServer.ts"
import { property } from "../support/Runs.ts"
import { atBest, eventually } from "../support/Until.ts"

const counted = Effect.gen(function* () {
  const { pooled } = yield* Sql
  const [row] = yield* pooled<{ readonly total: number; readonly rows: number; readonly deltas: number }>`
    select (select coalesce(sum(delta), 0)::int from row_counts where relation = 'locations') as total,
      (select count(*)::int from locations) as rows,
      (select count(*)::int from row_counts where relation = 'locations') as deltas`
  return row!
})

const execute = (statement: string) => Effect.flatMap(Sql, ({ pooled }) => pooled.unsafe(statement))
const insert = (count: number) =>
  execute(
    `insert into locations (uuid, name, identifier) select gen_random_uuid(), 'a', gen_random_uuid() from generate_series(1, ${count})`
  )
const truncate = execute("truncate locations cascade")

/** One of the concurrent operations on the table. */
const Step = Schema.Union([
  Schema.Struct({
    do: Schema.Literal("insert"),
    rows: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40 }))
  }),
  Schema.Struct({ do: Schema.Literals(["deleteSome", "deleteAll", "rollBack", "upsert", "fold"]) })
])
type Step = typeof Step.Type

const perform = (step: Step): Effect.Effect<unknown, unknown, Sql> => {
  switch (step.do) {
    case "insert":
      return insert(step.rows)
    case "deleteSome":
      return execute(
        "delete from locations where uuid in (select uuid from locations order by uuid limit 7 for update skip locked)"
      )
    case "deleteAll":
      return execute("delete from locations where uuid in (select uuid from locations for update skip locked)")
    case "rollBack":
      return Effect.flatMap(Sql, ({ pooled }) =>
        Effect.exit(pooled.withTransaction(Effect.andThen(insert(5), Effect.fail("undone"))))
      )
    case "upsert":
      return execute(`insert into locations (uuid, name, identifier) values (gen_random_uuid(), 'a', 'same')
        on conflict (identifier) do update set name = 'b'`)
    case "fold":
      return fold
  }
}

layer(Postgres.sql.pipe(Layer.provideMerge(settings())), { excludeTestServices: true })("row counts", (it) => {
  it.effect.prop(
    "row counts equal the number of rows after concurrent operations and after folding",
    [Arbitrary.array(Arbitrary.schema(Step), { maxLength: 30 })],
    ([steps]) =>
      Effect.gen(function* () {
        yield* Effect.forEach(steps, perform, { concurrency: 6, discard: true })
        const before = yield* counted
        assert.strictEqual(before.total, before.rows)
        yield* fold
        const { deltas, rows, total } = yield* counted
        assert.deepStrictEqual([total, rows], [before.rows, before.rows])
        assert.isAtMost(deltas, 1)
      }),
    property(25, 30)
  )

  it.effect("truncate resets the row count, and later inserts are counted", () =>
    Effect.gen(function* () {
      yield* insert(3)
      yield* Effect.all([insert(4), insert(5), truncate, insert(6), insert(7)], { concurrency: "unbounded" })
      const { rows, total } = yield* counted
      assert.strictEqual(total, rows)
      yield* truncate
      yield* insert(2)
      assert.deepInclude(yield* counted, { total: 2, rows: 2 })
    })
  )

  it.effect("row counts are exact when a truncate runs during a fold, for which it does not wait", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      yield* truncate
      yield* insert(3)
      yield* insert(4)
      const folded = yield* Deferred.make<void>()
      const release = yield* Deferred.make<void>()
      const folding = yield* Effect.forkChild(
        pooled.withTransaction(
          Effect.andThen(fold, Effect.andThen(Deferred.succeed(folded, undefined), Deferred.await(release)))
        )
      )
      yield* Deferred.await(folded)
      yield* truncate
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(folding)
      assert.deepInclude(yield* counted, { total: 0, rows: 0 })
    })
  )

  it.effect("concurrent folds lose no counts", () =>
    Effect.gen(function* () {
      yield* truncate
      yield* Effect.forEach(Array.from({ length: 50 }), () => insert(1), { concurrency: 8 })
      yield* Effect.all([fold, fold, fold, fold, insert(2), insert(3)], { concurrency: "unbounded" })
      assert.deepInclude(yield* counted, { total: 55, rows: 55 })
      yield* fold
      assert.deepInclude(yield* counted, { total: 55, deltas: 1 })
    })
  )

  it.effect("a fold of 20,000 writes stays within the statement timeout", () =>
    Effect.gen(function* () {
      yield* truncate
      yield* execute("insert into row_counts (relation, delta) select 'locations', 0 from generate_series(1, 20000)")
      yield* insert(1)
      // The pools of this test give a statement more time.
      yield* Effect.provide(fold, Layer.fresh(Sql.layer))
      assert.deepInclude(yield* counted, { total: 1, deltas: 1 })
    })
  )

  it.effect("row counts are folded again soon after a fold of many rows", () =>
    Effect.gen(function* () {
      yield* truncate
      const many = execute(
        "insert into row_counts (relation, delta) select 'locations', 0 from generate_series(1, 300)"
      )
      const isFolded = eventually("the rows are folded", counted, ({ deltas }) => deltas <= 1)
      yield* many
      yield* Layer.build(folding)
      yield* isFolded
      yield* many
      const [waited] = yield* Effect.timed(isFolded)
      assert.isBelow(Duration.toMillis(waited), 3000)
    }).pipe(Effect.scoped, atBest)
  )
})
