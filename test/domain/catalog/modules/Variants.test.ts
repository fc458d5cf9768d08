import { assert, describe, it } from "@effect/vitest"
import { missingCombinations } from "../../../../src/domain/catalog/modules/Variants.ts"
import { many, outcome, rejects, stores, uuid } from "./outcome.ts"

const value = (key: string) => ({ key })
const option = (key: string, ...values: ReadonlyArray<string>) => ({ key, values: values.map(value) })
const minimal = { options: [option("size", "a4", "a5")] }
const variant = (choice: Readonly<Record<string, string>>) => ({
  optionValues: Object.entries(choice).map(([option, value]) => ({ option, value }))
})

describe("the variants module", () => {
  it("the variants module numbers options and values in their order by default", () =>
    assert.deepStrictEqual(outcome("variants", minimal), {
      options: [
        {
          key: "size",
          translations: [],
          position: 0,
          values: [
            { key: "a4", translations: [], position: 0 },
            { key: "a5", translations: [], position: 1 }
          ]
        }
      ]
    }))

  it("the variants module stores values within the bounds", () => {
    assert.deepStrictEqual(
      ...stores("variants", minimal, { defaultVariantUuid: uuid(1) }, [{ variants: [], missingCombinations: 3 }, {}])
    )
    const options = many(5, (index) => option(`${index}`, ...many(100, (value) => `${value}`)))
    assert.notInstanceOf(outcome("variants", { options }), Array)
  })

  it("the variants module rejects values outside of the bounds", () =>
    assert.deepStrictEqual(
      ...rejects(
        "variants",
        minimal,
        [{ options: [] }, "options tooFew"],
        [{ options: null }, "options wrongType"],
        [{ options: many(6, (index) => option(`${index}`, "a")) }, "options tooMany"],
        [{ options: [option("size")] }, "options.0.values tooFew"],
        [{ options: [option("size", ...many(101, (index) => `${index}`))] }, "options.0.values tooMany"],
        [{ options: [option("size", "a", "a")] }, "options.0.values.1.key duplicate"],
        [{ options: [option("size", "a"), option("size", "b")] }, "options.1.key duplicate"]
      )
    ))

  it("missingCombinations counts the combinations without a variant", () => {
    const options = [option("size", "a4", "a5"), option("paper", "matt", "gloss", "raw")]
    const missing = (...choices: ReadonlyArray<Readonly<Record<string, string>>>) =>
      missingCombinations(options, choices.map(variant))
    assert.strictEqual(missing(), 6)
    assert.strictEqual(missing({ size: "a4", paper: "matt" }, { paper: "raw", size: "a5" }), 4)
    assert.strictEqual(
      missing({ size: "a4" }, { size: "a3", paper: "raw" }, { size: "a4", paper: "raw", ink: "red" }),
      6
    )
  })
})
