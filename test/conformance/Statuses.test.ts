import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TimeLimits } from "../../src/http/transport/Timeout.ts"
import { report } from "../support/proofs/Figures.ts"
import { Line } from "../support/wire/Line.ts"
import { breakDatabase } from "../support/contract/Breaking.ts"
import { provocations } from "../support/contract/Common.ts"
import { common, type Documented, type Operation, operations } from "../support/contract/Documented.ts"
import { ofEveryProduct } from "../support/contract/ModuleCalls.ts"
import * as OverWire from "../support/contract/OverWire.ts"
import { call, prepare, provoke, told } from "../support/contract/Provoking.ts"

/** Every pair of an operation and an answer it lists. */
const listed = operations.flatMap((operation) => operation.answers.map((answer) => ({ operation, answer })))
const named = ({ id }: Operation, { status, tag }: Documented) => `${id} ${status} ${tag}`

/** An error the contract lists that no request can bring about is not looked for; its status is. */
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

/** The operations that did not answer as they should, with what they answered. */
const others = <R, E, R2>(
  answer: string,
  requests: ReadonlyArray<R>,
  ask: (request: R) => Effect.Effect<{ readonly status: number; readonly body: any }, E, R2>,
  concurrency: number | "unbounded" = 8
) =>
  Effect.map(Effect.forEach(requests, ask, { concurrency }), (answers) =>
    answers.map(told).flatMap((given, index) => (given === answer ? [] : [[requests[index], given]]))
  )

// These wait for each other no more than they must: one of them waits until bodies are late.
const atOnce = { concurrent: true, timeout: 60_000 }

const limited = OverWire.layer().pipe(Layer.provide(Layer.succeed(TimeLimits, { body: 4000, answer: 20_000 })))

layer(limited, { excludeTestServices: true })("Over the wire", (it) => {
  it.effect.each(common.filter(({ tag }) => tag in provocations))(
    "every operation that can be brought to it answers $status $tag",
    ({ status, tag }) =>
      Effect.gen(function* () {
        const [can, provocation] = provocations[tag]!
        const concurrency = tag === "RequestTimeoutError" ? "unbounded" : 8
        assert.deepStrictEqual(yield* others(`${status} ${tag}`, operations.filter(can), provocation, concurrency), [])
      }),
    atOnce
  )

  it.effect.each(groups)(
    "every operation on $group gives every answer it lists, but those of failures",
    ({ members }) =>
      Effect.forEach(
        members,
        Effect.fnUntraced(function* (operation) {
          for (const { status, tag } of operation.answers) {
            if (tag === "InternalServerError" || ofEveryProduct.includes(`${operation.id} ${tag}`)) continue
            const answer = yield* provoke(operation, tag)
            assert.strictEqual(told(answer), `${status} ${tag}`, `${operation.id} ${answer.text}`)
          }
        }),
        { concurrency: 4, discard: true }
      ),
    atOnce
  )

  it.effect("a write of a record that is no longer the one that was read is a 412", () =>
    Effect.gen(function* () {
      const writes = operations.filter(({ method, path }) => path.includes("{uuid}") && !/GET|POST/.test(method))
      const requests = yield* prepare(writes)
      const answer = "412 PreconditionFailedError"
      const ask = ({ ask }: (typeof requests)[number]) => ask({ headers: { "if-match": '"another"' } })
      assert.deepStrictEqual(yield* others(answer, requests, ask), [])
    })
  )

  it.effect("a read of what has not changed is a 304", () =>
    Effect.gen(function* () {
      for (const { ask, operation } of yield* prepare(operations.filter(({ method }) => method === "GET"))) {
        const { headers } = yield* ask()
        const { status } = yield* ask({ headers: { "if-none-match": headers.get("etag") ?? "none" } })
        assert.strictEqual(status, 304, operation.id)
      }
    })
  )

  it.effect("a failure that nobody has thought of is a 500, and a database that is away a 503", () =>
    Effect.gen(function* () {
      const requests = yield* prepare(operations)
      yield* breakDatabase
      assert.deepStrictEqual(yield* others("500 InternalServerError", requests, ({ ask }) => ask()), [])
      const line = yield* Line
      yield* Effect.acquireRelease(line.cut, () => line.mend)
      assert.deepStrictEqual(yield* others("503 ServiceUnavailableError", requests, ({ ask }) => ask()), [])
    })
  )
})

layer(OverWire.layer({ RATE_LIMIT_PER_SECOND: "1" }), { excludeTestServices: true })("Over its limit", (it) => {
  it.effect("a key gets a 429 from every operation", () =>
    Effect.gen(function* () {
      const ask = (operation: Operation) =>
        Effect.repeat(call(operation, {}), { until: ({ status }) => status === 429, times: 5 })
      assert.deepStrictEqual(yield* others("429 RateLimitExceededError", operations, ask), [])
    })
  )
})

describe("All of this", () => {
  it("was everything that is documented, and nothing else", async (context) => {
    const found = expected.filter((answer) => OverWire.seen.has(answer))
    const statuses = listed.map(({ answer, operation }) => named(operation, answer))
    await report(context, {
      operations: operations.length,
      "operation × status": `${pairs(found)} of ${pairs(statuses)}`,
      "operation × error": `${found.length} of ${expected.length}`,
      "common answers": [...OverWire.seen].filter((answer) => !expected.includes(answer)).length
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
