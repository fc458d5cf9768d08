import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Product } from "../../../src/domain/catalog/Product.ts"
import { encodedOf } from "../../../src/domain/schema/Encoded.ts"
import * as IncludedModules from "../../../src/repositories/catalog/IncludedModules.ts"
import { noVisibility } from "../../../src/repositories/catalog/ModuleReferences.ts"

/** Reads a page of products with a module each; `taken` has the turn, and how many products were read together. */
const pageOf = (products: number, { answered, stored }: { readonly answered: number; readonly stored: number }) => {
  const taken: Array<number | "turn"> = []
  const { page } = IncludedModules.make(
    {
      getAll: (uuids, _, maxBytes) =>
        Effect.sync(() => {
          taken.push(uuids.length)
          const bytes = uuids.length * stored
          const module = { text: "a".repeat(answered) }
          return bytes > maxBytes
            ? undefined
            : { bytes, modules: new Map(uuids.map((uuid) => [`${uuid} api`, module] as const)) }
        })
    },
    {
      largePages: (read) =>
        Effect.suspend(() => {
          taken.push("turn")
          return read
        })
    }
  )
  const modules = [{ module: "api", active: true, inherited: false }]
  const listed = Array.from({ length: products }, (_, index) => ({ uuid: String(index), modules }))
  const list = () =>
    Effect.succeed({ data: encodedOf<ReadonlyArray<Product>>(listed), pagination: { limit: products } })
  return { page: page({ include: ["modules"] }, noVisibility, list), taken }
}

const times = <A>(count: number, value: A) => Array.from({ length: count }, () => value)

describe("the modules of a page of products", () => {
  it.effect("modules of a page are read together, and take no turn, if they are small", () =>
    Effect.gen(function* () {
      const { page, taken } = pageOf(100, { answered: 1000, stored: 1000 })
      const { data } = yield* page
      assert.deepStrictEqual(taken, [100])
      assert.lengthOf(
        JSON.parse(data).filter(({ modules }: any) => modules[0].text.length === 1000),
        100
      )
    })
  )

  it.effect("modules of a page take the turn of large pages if their settings or the answer are large", () =>
    Effect.gen(function* () {
      for (const bytes of [
        { answered: 1000, stored: 10_000 },
        { answered: 50_000, stored: 100 }
      ]) {
        const { page, taken } = pageOf(100, bytes)
        assert.lengthOf(JSON.parse((yield* page).data), 100)
        assert.deepStrictEqual(taken, [100, "turn", 25, 25, 25, 25])
      }
    })
  )

  it.effect("modules of a page are read no further than their limits", () =>
    Effect.gen(function* () {
      const answer = pageOf(500, { answered: 200_000, stored: 100 })
      assert.include(
        JSON.stringify(yield* Effect.exit(answer.page)),
        "A page of 500 of these records has more than 15 MiB"
      )
      assert.deepStrictEqual(answer.taken, [500, "turn", ...times(4, 25)])
      const settings = pageOf(500, { answered: 100, stored: 20_000 })
      assert.include(
        JSON.stringify(yield* Effect.exit(settings.page)),
        "A page of 500 of these records has more than 4 MiB"
      )
      assert.deepStrictEqual(settings.taken, [500, "turn", ...times(9, 25)])
    })
  )

  it.effect("let other requests run between the products of a large page", () =>
    Effect.gen(function* () {
      const { page } = pageOf(200, { answered: 50_000, stored: 100 })
      let others = 0
      const other = Effect.forever(
        Effect.sync(() => {
          others++
        })
      )
      yield* Effect.raceFirst(page, other)
      assert.isAtLeast(others, 200)
    })
  )
})
