import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Schema } from "effect"
import { MetaTagDefinitionCreate, PartialMetaTagDefinition } from "../../../src/domain/assets/metaTags/MetaTag.ts"
import { PartialProduct, ProductCreate } from "../../../src/domain/catalog/Product.ts"
import { PartialPost, PostCreate } from "../../../src/domain/posts/Post.ts"
import { text } from "../../../src/domain/schema/Fields.ts"
import { make } from "../../../src/domain/schema/Locale.ts"
import { checkLocales, translations } from "../../../src/domain/schema/Translations.ts"
import { compare, kept, rejected, rejects } from "../cases.ts"

const list = translations({ name: text(5), note: Schema.optionalKey(text(5)) })
const inLocales = (...locales: ReadonlyArray<string>) => locales.map((locale) => ({ locale, name: "a" }))

/** A sorted list of translations in distinct locales that need not exist. */
const many = (count: number) =>
  inLocales(
    ...Array.from({ length: count }, (_, index) => `q${String.fromCharCode(97 + (index % 26))}-${index}`).toSorted()
  )

describe("translations", () => {
  it("translations are sorted by canonical locale", () =>
    assert.deepStrictEqual(
      ...compare(list, [
        [inLocales("nl_be", "EN", "nl", "de-at"), inLocales("de-AT", "en", "nl", "nl-BE")],
        [[{ locale: "nl", name: " a ", note: " b " }], [{ locale: "nl", name: "a", note: "b" }]],
        ...kept([[], inLocales("en", "zh-Hant-TW")])
      ])
    ))

  it("translations with a repeated locale, in any spelling, are rejected", () =>
    assert.deepStrictEqual(
      ...compare(
        list,
        rejects([
          inLocales("nl", "nl"),
          inLocales("nl-NL", "NL_nl"),
          inLocales("nl", "en", "Nl"),
          inLocales("x?", "x?")
        ])
      )
    ))

  it("translations keep an unknown locale unchanged, for the error message", () =>
    assert.deepStrictEqual(...compare(list, kept([inLocales("Klingon"), inLocales("", "xx")]))))

  it("at most a hundred translations are accepted", () =>
    assert.deepStrictEqual(...compare(list, [...kept([many(100)]), [many(101), rejected]])))

  it("every translation requires its fields within their bounds", () =>
    assert.deepStrictEqual(
      ...compare(
        list,
        rejects([
          [{ locale: "nl" }],
          [{ name: "a" }],
          [{ locale: "nl", name: "" }],
          [{ locale: "nl", name: "abcdef" }],
          [{ locale: 1, name: "a" }],
          [null],
          {},
          null,
          "nl"
        ])
      )
    ))

  it("a minimum number of translations can be required", () =>
    assert.deepStrictEqual(
      ...compare(translations({ name: text(5) }, { min: 1 }), [...kept([inLocales("nl")]), [[], rejected]])
    ))

  it.each([
    ["a product", ProductCreate, { type: "default", identifier: "a", name: "a" }, { name: "a" }, ["description"]],
    ["a patch of a product", PartialProduct, {}, { name: "a" }, ["description"]],
    ["a post", PostCreate, { type: "news" }, { title: "a" }, ["excerpt", "body"]],
    ["a patch of a post", PartialPost, {}, { title: "a" }, ["excerpt", "body"]],
    ["a meta tag", MetaTagDefinitionCreate, { key: "a", type: "text" }, { name: "a" }, ["helpText"]],
    ["a patch of a meta tag", PartialMetaTagDefinition, {}, { name: "a" }, ["helpText"]]
  ] as const)("null for an optional text in a translation of %s leaves it out", (_, schema, record, texts, members) => {
    const withTexts = (value: string | null | undefined) => ({
      ...record,
      translations: [
        {
          locale: "nl",
          ...texts,
          ...(value === undefined ? {} : Object.fromEntries(members.map((member) => [member, value])))
        }
      ]
    })
    const required = Object.fromEntries(Object.keys(texts).map((member) => [member, null]))
    assert.deepStrictEqual(
      ...compare(schema, [
        [withTexts(null), withTexts(undefined)],
        ...kept([withTexts("b"), withTexts(undefined)]),
        [{ ...record, translations: [{ locale: "nl", ...required }] }, rejected]
      ])
    )
  })

  it("translations are encoded unchanged", () =>
    assert.deepStrictEqual(Schema.encodeSync(list)(inLocales("de", "nl")), inLocales("de", "nl")))
})

describe("the locales of translations", () => {
  it.effect("checkLocales returns known locales in canonical form", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* checkLocales(make(undefined), inLocales("nl_nl", "en")), inLocales("nl-NL", "en"))
      assert.deepStrictEqual(yield* checkLocales(make(["nl"]), []), [])
    })
  )

  it.effect("checkLocales fails for an unknown or unsupported locale", () =>
    Effect.gen(function* () {
      const unknown = yield* Effect.flip(checkLocales(make(undefined), inLocales("nl", "xx-XX")))
      assert.deepStrictEqual(
        [unknown._tag, unknown.locale, unknown.supported],
        ["InvalidLocaleError", "xx-XX", undefined]
      )
      const unsupported = yield* Effect.flip(checkLocales(make(["nl", "en"]), inLocales("en", "de")))
      assert.deepStrictEqual([unsupported.locale, unsupported.supported], ["de", ["nl", "en"]])
      assert.isTrue(Exit.isSuccess(yield* Effect.exit(checkLocales(make(["nl", "en"]), inLocales("en", "nl")))))
    })
  )
})
