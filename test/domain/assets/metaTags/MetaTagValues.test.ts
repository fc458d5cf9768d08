import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { MetaTagInput } from "../../../../src/domain/assets/metaTags/AssetMetaTag.ts"
import type { MetaTagValue } from "../../../../src/domain/assets/metaTags/MetaTag.ts"
import type { Definition } from "../../../../src/domain/assets/metaTags/MetaTagValue.ts"
import { validate } from "../../../../src/domain/assets/metaTags/MetaTagValues.ts"
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

const inputs = (sent: Given["sent"]) =>
  (Array.isArray(sent)
    ? sent
    : Object.entries(sent).map(([key, value]) => ({ key, value }))) as ReadonlyArray<MetaTagInput>

/** What is set and removed by key, or the issues as `key code`. */
const judged = ({ applicable, mode, sent, stored = {} }: Given) => {
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
const creation = (sent: Given["sent"], rest: Partial<Given> = {}) => judged({ mode: "creation", sent, ...rest })
const merge = (sent: Given["sent"], stored: Given["stored"] = {}, rest: Partial<Given> = {}) =>
  judged({ mode: "merge", sent, stored, ...rest })

describe("the values of a new asset", () => {
  it("are those that were sent, in normal form, and the defaults of the others", () => {
    assert.deepStrictEqual(creation({ title: " a ", code: "AB", colours: ["red", "red"] }), {
      set: { title: "a", code: "AB", colours: ["red"], year: 2026, approved: false },
      removed: []
    })
    assert.deepStrictEqual(creation({ title: "a", year: 1, approved: true }), {
      set: { title: "a", year: 1, approved: true },
      removed: []
    })
  })

  it("have to hold what is required; null declines a default, and an empty list says nothing", () => {
    assert.deepStrictEqual(creation({}), ["title required"])
    assert.deepStrictEqual(creation({ title: null, year: null }), ["title required", "year required"])
    assert.deepStrictEqual(creation({ title: "a", approved: null, colours: [] }), {
      set: { title: "a", year: 2026 },
      removed: []
    })
  })

  it("hold nothing of definitions that do not apply to the asset", () => {
    assert.deepStrictEqual(creation({}, { applicable: ["approved"] }), { set: { approved: false }, removed: [] })
    assert.deepStrictEqual(creation({ title: "a", elsewhere: "b" }), ["elsewhere notApplicable"])
    assert.deepStrictEqual(creation({ elsewhere: null }, { applicable: ["code"] }), { set: {}, removed: [] })
  })
})

describe("sent values", () => {
  it("name their definition by key or uuid, and where both are sent they mean the same", () => {
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

  it("that are unknown are told what was probably meant", () => {
    const result = validate({
      mode: "merge",
      definitions,
      applicable: new Set(),
      stored: new Map(),
      sent: [{ key: "colour", value: 1 }]
    })
    assert.match(Result.isFailure(result) ? result.failure.message : "", /did you mean colours\?$/)
  })

  it("are told everything that is wrong with them at once, and then nothing is written", () =>
    assert.deepStrictEqual(
      creation({ code: "abcd", year: "x", colours: ["red", "green", "old"], nobody: 1, approved: true }),
      [
        "code tooLong",
        "year wrongType",
        "colours unknownOption",
        "colours inactiveOption",
        "nobody unknownKey",
        "title required"
      ]
    ))

  it("say one thing per definition", () =>
    assert.deepStrictEqual(
      merge([
        { key: "title", value: "a" },
        { uuid: named("title").uuid, value: "b" }
      ]),
      ["title tooMany"]
    ))
})

describe("a merge", () => {
  it("touches nothing but what was sent, and not even that when it is the same", () => {
    const stored = { title: "a", year: 2026, colours: ["red"] }
    assert.deepStrictEqual(merge({}, stored), { set: {}, removed: [] })
    assert.deepStrictEqual(merge({ title: " a ", colours: ["red", "red"], year: 2027 }, stored), {
      set: { year: 2027 },
      removed: []
    })
    assert.deepStrictEqual(merge({ approved: true }), { set: { approved: true }, removed: [] })
  })

  it("removes with null or an empty list, but nothing that is required", () => {
    assert.deepStrictEqual(merge({ approved: null, colours: [] }, { approved: true, colours: ["red"] }), {
      set: {},
      removed: ["approved", "colours"]
    })
    assert.deepStrictEqual(merge({ approved: null, title: null }), { set: {}, removed: [] })
    assert.deepStrictEqual(merge({ title: null }, { title: "a" }), ["title required"])
    assert.deepStrictEqual(merge({ elsewhere: null }, { elsewhere: "a" }), { set: {}, removed: ["elsewhere"] })
  })

  it("leaves what can only be given to a new asset, unless it stays the same", () => {
    assert.deepStrictEqual(merge({ code: "B" }, { code: "A" }), ["code notEditable"])
    assert.deepStrictEqual(merge({ code: "B" }), ["code notEditable"])
    assert.deepStrictEqual(merge({ code: null }, { code: "A" }), ["code notEditable"])
    assert.deepStrictEqual(merge({ code: " A" }, { code: "A" }), { set: {}, removed: [] })
  })

  it("takes back what was read, even where it could not be set any more", () => {
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
