import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Schema } from "effect"
import { canonical, make } from "../../../src/domain/schema/Locale.ts"
import { property } from "../../support/Runs.ts"

describe("canonical locales", () => {
  it.each([
    ["nl", "nl"],
    ["NL", "nl"],
    ["nl-NL", "nl-NL"],
    ["nl_nl", "nl-NL"],
    ["NL_nL", "nl-NL"],
    ["de-ch", "de-CH"],
    ["sr-latn-rs", "sr-Latn-RS"],
    ["zh_HANT_tw", "zh-Hant-TW"],
    ["en-001", "en-001"]
  ])("the locale %s has the canonical form %s", (sent, normal) =>
    assert.deepStrictEqual(canonical(sent), Option.some(normal))
  )

  it.each([
    "",
    "n",
    "nederlands",
    "nl-",
    "-nl",
    "nl--NL",
    "nl NL",
    "nl.NL",
    "nl-NLD",
    "nl-N",
    "nl-NL-",
    "nl-NL-x-a",
    "en-US-u-ca-buddhist",
    "en-US-posix",
    "nl-Latn-Latn",
    "nl-NL-Latn",
    "nl-12",
    "ñl",
    "nl-N\u0131",
    "__proto__",
    "x-private",
    "i-klingon"
  ])("the locale %j is malformed", (sent) => assert.deepStrictEqual(canonical(sent), Option.none()))

  it.each(["xx", "qq", "zy-NL", "und", "und-NL"])("the language of the locale %s is unknown", (sent) =>
    assert.deepStrictEqual(canonical(sent), Option.none())
  )

  it.each(["nl-ZZ", "nl-QQ", "en-AA", "nl-999", "sr-Latn-ZZ"])("the region of the locale %s is unknown", (sent) =>
    assert.deepStrictEqual(canonical(sent), Option.none())
  )

  it.effect.each([
    ["nl-UK", "nl-GB"],
    ["eng", "en"],
    ["eng_us", "en-US"],
    ["iw-IL", "he-IL"]
  ] as const)("the locale %s is not replaced by %s: it is invalid, and the error names both", ([sent, preferred]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(canonical(sent), Option.none())
      const { locale, message } = yield* Effect.flip(make(undefined).check(sent))
      assert.strictEqual(locale, sent)
      assert.include(message, `"${sent}"`)
      assert.include(message, `did you mean ${preferred}?`)
    })
  )

  it.effect.prop(
    "canonical is idempotent and never throws",
    [Schema.String],
    ([sent]) =>
      Effect.sync(() => {
        const normal = canonical(sent)
        if (Option.isSome(normal)) assert.deepStrictEqual(canonical(normal.value), normal)
      }),
    property(500)
  )

  it("canonical is idempotent and never throws for all tags of two or three letters", () => {
    const letters = Array.from("abcdefghijklmnopqrstuvwxyz")
    const tags = letters.flatMap((a) => letters.flatMap((b) => ["", ...letters].map((c) => a + b + c)))
    const throwing = tags.filter((tag) => {
      try {
        const normal = canonical(tag)
        return Option.isSome(normal) && Option.getOrUndefined(canonical(normal.value)) !== normal.value
      } catch {
        return true
      }
    })
    assert.deepStrictEqual(throwing, [])
  })

  it("a locale of known subtags is canonical if BCP 47 prefers no other tag for it as a whole", () => {
    const [languages, scripts] = [
      ["en", "sr", "zh", "sh", "nan", "fil", "mo"],
      ["", "-Latn", "-Hant", "-Qaai", "-Abcd"]
    ]
    for (const language of languages)
      for (const script of scripts)
        for (const region of ["", "-NL", "-CN", "-SU", "-UK", "-419", "-840"]) {
          const tag = `${language}${script}${region}`
          const isPreferred = new Intl.Locale(tag).baseName === tag && !/-(?:SU|UK)$/.test(tag)
          assert.deepStrictEqual(canonical(tag), isPreferred ? Option.some(tag) : Option.none(), tag)
        }
  })

  it("a locale that comes after many made-up ones takes less time than asking Intl for it", () => {
    const letters = Array.from("abcdefghijklmnopqrstuvwxyz")
    const tags = (prefix: string) =>
      letters.flatMap((first) => letters.map((second) => `${prefix}-${first}${second}xy-NL`))
    for (const language of ["en", "de", "fr"]) tags(language).forEach(canonical)
    const timeOf = (ask: (tag: string) => unknown) => {
      const began = performance.now()
      for (let times = 0; times < 2000; times++) ask("mt-MT")
      return performance.now() - began
    }
    const best = (ask: (tag: string) => unknown) => Math.min(timeOf(ask), timeOf(ask), timeOf(ask))
    const asking = best((tag) => new Intl.Locale(tag).baseName)
    assert.isBelow(best(canonical), asking)
  })
})

describe("configured locales", () => {
  it.effect("without LOCALES every known locale is accepted and normalised", () =>
    Effect.gen(function* () {
      const locales = make(undefined)
      assert.strictEqual(yield* locales.check("pt_br"), "pt-BR")
      const error = yield* Effect.flip(locales.check("xx-YY"))
      assert.deepInclude(error, { _tag: "InvalidLocaleError", locale: "xx-YY" })
      assert.include(error.message, '"xx-YY"')
      assert.isFalse("supported" in error && error.supported !== undefined)
    })
  )

  it.effect("the error for a long locale is truncated at a character boundary", () =>
    Effect.gen(function* () {
      for (let length = 90; length < 110; length++) {
        const { locale, message } = yield* Effect.flip(
          make(undefined).check(`${"a".repeat(length)}${"🥐".repeat(1000)}`)
        )
        assert.isBelow(locale.length, 500)
        assert.isTrue(locale.isWellFormed() && message.isWellFormed(), `after ${length} characters`)
      }
    })
  )

  it.effect("with LOCALES only those are accepted, in any spelling, and the error lists them", () =>
    Effect.gen(function* () {
      const locales = make(["nl", "de-CH"])
      assert.strictEqual(yield* locales.check("NL"), "nl")
      assert.strictEqual(yield* locales.check("de_ch"), "de-CH")
      for (const sent of ["nl-NL", "de", "en", "xx"]) {
        const error = yield* Effect.flip(locales.check(sent))
        assert.deepInclude(error, { locale: sent, supported: ["nl", "de-CH"] })
        for (const word of [`"${sent}"`, "nl", "de-CH"]) assert.include(error.message, word)
      }
    })
  )
})
