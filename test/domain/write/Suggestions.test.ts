import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema } from "effect"
import { nearest } from "../../../src/domain/write/Suggestions.ts"
import { property } from "../../support/Runs.ts"

/** The edit distance by its recursive definition. */
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
  ])("the suggestions for %j are %j", (typed, expected) =>
    assert.deepStrictEqual(nearest(typed, ["uuid", "name", "identifier", "address.city", "postalCodes"]), expected)
  )

  it("at most three suggestions are returned, the nearest first", () => {
    assert.deepStrictEqual(nearest("size", ["sizes12", "sizes1", "sizes", "size", "siz", "sise"]), [
      "size",
      "sizes",
      "siz"
    ])
  })

  it.each([
    [`b${"a".repeat(60)}b`, true],
    [`bc${"a".repeat(60)}`, true],
    ["a".repeat(58), true],
    [`${"a".repeat(30)}b${"a".repeat(32)}`, false],
    [`b${"a".repeat(57)}b`, false]
  ])("a name of 60 letters is suggested for %s: %s", (typed, isNear) => {
    const name = "a".repeat(60)
    assert.deepStrictEqual(nearest(typed, [name]), isNear ? [name] : [])
    assert.deepStrictEqual(nearest(name, [typed]), isNear ? [typed] : [])
  })

  it.effect.prop(
    "suggestions are the known names within two edits, case-insensitively",
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
    property(300)
  )
})
