import { assert, describe, it } from "@effect/vitest"
import { long, many, outcome, rejects, stores, acceptsInt, uuid } from "./outcome.ts"
import { cpuMillis } from "../../../support/CpuTime.ts"

const field = (fields: object = {}) => ({ key: "company", type: "text", ...fields })
const minimal = { fields: [field()] }
const fields = (more: object) => ({ fields: [field(more)] })
const validation = (rules: object) => fields({ validation: rules })

const types = "text textarea email phone url number date checkbox country state file asset location message".split(" ")

describe("the form builder module", () => {
  it("the form builder module has the defaults of the model", () =>
    assert.deepStrictEqual(outcome("form-builder", minimal), {
      formUuid: uuid(1),
      translations: [],
      fields: [{ ...field(), translations: [], required: false, width: 100, options: [], position: 0 }],
      recipients: [],
      attachToOrder: true
    }))

  it("the form builder module stores values within the bounds", () => {
    assert.deepStrictEqual(
      ...stores(
        "form-builder",
        minimal,
        {
          formUuid: uuid(1),
          translations: [{ locale: "nl", title: "Bestellen", intro: "a\nb" }],
          attachToOrder: false
        },
        { recipients: many(20, (index) => `a${index}@example.com`) }
      )
    )
    for (const more of [
      ...types.map((type) => ({ type })),
      ...["select", "multiselect", "radio"].map((type) => ({ type, options: [{ value: "a" }] })),
      ...[25, 50, 75, 100].map((width) => ({ width })),
      ...["a", 1.5, true, ["a", "b"]].map((defaultValue) => ({ defaultValue })),
      { key: `a${long(49)}` },
      { validation: { min: -1.5, max: -1.5, minLength: 0, maxLength: 0, pattern: "^[0-9]{4} ?[A-Z]{2}$" } },
      { validation: { pattern: "(a+)+$" } },
      { validation: { pattern: `.{1,1000}` } }
    ]) {
      assert.notInstanceOf(outcome("form-builder", fields(more)), Array, JSON.stringify(more))
    }
    const visible = field({ key: "b", visibleWhen: { field: "company", operator: "equals", value: "x" } })
    assert.notInstanceOf(outcome("form-builder", { fields: [field(), visible] }), Array)
    assert.notInstanceOf(outcome("form-builder", { fields: many(100, (index) => field({ key: `a${index}` })) }), Array)
    assert.deepStrictEqual(
      ...acceptsInt("form-builder", {}, "maxLength", [0, 100_000], (maxLength) => validation({ maxLength }))
    )
  })

  it("the form builder module rejects values outside of the bounds", () =>
    assert.deepStrictEqual(
      ...rejects(
        "form-builder",
        minimal,
        [{ fields: [] }, "fields tooFew"],
        [{ fields: many(101, (index) => field({ key: `a${index}` })) }, "fields tooMany"],
        [{ fields: [field(), field()] }, "fields.1.key duplicate"],
        ...["", "A", "1a", "a-b", `a${long(50)}`].map(
          (key) => [fields({ key }), "fields.0.key invalidFormat"] as const
        ),
        [fields({ type: "slider" }), "fields.0.type notAllowed"],
        [fields({ width: 33 }), "fields.0.width notAllowed"],
        ...["select", "multiselect", "radio"].map((type) => [fields({ type }), "fields.0.options required"] as const),
        [fields({ type: "radio", options: many(2, () => ({ value: "a" })) }), "fields.0.options.1.value duplicate"],
        [validation({ min: 2, max: 1 }), "fields.0.validation.max notInOrder"],
        [validation({ minLength: 2, maxLength: 1 }), "fields.0.validation.maxLength notInOrder"],
        [fields({ visibleWhen: { field: "other", operator: "equals" } }), "fields.0.visibleWhen.field unknownField"],
        [fields({ visibleWhen: { field: "company", operator: "equals" } }), "fields.0.visibleWhen.field unknownField"],
        [{ recipients: many(21, (index) => `a${index}@example.com`) }, "recipients tooMany"],
        [{ recipients: ["a"] }, "recipients.0 invalidFormat"]
      )
    ))

  it("the form builder rejects patterns that are invalid, not linear or too large", () =>
    assert.deepStrictEqual(
      ...rejects(
        "form-builder",
        minimal,
        ...["[", "(a", "(?=a)b", "(?<!a)b", "(a)\\1", "a**", "\\", "((a{100}){100}){100}"].map(
          (pattern) =>
            [
              validation({ pattern }),
              `fields.0.validation.pattern ${pattern.length > 10 ? "tooLong" : "invalidPattern"}`
            ] as const
        ),
        [validation({ pattern: `(${long(190)}){1000}` }), "fields.0.validation.pattern tooLong"],
        [validation({ pattern: "a{0,1000}".repeat(20) }), "fields.0.validation.pattern tooLong"],
        [validation({ pattern: long(201) }), "fields.0.validation.pattern tooLong"],
        ...["a\0b", "a\ud800b"].map(
          (pattern) => [validation({ pattern }), "fields.0.validation.pattern invalidCharacters"] as const
        )
      )
    ))

  it("the form builder validates a hundred of the most costly valid patterns within 2 s", () => {
    const pattern = `(${"\\pL".repeat(30)}){19}`
    const start = cpuMillis()
    const all = many(100, (index) => field({ key: `a${index}`, validation: { pattern } }))
    assert.notInstanceOf(outcome("form-builder", { fields: all }), Array)
    assert.isBelow(cpuMillis() - start, 2000)
  })

  it("the form builder rejects patterns whose compilation takes longer than 250 ms together, and names the field", () => {
    const patternsOf = (pattern: (index: number) => string) => ({
      fields: many(100, (index) => field({ key: `a${index}`, validation: { pattern: pattern(index) } }))
    })
    for (const pattern of [
      (index: number) => `(?i)${"\\PL|".repeat(48)}${index}`,
      (index: number) => `(?i)${"[B-\u9fff]".repeat(38)}${index}`,
      (index: number) => `(?i)${"[B-\\x{1E942}]".repeat(14)}${index}`,
      (index: number) => `(?i)${"[^a]|".repeat(38)}${index}`,
      (index: number) => `(${"a".repeat(88)}){${19 - (index % 10)}}${index}`
    ]) {
      const start = cpuMillis()
      const problems = outcome("form-builder", patternsOf(pattern))
      assert.isBelow(cpuMillis() - start, 750, pattern(0))
      assert.isArray(problems)
      assert.match(String((problems as ReadonlyArray<unknown>)[0]), /^fields\.\d+\.validation\.pattern tooMuch$/)
    }
    const usual = patternsOf((index) => `(?i)^[\\w.+-]+@[a-z0-9-]{1,${index + 1}}\\.[a-z]{2,}$`)
    assert.notInstanceOf(outcome("form-builder", usual), Array)
  })
})
