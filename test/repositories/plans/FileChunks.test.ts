import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import type { FileRow } from "../../../src/repositories/plans/PlanStatements.ts"
import { chunksOf } from "../../../src/repositories/plans/FileChunks.ts"

const numbersOf = (rows: ReadonlyArray<unknown>) => chunksIn(rows.map((data) => Result.succeed(data)))

const chunksIn = (rows: ReadonlyArray<FileRow["data"]>) =>
  Stream.fromIterable(rows.map((data, index) => ({ row: index + 1, data }))).pipe(
    chunksOf,
    Stream.runCollect,
    Effect.map((chunks) => chunks.map(({ rows }) => rows.map(({ row }) => row)))
  )

const numbers = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)

describe("the rows of a file in chunks", () => {
  it.effect("a chunk has 500 rows", () =>
    Effect.gen(function* () {
      const rows = Array.from({ length: 1001 }, () => ({ name: "Branch" }))
      assert.deepStrictEqual(yield* numbersOf(rows), [numbers(1, 500), numbers(501, 1000), [1001]])
      assert.deepStrictEqual(yield* numbersOf([]), [])
    })
  )

  it.effect("a chunk ends with the row that makes it 1 MiB long", () =>
    Effect.gen(function* () {
      const rows = Array.from({ length: 8 }, () => ({ name: "x".repeat(400_000) }))
      assert.deepStrictEqual(yield* numbersOf(rows), [
        [1, 2, 3],
        [4, 5, 6],
        [7, 8]
      ])
    })
  )

  it.effect("a chunk ends with the row whose issues make it 1 MiB long", () =>
    Effect.gen(function* () {
      const issue = { in: "body" as const, path: "name", code: "long", message: "x".repeat(400_000) }
      const rows = Array.from({ length: 4 }, () => Result.fail([issue]))
      assert.deepStrictEqual(yield* chunksIn(rows), [[1, 2, 3], [4]])
    })
  )

  it.effect("a chunk ends with a row that is nested too deep to be measured", () =>
    Effect.gen(function* () {
      let nested: unknown = []
      for (let depth = 0; depth < 100_000; depth++) nested = [nested]
      assert.deepStrictEqual(yield* numbersOf([{}, nested, {}]), [[1, 2], [3]])
    })
  )
})
