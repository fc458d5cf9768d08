import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Schema } from "effect"
import { text } from "../../../src/domain/schema/Fields.ts"
import { make } from "../../../src/domain/schema/Locale.ts"
import { checkLocales, translations } from "../../../src/domain/schema/Translations.ts"
import { compare, kept, refused, refuses } from "../cases.ts"

const list = translations({ name: text(5), note: Schema.optionalKey(text(5)) })
const inLocales = (...locales: ReadonlyArray<string>) => locales.map((locale) => ({ locale, name: "a" }))

/** Every two letters: more locales than are known, and enough for more translations than are allowed. */
const many = (count: number) =>
  inLocales(
    ...Array.from({ length: count }, (_, index) => `q${String.fromCharCode(97 + (index % 26))}-${index}`).toSorted()
  )

describe("translations", () => {
  it("are sorted by their locales in canonical form", () =>
    assert.deepStrictEqual(
      ...compare(list, [
        [inLocales("nl_be", "EN", "nl", "de-at"), inLocales("de-AT", "en", "nl", "nl-BE")],
        [[{ locale: "nl", name: " a ", note: " b " }], [{ locale: "nl", name: "a", note: "b" }]],
        ...kept([[], inLocales("en", "zh-Hant-TW")])
      ])
    ))

  it("say a thing once per locale, however it is written", () =>
    assert.deepStrictEqual(
      ...compare(
        list,
        refuses([
          inLocales("nl", "nl"),
          inLocales("nl-NL", "NL_nl"),
          inLocales("nl", "en", "Nl"),
          inLocales("x?", "x?")
        ])
      )
    ))

  it("keep a locale that nobody knows as it was sent, for the error that names it", () =>
    assert.deepStrictEqual(...compare(list, kept([inLocales("Klingon"), inLocales("", "xx")]))))

  it("are at most a hundred", () =>
    assert.deepStrictEqual(...compare(list, [...kept([many(100)]), [many(101), refused]])))

  it("need their fields, within the bounds, in every item", () =>
    assert.deepStrictEqual(
      ...compare(
        list,
        refuses([
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

  it("can be asked to be there", () =>
    assert.deepStrictEqual(
      ...compare(translations({ name: text(5) }, { min: 1 }), [...kept([inLocales("nl")]), [[], refused]])
    ))

  it("are written as they are", () =>
    assert.deepStrictEqual(Schema.encodeSync(list)(inLocales("de", "nl")), inLocales("de", "nl")))
})

describe("the locales of translations", () => {
  it.effect("come out canonical when they are known", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* checkLocales(make(undefined), inLocales("nl_nl", "en")), inLocales("nl-NL", "en"))
      assert.deepStrictEqual(yield* checkLocales(make(["nl"]), []), [])
    })
  )

  it.effect("are refused when one is unknown or not supported here", () =>
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
