import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import * as CreatedRows from "../../../src/cli/sync/CreatedRows.ts"
import { locations } from "../../../src/cli/transfer/Resources.ts"
import { emptySummary } from "../../../src/cli/transfer/Upsert.ts"

const rows = (count: number, name = "Branch") =>
  Array.from({ length: count }, (_, index) => {
    const record = { name, identifier: `B-${index}` }
    return { record, row: { at: { line: index + 1 }, source: record, record: Result.succeed(record) } }
  })

/** Creates rows, all of which but the last of each request are new, until a request is to fail. */
const creating = (failsAt: number) => {
  const summary = emptySummary()
  const requests: Array<number> = []
  const createAll = () => (records: ReadonlyArray<unknown>) =>
    Effect.suspend(() => {
      requests.push(records.length)
      return requests.length === failsAt
        ? Effect.fail({ _tag: "RequestTimeoutError", message: "The body took too long" })
        : Effect.succeed(records.map((_, index) => index < records.length - 1))
    })
  // The client is for `createAll`.
  return { summary, requests, ...CreatedRows.make(undefined as never, { ...locations, createAll }, summary) }
}

describe("rows that are created before they are compared", () => {
  it.effect("rows after a chunk of new ones are created first, in requests of 1,000 rows and of half a MiB", () =>
    Effect.gen(function* () {
      const { create, learn, requests, summary } = creating(Infinity)
      assert.lengthOf(yield* create(rows(2000)), 2000)
      learn(1980, 2000)
      assert.deepStrictEqual(
        (yield* create(rows(2000))).map(({ record }) => record["identifier"]),
        ["B-999", "B-1999"]
      )
      assert.deepStrictEqual(requests, [1000, 1000])
      assert.strictEqual(summary.created, 1998)
      yield* create(rows(10, "x".repeat(200_000)))
      assert.deepStrictEqual(requests.slice(2), [3, 3, 3, 1])
      learn(1959, 2000)
      assert.lengthOf(yield* create(rows(2000)), 2000)
    })
  )

  it.effect("no rows are created first after a request that failed, whose rows are left", () =>
    Effect.gen(function* () {
      const { create, learn, requests, summary } = creating(2)
      learn(2000, 2000)
      assert.lengthOf(yield* create(rows(3000)), 2001)
      assert.strictEqual(summary.created, 999)
      learn(2000, 2000)
      assert.lengthOf(yield* create(rows(2000)), 2000)
      assert.deepStrictEqual(requests, [1000, 1000])
    })
  )
})
