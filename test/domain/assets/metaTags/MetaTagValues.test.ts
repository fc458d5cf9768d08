import { assert, describe, it, vi } from "@effect/vitest"
import { Effect, Result } from "effect"
import { RE2JS } from "re2js"
import type { MetaTagInput } from "../../../../src/domain/assets/metaTags/AssetMetaTag.ts"
import type { MetaTagValue } from "../../../../src/domain/assets/metaTags/MetaTag.ts"
import { type Definition, read } from "../../../../src/domain/assets/metaTags/MetaTagValue.ts"
import * as MetaTagValues from "../../../../src/domain/assets/metaTags/MetaTagValues.ts"
import { definition, option, uuid } from "./MetaTags.ts"

const definitions: ReadonlyArray<Definition> = [
  definition("text", { key: "title", required: true }),
  definition("text", { key: "code", validation: { pattern: "[A-Z]+", maxLength: 3 }, editable: false }),
  definition("integer", { key: "year", defaultValue: 2026, required: true }),
  definition("boolean", { key: "approved", defaultValue: false }),
  definition("multiSelect", { key: "colours", options: [option("red"), option("blue"), option("old!")] }),
  definition("text", { key: "elsewhere", required: true })
]
const named = (key: string) => definitions.find((candidate) => candidate.key === key) ?? assert.fail(key)

interface Given {
  readonly mode: "creation" | "merge"
  readonly sent: Readonly<Record<string, unknown>> | ReadonlyArray<MetaTagInput>
  readonly stored?: Readonly<Record<string, MetaTagValue>>
  readonly applicable?: ReadonlyArray<string>
}

const validate = (values: MetaTagValues.Validated) => Effect.runSync(Effect.result(MetaTagValues.validate(values)))

const inputs = (sent: Given["sent"]) =>
  (Array.isArray(sent)
    ? sent
    : Object.entries(sent).map(([key, value]) => ({ key, value }))) as ReadonlyArray<MetaTagInput>

/** The values set and removed by key, or the key and code of each issue. */
const validated = ({ applicable, mode, sent, stored = {} }: Given) => {
  const all = definitions.map(({ key }) => key).filter((key) => key !== "elsewhere")
  const held = new Map(Object.entries(stored).map(([key, value]) => [named(key).uuid, value]))
  return Result.match(
    validate({ mode, definitions, applicable: new Set(applicable ?? all), stored: held, sent: inputs(sent) }),
    {
      onSuccess: ({ removed, set }) => ({
        set: Object.fromEntries(set.map(({ key, uuid, value }) => [key, uuid === named(key).uuid ? value : "other"])),
        removed: removed.map((gone) => definitions.find((candidate) => candidate.uuid === gone)?.key)
      }),
      onFailure: ({ issues }) => issues.map(({ code, key }) => `${key} ${code}`)
    }
  )
}
const creation = (sent: Given["sent"], rest: Partial<Given> = {}) => validated({ mode: "creation", sent, ...rest })
const merge = (sent: Given["sent"], stored: Given["stored"] = {}, rest: Partial<Given> = {}) =>
  validated({ mode: "merge", sent, stored, ...rest })

describe("meta tag values of a new asset", () => {
  it("a new asset has the sent values in canonical form and defaults for the others", () => {
    assert.deepStrictEqual(creation({ title: " a ", code: "AB", colours: ["red", "red"] }), {
      set: { title: "a", code: "AB", colours: ["red"], year: 2026, approved: false },
      removed: []
    })
    assert.deepStrictEqual(creation({ title: "a", year: 1, approved: true }), {
      set: { title: "a", year: 1, approved: true },
      removed: []
    })
  })

  it("a new asset requires required values; null declines a default, and an empty list is no value", () => {
    assert.deepStrictEqual(creation({}), ["title required"])
    assert.deepStrictEqual(creation({ title: null, year: null }), ["title required", "year required"])
    assert.deepStrictEqual(creation({ title: "a", approved: null, colours: [] }), {
      set: { title: "a", year: 2026 },
      removed: []
    })
  })

  it("a new asset has no values of definitions that do not apply", () => {
    assert.deepStrictEqual(creation({}, { applicable: ["approved"] }), { set: { approved: false }, removed: [] })
    assert.deepStrictEqual(creation({ title: "a", elsewhere: "b" }), ["elsewhere notApplicable"])
    assert.deepStrictEqual(creation({ elsewhere: null }, { applicable: ["code"] }), { set: {}, removed: [] })
  })
})

describe("sent meta tag values", () => {
  it("a value names its definition by key or uuid, and both must match if both are sent", () => {
    const { key, uuid: id } = named("title")
    for (const name of [{ key }, { uuid: id }, { key, uuid: id }]) {
      assert.deepStrictEqual(merge([{ ...name, value: "a" }]), { set: { title: "a" }, removed: [] })
    }
    const unknown = uuid()
    assert.deepStrictEqual(
      merge([
        { uuid: unknown, value: 1 },
        { key: "Title", value: 1 },
        { key, uuid: unknown, value: 1 }
      ]),
      [`${unknown} unknownKey`, "Title unknownKey", "title unknownKey"]
    )
    assert.deepStrictEqual(merge({ elsewher: null }), ["elsewher unknownKey"])
  })

  it("the error for an unknown key suggests the nearest key", () => {
    const result = validate({
      mode: "merge",
      definitions,
      applicable: new Set(),
      stored: new Map(),
      sent: [{ key: "colour", value: 1 }]
    })
    assert.match(Result.isFailure(result) ? result.failure.message : "", /did you mean colours\?$/)
  })

  it("all invalid values are reported at once, and nothing is written", () =>
    assert.deepStrictEqual(
      creation({ code: "abcd", year: "x", colours: ["red", "green", "old"], nothing: 1, approved: true }),
      [
        "code tooLong",
        "year wrongType",
        "colours unknownOption",
        "colours inactiveOption",
        "nothing unknownKey",
        "title required"
      ]
    ))

  it("more than one value for a definition is rejected", () =>
    assert.deepStrictEqual(
      merge([
        { key: "title", value: "a" },
        { uuid: named("title").uuid, value: "b" }
      ]),
      ["title tooMany"]
    ))
})

describe("merges of meta tag values", () => {
  it("a merge writes only sent values that differ", () => {
    const stored = { title: "a", year: 2026, colours: ["red"] }
    assert.deepStrictEqual(merge({}, stored), { set: {}, removed: [] })
    assert.deepStrictEqual(merge({ title: " a ", colours: ["red", "red"], year: 2027 }, stored), {
      set: { year: 2027 },
      removed: []
    })
    assert.deepStrictEqual(merge({ approved: true }), { set: { approved: true }, removed: [] })
  })

  it("null or an empty list removes a value unless it is required", () => {
    assert.deepStrictEqual(merge({ approved: null, colours: [] }, { approved: true, colours: ["red"] }), {
      set: {},
      removed: ["approved", "colours"]
    })
    assert.deepStrictEqual(merge({ approved: null, title: null }), { set: {}, removed: [] })
    assert.deepStrictEqual(merge({ title: null }, { title: "a" }), ["title required"])
    assert.deepStrictEqual(merge({ elsewhere: null }, { elsewhere: "a" }), { set: {}, removed: ["elsewhere"] })
  })

  it("a value that is not editable can only be sent unchanged", () => {
    assert.deepStrictEqual(merge({ code: "B" }, { code: "A" }), ["code notEditable"])
    assert.deepStrictEqual(merge({ code: "B" }), ["code notEditable"])
    assert.deepStrictEqual(merge({ code: null }, { code: "A" }), ["code notEditable"])
    assert.deepStrictEqual(merge({ code: " A" }, { code: "A" }), { set: {}, removed: [] })
  })

  it("stored values can be sent back even if they could no longer be set", () => {
    const stored = { code: "lower", colours: ["old"], elsewhere: "a" }
    assert.deepStrictEqual(merge(stored, stored), { set: {}, removed: [] })
    assert.deepStrictEqual(merge({ colours: ["old", "red"] }, stored), {
      set: { colours: ["old", "red"] },
      removed: []
    })
    assert.deepStrictEqual(merge({ colours: ["old"] }, { colours: ["red"] }), ["colours inactiveOption"])
    assert.deepStrictEqual(merge({ elsewhere: "b" }, stored), ["elsewhere notApplicable"])
  })
})

describe("the size of the values of an asset", () => {
  /** Options with the longest keys. */
  const many = Array.from({ length: 5000 }, (_, index) => option(`${index}`.padStart(100, "€")))
  const tags = ["one", "two", "three"].map((key) => definition("multiSelect", { key, options: many }))
  const chosen = many.map(({ key }) => key)
  const merged = (stored: ReadonlyArray<number>, sent: Readonly<Record<string, MetaTagValue | null>>) =>
    Result.match(
      validate({
        mode: "merge",
        definitions: tags,
        applicable: new Set(tags.map(({ key }) => key)),
        stored: new Map(stored.map((index) => [tags[index]!.uuid, chosen])),
        sent: inputs(sent)
      }),
      {
        onSuccess: ({ removed, set }) => [set.length, removed.length],
        onFailure: ({ issues }) => issues.map(({ code, key }) => `${key} ${code}`)
      }
    )

  it("the size of the values of an asset is limited over all meta tags; one can have all of 5,000 options", () => {
    assert.deepStrictEqual(merged([], { one: chosen }), [1, 0])
    assert.deepStrictEqual(merged([0], { two: chosen }), [1, 0])
    assert.deepStrictEqual(merged([0, 1], { three: chosen }), ["three tooMany"])
    assert.deepStrictEqual(merged([], { one: chosen, two: chosen, three: chosen }), ["one tooMany"])
  })

  it("values of the largest size can be removed and exchanged", () => {
    assert.deepStrictEqual(merged([0, 1, 2], { one: null }), [0, 1])
    assert.deepStrictEqual(merged([0, 1], { one: null, three: chosen }), [1, 1])
  })
})

describe("patterns of many values", () => {
  const tags = Array.from({ length: 20 }, (_, index) =>
    definition("longText", { key: `tag${index}`, validation: { pattern: `(?:[a-z]?[a-z0-9]?){60}.{100}${index}` } })
  )
  const values: MetaTagValues.Validated = {
    mode: "merge",
    definitions: tags,
    applicable: new Set(tags.map(({ key }) => key)),
    stored: new Map(),
    sent: tags.map(({ key }) => ({ key, value: "a".repeat(10_000) }))
  }

  it.effect("other requests run while values are matched with slow patterns", () =>
    Effect.gen(function* () {
      let turns = 0
      const others = Effect.forever(
        Effect.andThen(
          Effect.yieldNow,
          Effect.sync(() => turns++)
        )
      )
      yield* Effect.forkScoped(others, { startImmediately: true })
      const { issues } = yield* Effect.flip(MetaTagValues.validate(values))
      assert.lengthOf(issues, 20)
      assert.isAtLeast(turns, 3)
    }).pipe(Effect.scoped)
  )

  it("a pattern that several values have is compiled once", () => {
    const compile = vi.spyOn(RE2JS, "compile")
    const pattern = "[a-y]{3}"
    for (const value of ["abc", "abd", "abz"]) {
      const tag = definition("text", { key: "code", validation: { pattern } })
      assert.strictEqual(Result.isSuccess(read(tag, value)), value !== "abz")
    }
    assert.lengthOf(
      compile.mock.calls.filter(([compiled]) => compiled === pattern),
      1
    )
  })
})
