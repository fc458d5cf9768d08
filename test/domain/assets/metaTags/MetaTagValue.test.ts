import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { MetaTagType, MetaTagValue } from "../../../../src/domain/assets/metaTags/MetaTag.ts"
import { type Definition, read } from "../../../../src/domain/assets/metaTags/MetaTagValue.ts"
import { definition, option } from "./MetaTags.ts"

/** The stored value, or the code of each problem. */
const outcome = (of: Definition, value: unknown, held?: MetaTagValue) =>
  Result.match(read(of, value, held), {
    onSuccess: (stored) => ({ stored }),
    onFailure: (problems) => problems.map(({ code }) => code)
  })

type Case = readonly [sent: unknown, outcome: unknown]
const kept = (...values: ReadonlyArray<unknown>): ReadonlyArray<Case> =>
  values.map((value) => [value, { stored: value }])
const rejected = (code: string, ...values: ReadonlyArray<unknown>): ReadonlyArray<Case> =>
  values.map((value) => [value, [code]])

/** Actual outcomes and expected cases, as arguments of deepStrictEqual. */
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

describe("values of meta tags", () => {
  it("a text value is one line, trimmed and in NFC", () =>
    assert.deepStrictEqual(
      ...outcomes("text", {}, [
        ...kept("a", "é", "🥐".repeat(1000)),
        [" e\u0301 ", { stored: "é" }],
        ...rejected("tooShort", "", "  "),
        ...rejected("tooLong", "a".repeat(1001), "🥐".repeat(1001), "a".repeat(1_000_000)),
        ...rejected("wrongType", "a\nb", "a\0b", "\ud800", "a\tb", ...notText)
      ])
    ))

  it("a longText value can have several lines", () =>
    assert.deepStrictEqual(
      ...outcomes("longText", {}, [
        ...kept("a\n\tb", "a".repeat(10_000)),
        ...rejected("tooLong", "a".repeat(10_001)),
        ...rejected("tooShort", "\n"),
        ...rejected("wrongType", "a\rb", "a\0b", ...notText)
      ])
    ))

  it("a text value obeys the lengths and the pattern of its definition", () =>
    assert.deepStrictEqual(
      ...outcomes("text", { validation: { minLength: 2, maxLength: 3, pattern: "[a-z🥐]+" } }, [
        ...kept("ab", "🥐🥐🥐"),
        ...rejected("tooShort", "", "a", "🥐", " a "),
        ...rejected("tooLong", "abcd"),
        ...rejected("pattern", "aB", "ab1")
      ])
    ))

  it("a url value is an absolute http or https URL", () =>
    assert.deepStrictEqual(
      ...outcomes("url", { validation: { pattern: "(?s).*" } }, [
        ...kept("https://example.com", "HTTP://example.com/a?b=c"),
        [" https://example.com ", { stored: "https://example.com" }],
        ...rejected(
          "wrongType",
          "example.com",
          "ftp://example.com",
          "javascript:alert(1)",
          "https://a b",
          "a",
          ...notText
        ),
        ...rejected("tooLong", `https://example.com/${"a".repeat(2048)}`),
        ...rejected("tooShort", "")
      ])
    ))

  it("an integer value is a safe integer", () =>
    assert.deepStrictEqual(
      ...outcomes("integer", {}, [
        ...kept(0, -5, Number.MAX_SAFE_INTEGER),
        [-0, { stored: 0 }],
        ...rejected("wrongType", 1.5, 2 ** 53, 1e300, ...notNumber)
      ])
    ))

  it("a decimal value is any finite number", () =>
    assert.deepStrictEqual(
      ...outcomes("decimal", {}, [...kept(0, -1.25, 1e300), ...rejected("wrongType", ...notNumber)])
    ))

  it("a number value obeys the range of its definition", () => {
    const cases = [...kept(-1, 0, 2), ...rejected("outOfRange", -2, 3)]
    assert.deepStrictEqual(...outcomes("integer", { validation: { min: -1, max: 2 } }, cases))
    assert.deepStrictEqual(
      ...outcomes("decimal", { validation: { min: -1, max: 2 } }, [...cases, ...rejected("outOfRange", 2.0001)])
    )
  })

  it("a boolean value is true or false", () =>
    assert.deepStrictEqual(
      ...outcomes("boolean", {}, [...kept(true, false), ...rejected("wrongType", "true", 1, 0, [])])
    ))

  it("a date value is an existing day", () =>
    assert.deepStrictEqual(
      ...outcomes("date", {}, [
        ...kept("2026-01-31", "2024-02-29"),
        [" 2026-01-31 ", { stored: "2026-01-31" }],
        ...rejected(
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

  it("a dateTime value is a UTC timestamp with milliseconds", () =>
    assert.deepStrictEqual(
      ...outcomes("dateTime", {}, [
        ...kept("2026-01-31T09:30:00.000Z"),
        ...rejected("wrongType", "2026-01-31T09:30:00Z", "2026-01-31", "2026-02-30T09:30:00.000Z", "now", 0)
      ])
    ))

  const options = [option("a"), option("b"), option("old!")]

  it("a select value is the key of an active option", () =>
    assert.deepStrictEqual(
      ...outcomes("select", { options }, [
        ...kept("a"),
        [" b ", { stored: "b" }],
        ...rejected("unknownOption", "A", "c", ""),
        ...rejected("inactiveOption", "old"),
        ...rejected("wrongType", ["a"], 1, true)
      ])
    ))

  it("a multiSelect value is a list of distinct option keys", () =>
    assert.deepStrictEqual(
      ...outcomes("multiSelect", { options, validation: { maxItems: 2 } }, [
        ...kept(["a"], ["b", "a"]),
        [["a", "b", "a", " b"], { stored: ["a", "b"] }],
        ...rejected("unknownOption", ["a", "c"]),
        [
          ["c", "old"],
          ["unknownOption", "inactiveOption"]
        ],
        ...rejected(
          "tooMany",
          ["a", "b", "c"],
          Array.from({ length: 6000 }, (_, index) => String(index))
        ),
        ...rejected("tooShort", []),
        ...rejected("wrongType", "a", [1], [["a"]], { 0: "a" })
      ])
    ))

  it("a value can keep an inactive option but not select one", () => {
    const select = definition("select", { options })
    assert.deepStrictEqual(outcome(select, "old", "old"), { stored: "old" })
    assert.deepStrictEqual(outcome(select, "old", "a"), ["inactiveOption"])
    const multiSelect = definition("multiSelect", { options })
    assert.deepStrictEqual(outcome(multiSelect, ["a", "old"], ["old"]), { stored: ["a", "old"] })
    assert.deepStrictEqual(outcome(multiSelect, ["a", "old"], ["b"]), ["inactiveOption"])
  })

  it("the error for a long value repeats only part of it", () => {
    const problems = Result.match(read(definition("select"), "x".repeat(100_000)), {
      onSuccess: () => [],
      onFailure: (problems) => problems
    })
    assert.isBelow(problems[0]?.message.length ?? Infinity, 200)
  })
})
