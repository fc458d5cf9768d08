import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import type { MetaTagType, PartialMetaTagDefinition } from "../../../../src/domain/assets/metaTags/MetaTag.ts"
import { empty, type Draft, removedOptions, applyPatch } from "../../../../src/domain/assets/metaTags/MetaTagRules.ts"
import { uuid } from "./MetaTags.ts"
import { cpuMillis } from "../../../support/CpuTime.ts"

const of = (type: MetaTagType, sent: PartialMetaTagDefinition = {}): Draft =>
  Result.getOrThrow(applyPatch(empty({ key: "a", type }), sent, uuid))

/** The path and code of each problem. */
const issues = (before: Draft, sent: PartialMetaTagDefinition) =>
  Result.match(applyPatch(before, sent, uuid), {
    onSuccess: () => [],
    onFailure: (error) =>
      error.issues.map(({ code, in: place, path }) => (place === "body" ? `${path} ${code}` : place))
  })

const optionsOf = ({ options }: Draft) => options.map(({ active, key, position }) => [key, position, active])

describe("meta tag definitions", () => {
  it("a new definition has defaults and the sent members", () => {
    assert.deepStrictEqual(of("text"), {
      key: "a",
      type: "text",
      translations: [],
      required: false,
      filterable: false,
      searchable: false,
      editable: true,
      options: [],
      position: 0
    })
    const sent = {
      translations: [{ locale: "nl", name: "A" }],
      required: true,
      filterable: true,
      searchable: true,
      editable: false,
      position: 3,
      defaultValue: "b",
      validation: { maxLength: 3 },
      group: { key: "g", translations: [], position: 0 }
    }
    assert.deepStrictEqual(of("text", sent), { key: "a", type: "text", options: [], ...sent })
  })

  it("a patch of a definition keeps absent members, clears null ones and merges nested ones", () => {
    const before = of("text", {
      translations: [{ locale: "nl", name: "A" }],
      defaultValue: "bb",
      required: true,
      validation: { minLength: 1, maxLength: 3 },
      group: { key: "g", position: 4 }
    })
    assert.deepStrictEqual(Result.getOrThrow(applyPatch(before, {}, uuid)), before)
    const { group, validation } = Result.getOrThrow(
      applyPatch(before, { validation: { minLength: null, pattern: "b+" }, group: { translations: null } }, uuid)
    )
    assert.deepStrictEqual(validation, { maxLength: 3, pattern: "b+" })
    assert.deepStrictEqual(group, { key: "g", translations: [], position: 4 })
    const cleared = { translations: null, defaultValue: null, validation: null, group: null, required: false }
    assert.deepStrictEqual(Result.getOrThrow(applyPatch(before, cleared, uuid)), of("text"))
    const none = { validation: { minLength: null, maxLength: null }, group: {} }
    assert.notProperty(Result.getOrThrow(applyPatch(before, none, uuid)), "validation")
  })

  it("the key and type of a definition are immutable", () => {
    const before = of("text")
    assert.deepStrictEqual(issues(before, { key: "a", type: "text" }), [])
    assert.deepStrictEqual(issues(before, { key: "b", type: "url" }), ["key immutable", "type immutable"])
  })

  it("the group of a definition requires a key", () => {
    assert.deepStrictEqual(issues(of("text"), { group: { position: 1 } }), ["group.key required"])
    assert.deepStrictEqual(issues(of("text", { group: { key: "g" } }), { group: { key: null } }), [
      "group.key required"
    ])
    assert.deepStrictEqual(issues(of("text"), { group: {} }), [])
  })
})

describe("validation of meta tag definitions", () => {
  const members = { minLength: 1, maxLength: 1, min: 1, max: 1, pattern: "a", maxItems: 1 }
  const own: Readonly<Record<MetaTagType, ReadonlyArray<string>>> = {
    text: ["minLength", "maxLength", "pattern"],
    longText: ["minLength", "maxLength", "pattern"],
    url: ["minLength", "maxLength", "pattern"],
    integer: ["min", "max"],
    decimal: ["min", "max"],
    boolean: [],
    date: [],
    dateTime: [],
    select: [],
    multiSelect: ["maxItems"]
  }

  it.each(Object.keys(own) as ReadonlyArray<MetaTagType>)(
    "a definition of type %s accepts only applicable validation members",
    (type) => {
      for (const [member, value] of Object.entries(members)) {
        const expected = own[type].includes(member) ? [] : [`validation.${member} notApplicable`]
        assert.deepStrictEqual(issues(of(type), { validation: { [member]: value } }), expected)
      }
    }
  )

  it.each([
    ["text", { minLength: 3, maxLength: 2 }, "minLength"],
    ["text", { maxLength: 1001 }, "maxLength"],
    ["text", { minLength: 1001 }, "minLength"],
    ["url", { maxLength: 2049 }, "maxLength"],
    ["decimal", { min: 1.5, max: 1.4 }, "min"],
    ["integer", { min: 0.5 }, "min"],
    ["integer", { max: 2 ** 53 }, "max"]
  ] as const)("the validation of type %s rejects %j", (type, validation, member) =>
    assert.deepStrictEqual(issues(of(type), { validation }), [`validation.${member} outOfRange`])
  )

  it("the validation is checked after the patch is applied", () => {
    const before = of("text", { validation: { minLength: 3 } })
    assert.deepStrictEqual(issues(before, { validation: { maxLength: 2 } }), ["validation.minLength outOfRange"])
    assert.deepStrictEqual(issues(before, { validation: { maxLength: 2, minLength: null } }), [])
  })

  it("an invalid or too complex pattern is rejected", () => {
    for (const pattern of ["(", "(?=a)", "(.{1,500}){1,2}"]) {
      assert.deepStrictEqual(issues(of("text"), { validation: { pattern } }), ["validation.pattern invalidFormat"])
    }
  })
})

describe("default values of meta tags", () => {
  it("a default value is stored in canonical form", () =>
    assert.strictEqual(of("text", { defaultValue: " e\u0301 " }).defaultValue, "é"))

  it("the default value must be valid for the definition after every patch", () => {
    assert.deepStrictEqual(issues(of("integer"), { defaultValue: "1" }), ["defaultValue wrongType"])
    const text = of("text", { defaultValue: "abc" })
    assert.deepStrictEqual(issues(text, { validation: { maxLength: 2 } }), ["defaultValue tooLong"])
    assert.deepStrictEqual(issues(text, { validation: { maxLength: 2 }, defaultValue: "ab" }), [])
    const select = of("select", { options: [{ key: "a" }, { key: "b" }], defaultValue: "a" })
    assert.deepStrictEqual(issues(select, { options: [{ key: "b" }] }), ["defaultValue unknownOption"])
    assert.deepStrictEqual(issues(select, { options: [{ key: "a", active: false }] }), ["defaultValue inactiveOption"])
    assert.deepStrictEqual(issues(select, { options: null, defaultValue: null }), [])
    assert.deepStrictEqual(issues(of("multiSelect"), { defaultValue: [] }), ["defaultValue tooShort"])
  })
})

describe("options of meta tags", () => {
  it("only selects can have options", () => {
    assert.deepStrictEqual(issues(of("text"), { options: [{ key: "a" }] }), ["options notApplicable"])
    assert.deepStrictEqual(issues(of("text"), { options: [] }), [])
  })

  it("options are sorted by position, by default their index, and are active by default", () =>
    assert.deepStrictEqual(
      optionsOf(of("select", { options: [{ key: "c" }, { key: "b", active: false }, { key: "a", position: 0 }] })),
      [
        ["a", 0, true],
        ["c", 0, true],
        ["b", 1, false]
      ]
    ))

  it("options keep their uuid while their key stays, regardless of the sent uuid", () => {
    const before = of("select", { options: [{ key: "a" }, { key: "b" }] })
    const [a, b] = before.options
    const after = Result.getOrThrow(applyPatch(before, { options: [{ key: "b", uuid: a!.uuid }, { key: "c" }] }, uuid))
    assert.strictEqual(after.options[0]?.uuid, b!.uuid)
    assert.notInclude([a!.uuid, b!.uuid], after.options[1]?.uuid)
    assert.deepStrictEqual(removedOptions(before, after), ["a"])
    assert.deepStrictEqual(Result.getOrThrow(applyPatch(before, { options: before.options }, uuid)), before)
  })

  it("options of one request can refer to each other by the sent uuids", () => {
    const [parent, child] = [uuid(), uuid()]
    const { options } = of("select", {
      options: [
        { key: "child", uuid: child, parentOptionUuid: parent },
        { key: "parent", uuid: parent }
      ]
    })
    assert.strictEqual(options[0]?.parentOptionUuid, options[1]?.uuid)
    assert.notStrictEqual(options[1]?.uuid, parent)
    const again = Result.getOrThrow(applyPatch(of("select", {}), { options }, uuid))
    assert.strictEqual(again.options[0]?.parentOptionUuid, again.options[1]?.uuid)
  })

  it("options have unique keys, existing parents and no cycles", () => {
    assert.deepStrictEqual(issues(of("select"), { options: [{ key: "a" }, { key: "b" }, { key: " a".trim() }] }), [
      "options.2.key notUnique"
    ])
    assert.deepStrictEqual(issues(of("select"), { options: [{ key: "a", parentOptionUuid: uuid() }] }), [
      "options.0.parentOptionUuid unknownOption"
    ])
    const [a, b, c] = [uuid(), uuid(), uuid()]
    const cycle = [
      { key: "a", uuid: a, parentOptionUuid: b },
      { key: "b", uuid: b, parentOptionUuid: a },
      { key: "c", uuid: c, parentOptionUuid: a }
    ]
    assert.deepStrictEqual(issues(of("select"), { options: cycle }), ["options.0.parentOptionUuid cycle"])
    assert.deepStrictEqual(issues(of("select"), { options: [{ key: "c", uuid: c, parentOptionUuid: c }] }), [
      "options.0.parentOptionUuid cycle"
    ])
  })

  it("the maximum number of options is validated within a second", () => {
    const uuids = Array.from({ length: 5000 }, uuid)
    const chain = uuids.map((id, index) => ({
      key: `o${index}`,
      uuid: id,
      ...(index === 0 ? {} : { parentOptionUuid: uuids[index - 1]! })
    }))
    const started = cpuMillis()
    assert.lengthOf(of("select", { options: chain.toReversed() }).options, 5000)
    assert.isBelow(cpuMillis() - started, 1000)
  })
})
