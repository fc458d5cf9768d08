import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Result, Stream } from "effect"
import { FetchHttpClient } from "effect/http"
import { locations } from "../../../src/cli/transfer/Resources.ts"
import type { Row } from "../../../src/cli/files/Row.ts"
import * as Upsert from "../../../src/cli/transfer/Upsert.ts"
import { Client } from "../../../src/client/Client.ts"
import { UnauthorizedError } from "../../../src/domain/keys/ApiKey.ts"
import { DuplicateIdentifierError, type LocationCreate } from "../../../src/domain/locations/Location.ts"
import { readRows } from "../../support/cli/Reading.ts"

const uuid = "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30"
const empty = { data: [], pagination: { limit: 1, page: 1, total: 0, pageCount: 0 } }
const rowsOf = (records: ReadonlyArray<unknown>): ReadonlyArray<Row> =>
  records.map((record, index) => ({ at: { item: index + 1 }, source: record, record: Result.succeed(record) }))

/** Calls that take a moment each and record their arguments. */
const slowCalls = (create: Upsert.Calls["create"] = () => Effect.void) => {
  const seen = { running: 0, maxRunning: 0, done: 0, names: [] as Array<string> }
  const calls: Upsert.Calls = {
    list: () => Effect.succeed(empty),
    update: () => Effect.void,
    create: (payload) =>
      Effect.gen(function* () {
        seen.running++
        seen.maxRunning = Math.max(seen.maxRunning, seen.running)
        const { name } = payload as { readonly name: string }
        // Later rows are quicker, so that the order is not kept by accident.
        for (let left = 20 - (Number(name) % 20); left > 0; left--) yield* Effect.yieldNow
        yield* create(payload)
        seen.names.push(name)
        seen.running--
        seen.done++
      })
  }
  return { seen, calls }
}

describe("imports", () => {
  it.effect("an import sends rows concurrently, but rows of one identifier sequentially in the order of the file", () =>
    Effect.gen(function* () {
      const { calls, seen } = slowCalls()
      const records = Array.from({ length: 300 }, (_, index) => ({ name: String(index), identifier: ` ${index % 5} ` }))
      const summary = Upsert.emptySummary()
      yield* Stream.runDrain(
        Stream.fromIterable(rowsOf(records)).pipe(Upsert.upsertAll(locations, calls, { concurrency: 8, summary }))
      )
      assert.strictEqual(summary.created, 300)
      assert.strictEqual(seen.maxRunning, 5)
      for (let key = 0; key < 5; key++) {
        const order = seen.names.map(Number).filter((name) => name % 5 === key)
        assert.deepStrictEqual(
          order,
          order.toSorted((a, b) => a - b)
        )
      }
    })
  )

  it.effect("an import reads a file of 20,000 rows no faster than it sends them", () =>
    Effect.gen(function* () {
      const { calls, seen } = slowCalls()
      const summary = Upsert.emptySummary()
      const piece = 200
      let read = 0
      let ahead = 0
      const lines = Array.from({ length: 20_000 / piece }, (_, index) =>
        Array.from({ length: piece }, (_, row) => `Branch ${index}-${row},B-${index}-${row}\n`).join("")
      )
      const bytes = Stream.fromIterable(["name,identifier\n", ...lines]).pipe(
        Stream.rechunk(1),
        Stream.tap(() =>
          Effect.sync(() => {
            read += piece
            ahead = Math.max(ahead, read - seen.done)
          })
        ),
        Stream.encodeText
      )
      yield* Stream.runDrain(
        readRows("csv", locations, bytes).pipe(Upsert.upsertAll(locations, calls, { concurrency: 32, summary }))
      )
      assert.strictEqual(summary.created, 20_000)
      assert.isBelow(ahead, 10 * piece)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("an import rejects invalid rows without sending them", () =>
    Effect.gen(function* () {
      const { calls, seen } = slowCalls()
      const summary = Upsert.emptySummary()
      const records = [
        { name: "A", identifier: "1", adress: {} },
        { identifier: "2" },
        { name: "C", identifier: "3" },
        "text"
      ]
      const refused = yield* Stream.runCollect(
        Stream.fromIterable(rowsOf(records)).pipe(Upsert.upsertAll(locations, calls, { concurrency: 2, summary }))
      )
      assert.deepStrictEqual(summary, { created: 1, updated: 0, unchanged: 0, refused: 3 })
      assert.deepStrictEqual(seen.names, ["C"])
      assert.deepStrictEqual(
        refused.map(({ reasons }) => reasons.map(({ code, path }) => [path, code])),
        [[["adress", "unknownMember"]], [["name", "required"]], [["", "wrongType"]]]
      )
      assert.include(refused[0]!.reasons[0]!.message, "address")
    })
  )

  it.effect("an import rejects a row whose record was deleted between two requests, and continues", () =>
    Effect.gen(function* () {
      const { calls } = slowCalls(() => Effect.fail(DuplicateIdentifierError.of("1")))
      const summary = Upsert.emptySummary()
      const refused = yield* Stream.runCollect(
        Stream.fromIterable(rowsOf([{ name: "A", identifier: "1" }])).pipe(
          Upsert.upsertAll(locations, calls, { concurrency: 1, summary })
        )
      )
      assert.strictEqual(refused[0]!.reasons[0]!.code, "DuplicateIdentifierError")
    })
  )

  it.effect("an import stops at the first failure that applies to every row", () =>
    Effect.gen(function* () {
      const { calls, seen } = slowCalls(() => Effect.fail(new UnauthorizedError({ message: "No", reason: "revoked" })))
      const summary = Upsert.emptySummary()
      const records = Array.from({ length: 100 }, (_, index) => ({ name: "A", identifier: String(index) }))
      const failure = yield* Effect.flip(
        Stream.runDrain(
          Stream.fromIterable(rowsOf(records)).pipe(Upsert.upsertAll(locations, calls, { concurrency: 4, summary }))
        )
      )
      assert.strictEqual(failure._tag, "UnauthorizedError")
      assert.isAtMost(seen.maxRunning, 4)
      assert.strictEqual(Upsert.rowsOf(summary), 0)
    })
  )

  it.live("an import waits for Retry-After when the service is busy, and sends the row again", () =>
    Effect.gen(function* () {
      const requestId = "busy"
      const answers = [
        [429, "1", { _tag: "RateLimitExceededError", message: "slow down", retryAfterSeconds: 1, requestId }],
        [503, "0", { _tag: "ServiceUnavailableError", message: "later", requestId }],
        [201, "0", { _tag: "Success", data: { uuid } }]
      ] as const
      const times: Array<number> = []
      const fetch = () => {
        const [status, retryAfter, body] = answers[times.length]!
        times.push(performance.now())
        return Promise.resolve(
          Response.json(body, { status, headers: { "retry-after": retryAfter, "content-type": "application/json" } })
        )
      }
      const summary = Upsert.emptySummary()
      yield* Effect.flatMap(Client, (client) =>
        Stream.fromIterable(rowsOf([{ name: "A", identifier: "1" }])).pipe(
          Upsert.upsertAll(
            locations,
            {
              ...slowCalls().calls,
              create: (payload) => client.locations.create({ payload: payload as LocationCreate })
            },
            { concurrency: 1, summary }
          ),
          Stream.runDrain
        )
      ).pipe(
        Effect.provide(Client.layer({ baseUrl: "http://waypost.test", apiKey: Redacted.make("wp_test") })),
        Effect.provideService(FetchHttpClient.Fetch, fetch)
      )
      assert.strictEqual(summary.created, 1)
      assert.isAtLeast(times[1]! - times[0]!, 990)
    })
  )
})
