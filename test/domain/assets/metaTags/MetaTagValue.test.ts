import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { MetaTagType, MetaTagValue } from "../../../../src/domain/assets/metaTags/MetaTag.ts"
import { type Definition, read } from "../../../../src/domain/assets/metaTags/MetaTagValue.ts"
import { definition, option } from "./MetaTags.ts"

/** The value as it is stored, or the codes of what is wrong with it. */
const outcome = (of: Definition, value: unknown, held?: MetaTagValue) =>
  Result.match(read(of, value, held), {
    onSuccess: (stored) => ({ stored }),
    onFailure: (problems) => problems.map(({ code }) => code)
  })

type Case = readonly [sent: unknown, outcome: unknown]
const kept = (...values: ReadonlyArray<unknown>): ReadonlyArray<Case> =>
  values.map((value) => [value, { stored: value }])
const refused = (code: string, ...values: ReadonlyArray<unknown>): ReadonlyArray<Case> =>
  values.map((value) => [value, [code]])

/** What becomes of the values, and the cases: equal when all hold. */
const outcomes = (
  type: MetaTagType,
  fields: Partial<Definition>,
  cases: ReadonlyArray<Case>
): [actual: ReadonlyArray<Case>, expected: ReadonlyArray<Case>] => [
  cases.map(([sent]) => [sent, outcome(definition(type, fields), sent)]),
  cases
]

const notText = [1, true, {}, ["a"]]
const notNumber = ["1", true, {}, [1], Number.NaN, Infinity]

describe("a value of a meta tag", () => {
  it("of type text is one line, trimmed and in normal form", () =>
    assert.deepStrictEqual(
      ...outcomes("text", {}, [
        ...kept("a", "é", "🥐".repeat(1000)),
        [" e\u0301 ", { stored: "é" }],
        ...refused("tooShort", "", "  "),
        ...refused("tooLong", "a".repeat(1001), "🥐".repeat(1001), "a".repeat(1_000_000)),
        ...refused("wrongType", "a\nb", "a\0b", "\ud800", "a\tb", ...notText)
      ])
    ))

  it("of type longText may have lines", () =>
    assert.deepStrictEqual(
      ...outcomes("longText", {}, [
        ...kept("a\n\tb", "a".repeat(10_000)),
        ...refused("tooLong", "a".repeat(10_001)),
        ...refused("tooShort", "\n"),
        ...refused("wrongType", "a\rb", "a\0b", ...notText)
      ])
    ))

  it("of type text keeps to the lengths and the pattern of its definition", () =>
    assert.deepStrictEqual(
      ...outcomes("text", { validation: { minLength: 2, maxLength: 3, pattern: "[a-z🥐]+" } }, [
        ...kept("ab", "🥐🥐🥐"),
        ...refused("tooShort", "", "a", "🥐", " a "),
        ...refused("tooLong", "abcd"),
        ...refused("pattern", "aB", "ab1")
      ])
    ))

  it("of type url is an absolute http or https URL", () =>
    assert.deepStrictEqual(
      ...outcomes("url", { validation: { pattern: "(?s).*" } }, [
        ...kept("https://example.com", "HTTP://example.com/a?b=c"),
        [" https://example.com ", { stored: "https://example.com" }],
        ...refused(
          "wrongType",
          "example.com",
          "ftp://example.com",
          "javascript:alert(1)",
          "https://a b",
          "a",
          ...notText
        ),
        ...refused("tooLong", `https://example.com/${"a".repeat(2048)}`),
        ...refused("tooShort", "")
      ])
    ))

  it("of type integer is a whole number that no arithmetic rounds", () =>
    assert.deepStrictEqual(
      ...outcomes("integer", {}, [
        ...kept(0, -5, Number.MAX_SAFE_INTEGER),
        [-0, { stored: 0 }],
        ...refused("wrongType", 1.5, 2 ** 53, 1e300, ...notNumber)
      ])
    ))

  it("of type decimal is any finite number", () =>
    assert.deepStrictEqual(
      ...outcomes("decimal", {}, [...kept(0, -1.25, 1e300), ...refused("wrongType", ...notNumber)])
    ))

  it("of a number keeps to the range of its definition", () => {
    const cases = [...kept(-1, 0, 2), ...refused("outOfRange", -2, 3)]
    assert.deepStrictEqual(...outcomes("integer", { validation: { min: -1, max: 2 } }, cases))
    assert.deepStrictEqual(
      ...outcomes("decimal", { validation: { min: -1, max: 2 } }, [...cases, ...refused("outOfRange", 2.0001)])
    )
  })

  it("of type boolean is true or false", () =>
    assert.deepStrictEqual(
      ...outcomes("boolean", {}, [...kept(true, false), ...refused("wrongType", "true", 1, 0, [])])
    ))

  it("of type date is a day that exists", () =>
    assert.deepStrictEqual(
      ...outcomes("date", {}, [
        ...kept("2026-01-31", "2024-02-29"),
        [" 2026-01-31 ", { stored: "2026-01-31" }],
        ...refused(
          "wrongType",
          "2026-02-29",
          "2026-1-31",
          "31-01-2026",
          "0000-01-01",
          "2026-01-31T00:00:00.000Z",
          "",
          0
        )
      ])
    ))

  it("of type dateTime is a UTC timestamp with milliseconds", () =>
    assert.deepStrictEqual(
      ...outcomes("dateTime", {}, [
        ...kept("2026-01-31T09:30:00.000Z"),
        ...refused("wrongType", "2026-01-31T09:30:00Z", "2026-01-31", "2026-02-30T09:30:00.000Z", "now", 0)
      ])
    ))

  const options = [option("a"), option("b"), option("old!")]

  it("of type select is the key of an option that is offered", () =>
    assert.deepStrictEqual(
      ...outcomes("select", { options }, [
        ...kept("a"),
        [" b ", { stored: "b" }],
        ...refused("unknownOption", "A", "c", ""),
        ...refused("inactiveOption", "old"),
        ...refused("wrongType", ["a"], 1, true)
      ])
    ))

  it("of type multiSelect is a list of options, each once", () =>
    assert.deepStrictEqual(
      ...outcomes("multiSelect", { options, validation: { maxItems: 2 } }, [
        ...kept(["a"], ["b", "a"]),
        [["a", "b", "a", " b"], { stored: ["a", "b"] }],
        ...refused("unknownOption", ["a", "c"]),
        [
          ["c", "old"],
          ["unknownOption", "inactiveOption"]
        ],
        ...refused(
          "tooMany",
          ["a", "b", "c"],
          Array.from({ length: 6000 }, (_, index) => String(index))
        ),
        ...refused("tooShort", []),
        ...refused("wrongType", "a", [1], [["a"]], { 0: "a" })
      ])
    ))

  it("may keep an option that is no longer offered, but not take it", () => {
    const select = definition("select", { options })
    assert.deepStrictEqual(outcome(select, "old", "old"), { stored: "old" })
    assert.deepStrictEqual(outcome(select, "old", "a"), ["inactiveOption"])
    const multiSelect = definition("multiSelect", { options })
    assert.deepStrictEqual(outcome(multiSelect, ["a", "old"], ["old"]), { stored: ["a", "old"] })
    assert.deepStrictEqual(outcome(multiSelect, ["a", "old"], ["b"]), ["inactiveOption"])
  })

  it("is refused with as little of it as a message should repeat", () => {
    const problems = Result.match(read(definition("select"), "x".repeat(100_000)), {
      onSuccess: () => [],
      onFailure: (problems) => problems
    })
    assert.isBelow(problems[0]?.message.length ?? Infinity, 200)
  })
})
