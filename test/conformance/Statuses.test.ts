import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TimeLimits } from "../../src/http/transport/Timeout.ts"
import { report } from "../support/proofs/Figures.ts"
import { DatabaseProxy } from "../support/wire/DatabaseProxy.ts"
import { breakDatabase } from "../support/contract/Breaking.ts"
import { provocations } from "../support/contract/Common.ts"
import { common, type Documented, type Operation, operations } from "../support/contract/Documented.ts"
import { ofEveryProduct } from "../support/contract/ModuleCalls.ts"
import * as OverWire from "../support/contract/OverWire.ts"
import { call, prepare, provoke, summaryOf } from "../support/contract/Provoking.ts"

/** Every pair of an operation and a documented response. */
const listed = operations.flatMap((operation) => operation.answers.map((answer) => ({ operation, answer })))
const named = ({ id }: Operation, { status, tag }: Documented) => `${id} ${status} ${tag}`

/** Documented errors, without those that no request can cause; their statuses are expected all the same. */
const expected = listed
  .filter(({ answer, operation }) => !ofEveryProduct.includes(`${operation.id} ${answer.tag}`))
  .map(({ answer, operation }) => named(operation, answer))
const allowed = new Set([
  ...listed.map(({ answer, operation }) => named(operation, answer)),
  ...operations.flatMap((operation) => common.map((answer) => named(operation, answer))),
  ...operations.filter(({ method }) => method === "GET").map(({ id }) => `${id} 304 `)
])
const pairs = (answers: ReadonlyArray<string>) =>
  new Set(answers.map((answer) => answer.split(" ").slice(0, 2).join(" "))).size

const groups = [...Map.groupBy(operations, ({ id }) => id.split(".")[0]!)].map(([group, members]) => ({
  group,
  members
}))

/** The requests with an unexpected response, and that response. */
const unexpected = <R, E, R2>(
  answer: string,
  requests: ReadonlyArray<R>,
  ask: (request: R) => Effect.Effect<{ readonly status: number; readonly body: any }, E, R2>,
  concurrency: number | "unbounded" = 8
) =>
  Effect.map(Effect.forEach(requests, ask, { concurrency }), (answers) =>
    answers.map(summaryOf).flatMap((actual, index) => (actual === answer ? [] : [[requests[index], actual]]))
  )

/** Provokes a common error on every operation that can fail with it. */
const everywhere = ({ status, tag }: Documented, concurrency?: "unbounded") =>
  Effect.gen(function* () {
    const [can, provocation] = provocations[tag]!
    assert.deepStrictEqual(yield* unexpected(`${status} ${tag}`, operations.filter(can), provocation, concurrency), [])
  })

const isTimeout = ({ tag }: Documented) => tag === "RequestTimeoutError"

const impatient = OverWire.layer().pipe(
  Layer.provide(Layer.succeed(TimeLimits, { ...TimeLimits.defaultValue(), body: 1000 }))
)

layer(impatient, { excludeTestServices: true })("documented responses to a body that stays incomplete", (it) => {
  it.effect.each(common.filter(isTimeout))("every operation that can fail with $status $tag returns it", (answer) =>
    everywhere(answer, "unbounded")
  )
})

layer(OverWire.layer(), { excludeTestServices: true })("documented responses", (it) => {
  it.effect.each(common.filter((answer) => answer.tag in provocations && !isTimeout(answer)))(
    "every operation that can fail with $status $tag returns it",
    (answer) => everywhere(answer)
  )

  it.effect.each(groups)(
    "every operation on $group returns every documented response except server errors",
    ({ members }) =>
      Effect.forEach(
        members,
        Effect.fnUntraced(function* (operation) {
          for (const { status, tag } of operation.answers) {
            if (tag === "InternalServerError" || ofEveryProduct.includes(`${operation.id} ${tag}`)) continue
            const answer = yield* provoke(operation, tag)
            assert.strictEqual(summaryOf(answer), `${status} ${tag}`, `${operation.id} ${answer.text}`)
          }
        }),
        { concurrency: 4, discard: true }
      )
  )

  it.effect("every write with an outdated If-Match is a 412", () =>
    Effect.gen(function* () {
      const writes = operations.filter(({ method, path }) => path.includes("{uuid}") && method !== "GET")
      const requests = yield* prepare(writes)
      const answer = "412 PreconditionFailedError"
      const ask = ({ ask }: (typeof requests)[number]) => ask({ headers: { "if-match": '"another"' } })
      assert.deepStrictEqual(yield* unexpected(answer, requests, ask), [])
    })
  )

  it.effect("every read with a current If-None-Match is a 304", () =>
    Effect.gen(function* () {
      const reads = operations.filter(({ id, method }) => method === "GET" && id !== "events.stream")
      for (const { ask, operation } of yield* prepare(reads)) {
        const current = Effect.gen(function* () {
          const { headers } = yield* ask()
          return (yield* ask({ headers: { "if-none-match": headers.get("etag") ?? "none" } })).status
        })
        // The changes before may be sealed between the two reads, and are then in a delta.
        const status = yield* Effect.repeat(current, { until: (status) => status === 304, times: 20 })
        assert.strictEqual(status, 304, operation.id)
      }
    })
  )

  it.effect("an unexpected failure is a 500, and an unreachable database a 503", () =>
    Effect.gen(function* () {
      const requests = yield* prepare(operations)
      yield* breakDatabase
      assert.deepStrictEqual(yield* unexpected("500 InternalServerError", requests, ({ ask }) => ask()), [])
      const proxy = yield* DatabaseProxy
      yield* Effect.acquireRelease(proxy.cut, () => proxy.restore)
      assert.deepStrictEqual(yield* unexpected("503 ServiceUnavailableError", requests, ({ ask }) => ask()), [])
    })
  )
})

layer(OverWire.layer({ RATE_LIMIT_PER_SECOND: "1" }), { excludeTestServices: true })("rate limit", (it) => {
  it.effect("a key above its rate limit gets a 429 from every operation", () =>
    Effect.gen(function* () {
      const ask = (operation: Operation) =>
        Effect.repeat(call(operation, {}), { until: ({ status }) => status === 429, times: 5 })
      assert.deepStrictEqual(yield* unexpected("429 RateLimitExceededError", operations, ask), [])
    })
  )
})

describe("coverage of the documented responses", () => {
  it("the tests above received every documented response and no other", async (context) => {
    const found = expected.filter((answer) => OverWire.seen.has(answer))
    const statuses = listed.map(({ answer, operation }) => named(operation, answer))
    await report(context, {
      operations: operations.length,
      "operation × status": `${pairs(found)} of ${pairs(statuses)}`,
      "operation × error": `${found.length} of ${expected.length}`,
      "common responses": [...OverWire.seen].filter((answer) => !expected.includes(answer)).length
    })
    assert.deepStrictEqual(
      expected.filter((answer) => !OverWire.seen.has(answer)),
      []
    )
    assert.deepStrictEqual(
      [...OverWire.seen].filter((answer) => !allowed.has(answer)),
      []
    )
    assert.strictEqual(pairs(found), pairs(statuses))
  })
})
