import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { nearest } from "../../../src/domain/write/Suggestions.ts"

/** The edit distance by its definition, without the shortcuts of the real one. */
const distance = (a: string, b: string): number => {
  if (a === "" || b === "") return a.length + b.length
  const rest = distance(a.slice(1), b.slice(1)) + (a[0] === b[0] ? 0 : 1)
  return Math.min(rest, distance(a.slice(1), b) + 1, distance(a, b.slice(1)) + 1)
}

const word = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Schema.Literals(["a", "b", "B", "c"])), { maxLength: 5 }),
  (letters) => letters.join("")
)

describe("suggestions", () => {
  it.each([
    ["nmae", ["name"]],
    ["name", ["name"]],
    ["NAME", ["name"]],
    ["nam", ["name"]],
    ["names", ["name"]],
    ["adress.city", ["address.city"]],
    ["identifer", ["identifier"]],
    ["xy", []],
    ["", []],
    ["zzzzzzzzzz", []]
  ])("for %s are %j", (typed, expected) =>
    assert.deepStrictEqual(nearest(typed, ["uuid", "name", "identifier", "address.city", "postalCodes"]), expected)
  )

  it("are at most three, the nearest first", () => {
    assert.deepStrictEqual(nearest("size", ["sizes12", "sizes1", "sizes", "size", "siz", "sise"]), [
      "size",
      "sizes",
      "siz"
    ])
  })

  it.effect.prop(
    "are the known names within two edits, whatever their case",
    [word, Arbitrary.array(word, { maxLength: 6 })],
    ([typed, known]) =>
      Effect.sync(() => {
        const found = nearest(typed, known)
        const edits = (name: string) => distance(typed.toLowerCase(), name.toLowerCase())
        const near = known.filter((name) => edits(name) <= 2)
        assert.lengthOf(found, Math.min(near.length, 3))
        assert.deepStrictEqual(
          found.map(edits),
          near
            .map(edits)
            .toSorted((a, b) => a - b)
            .slice(0, 3)
        )
        assert.isTrue(found.every((name) => near.includes(name)))
      }),
    { arbitrary: { runs: 300 } }
  )
})
