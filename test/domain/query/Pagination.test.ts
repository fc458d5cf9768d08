import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { maxLimit } from "../../../src/domain/query/PageLimit.ts"
import { defaults, pagination } from "../../../src/domain/query/Pagination.ts"
import { property } from "../../support/Runs.ts"

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

describe("pagination", () => {
  it.each([
    [25, 0, 0],
    [25, 1, 1],
    [25, 24, 1],
    [25, 25, 1],
    [25, 26, 2],
    [1, 7, 7],
    [500, 1_000_001, 2001]
  ])("with a limit of %d, %d records have %d pages", (limit, total, pageCount) =>
    assert.deepStrictEqual(pagination(limit, 3, total), { limit, page: 3, total, pageCount })
  )

  it.effect.prop(
    "pageCount is the smallest number of pages for all records",
    [between(1, 500), between(0, 10_000_000)],
    ([limit, total]) =>
      Effect.sync(() => {
        const { pageCount } = pagination(limit, 1, total)
        assert.isAtLeast(pageCount * limit, total)
        assert.isBelow((pageCount - 1) * limit, Math.max(total, 1))
      }),
    property()
  )

  it("a list has 25 records, newest first, by default, and at most 500", () => {
    assert.deepStrictEqual({ ...defaults }, { limit: 25, page: 1, sortBy: "createdAt", sortOrder: "desc" })
    assert.strictEqual(maxLimit, 500)
  })
})
