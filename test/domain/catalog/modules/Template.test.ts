import { assert, describe, it } from "@effect/vitest"
import { long, many, outcome, rejects, stores, acceptsInt, uuid } from "./outcome.ts"

const output = (fields: object = {}) => ({ key: "print", format: "pdf", widthMm: 148, heightMm: 210, ...fields })
const stored = { dpi: 300, colorSpace: "rgb", bleedMm: 0, cropMarks: false }
const minimal = { outputs: [output()] }
const variable = (fields: object = {}) => ({ key: "phone", type: "text", ...fields })
const variables = (fields: object) => ({ variables: [variable(fields)] })
const outputs = (fields: object) => ({ outputs: [{ key: "a", ...fields }] })

describe("the template module", () => {
  it("the template module has the defaults of the model", () => {
    assert.deepStrictEqual(outcome("template", minimal), {
      version: 1,
      engine: "studio",
      outputs: [{ ...output(), ...stored }],
      pages: 1,
      locales: ["en"],
      variables: []
    })
    const made = outcome("template", { ...minimal, ...variables({}) }) as { readonly variables: ReadonlyArray<object> }
    assert.deepStrictEqual(made.variables, [
      {
        ...variable(),
        translations: [],
        required: false,
        editable: true,
        choices: [],
        source: "user",
        assetCategories: []
      }
    ])
  })

  it("the template module stores values within the bounds", () => {
    assert.deepStrictEqual(
      ...stores(
        "template",
        minimal,
        { templateUuid: uuid(1), templateName: long(255), engine: "chili", previewUrl: "https://example.com/a" },
        [{ locales: ["nl_nl", "NL-nl", "de"] }, { locales: ["nl-NL", "de"] }],
        ...["widthPx 10 heightPx 20", "widthMm 0.01 heightMm 100000"].map((size) => {
          const [a, width, b, height] = size.split(" ")
          const sized = { key: "a", format: "png", [a!]: Number(width), [b!]: Number(height) }
          return [{ outputs: [sized] }, { outputs: [{ ...sized, ...stored }] }] as const
        })
      )
    )
    const around = (member: string) => (value: unknown) => ({ outputs: [output({ [member]: value })] })
    assert.deepStrictEqual(...acceptsInt("template", {}, "dpi", [36, 2400], around("dpi")))
    assert.deepStrictEqual(...acceptsInt("template", minimal, "pages", [1, 500]))
    assert.deepStrictEqual(...acceptsInt("template", minimal, "version", [1, 1_000_000_000]))
    for (const fields of [
      { source: "location", sourcePath: "contact.phone" },
      { source: "location", sourcePath: "other.extraDna3" },
      { source: "userProfile", sourcePath: "email" },
      { source: "product", sourcePath: "identifier" },
      { source: "fixed", fixedValue: false },
      { source: "fixed", fixedValue: 0 },
      { type: "choice", choices: ["a"] },
      { type: "image", assetCategories: ["logos"] }
    ]) {
      assert.notInstanceOf(outcome("template", { ...minimal, ...variables(fields) }), Array, JSON.stringify(fields))
    }
  })

  it("the template module rejects values outside of the bounds", () =>
    assert.deepStrictEqual(
      ...rejects(
        "template",
        minimal,
        [{ templateUuid: "a" }, "templateUuid invalidFormat"],
        [{ engine: "word" }, "engine notAllowed"],
        [{ locales: [] }, "locales tooFew"],
        [{ outputs: many(21, (index) => output({ key: `${index}` })) }, "outputs tooMany"],
        [{ outputs: [output({ bleedMm: 50.01 })] }, "outputs.0.bleedMm outOfRange"],
        [{ variables: many(301, (index) => variable({ key: `${index}` })) }, "variables tooMany"],
        [variables({ type: "video" }), "variables.0.type notAllowed"],
        [variables({ source: "weather" }), "variables.0.source notAllowed"]
      )
    ))

  it("the template module rejects every invalid configuration with all its problems", () => {
    assert.deepStrictEqual(
      ...rejects(
        "template",
        {},
        [{}, "outputs noOutputs"],
        [{ outputs: [] }, "outputs noOutputs"],
        ...["pdf", "png", "jpg", "mp4", "html"].map(
          (format) => [outputs({ format }), "outputs.0 missingDimensions"] as const
        ),
        [outputs({ format: "pdf", widthPx: 1, heightPx: 1 }), "outputs.0 missingDimensions"],
        [outputs({ format: "pdf", widthMm: 1 }), "outputs.0 missingDimensions"],
        [outputs({ format: "png", widthMm: 1, heightPx: 1 }), "outputs.0 missingDimensions"],
        [outputs({ format: "mp4", widthMm: 1, heightMm: 1 }), "outputs.0 missingDimensions"]
      )
    )
    assert.deepStrictEqual(
      ...rejects(
        "template",
        minimal,
        [{ outputs: [output(), output()] }, "outputs.1.key duplicate"],
        [{ variables: [variable(), variable()] }, "variables.1.key duplicate"],
        [variables({ source: "location" }), "variables.0.sourcePath unknownSourcePath"],
        [variables({ source: "location", sourcePath: "contact.fax" }), "variables.0.sourcePath unknownSourcePath"],
        [variables({ source: "location", sourcePath: "Contact.Phone" }), "variables.0.sourcePath unknownSourcePath"],
        [variables({ source: "location", sourcePath: "other.extraDna11" }), "variables.0.sourcePath unknownSourcePath"],
        [variables({ source: "userProfile", sourcePath: "contact.phone" }), "variables.0.sourcePath unknownSourcePath"],
        [variables({ source: "fixed" }), "variables.0.fixedValue fixedWithoutValue"],
        [variables({ type: "choice" }), "variables.0.choices noChoices"],
        [
          {
            outputs: [],
            variables: [variable({ type: "choice", source: "fixed" }), variable({ key: "b", source: "product" })]
          },
          "outputs noOutputs",
          "variables.0.fixedValue fixedWithoutValue",
          "variables.0.choices noChoices",
          "variables.1.sourcePath unknownSourcePath"
        ]
      )
    )
    const gone = outcome("template", { ...minimal, ...variables({ assetCategories: ["a", "b"] }) }, () => undefined)
    assert.deepStrictEqual(
      gone,
      [0, 1].map((index) => `variables.0.assetCategories.${index} unknownCategory`)
    )
  })
})
