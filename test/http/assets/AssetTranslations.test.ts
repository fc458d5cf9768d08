import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { isCountryCode } from "../../../src/domain/schema/Country.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import * as TestServer from "../../support/TestServer.ts"
import { createAsset, patchAsset as patch, readAsset as read } from "../../support/requests/AssetRequests.ts"
import { expectError, send } from "../../support/requests/Requests.ts"

const entry = (locale: string, name: string | null, rest: object = {}) => ({ locale, name, ...rest })
const translate = (uuid: string, ...translations: ReadonlyArray<object>) => patch(uuid, { translations })

layer(TestServer.layer(), { excludeTestServices: true })("Translations of assets", (it) => {
  it.effect("asset translations are merged by locale: new ones are added, sent members change, others are kept", () =>
    Effect.gen(function* () {
      const uuid = yield* createAsset({ translations: [entry("nl-NL", "Zomer", { description: "Warm" })] })
      yield* translate(uuid, entry("en", "Summer"), { locale: "nl_nl", description: "Heet" })
      assert.deepStrictEqual((yield* read(uuid)).translations, [
        entry("en", "Summer"),
        entry("nl-NL", "Zomer", { description: "Heet" })
      ])
      yield* translate(uuid, entry("de", "Sommer"), entry("NL-nl", "Zon", { description: null }))
      assert.deepStrictEqual((yield* read(uuid)).translations, [
        entry("de", "Sommer"),
        entry("en", "Summer"),
        entry("nl-NL", "Zon")
      ])
      yield* translate(uuid, entry("EN", null), entry("fr", null), entry("de", null, { description: "Heiß" }))
      assert.deepStrictEqual((yield* read(uuid)).translations, [entry("nl-NL", "Zon")])
      yield* translate(uuid, entry("nl-NL", null), entry("nl", "Zon"))
      assert.deepStrictEqual((yield* read(uuid)).translations, [entry("nl", "Zon")])
    })
  )

  it.effect("a patch with invalid asset translations is rejected and writes nothing", () =>
    Effect.gen(function* () {
      const uuid = yield* createAsset({ translations: [entry("nl", "Zomer"), entry("en", "Summer")] })
      const before = yield* read(uuid, "validFrom")
      for (const translations of [
        [entry("nl", null), entry("en", null)],
        [{ locale: "de" }],
        [{ locale: "de", description: "Heiß" }],
        [entry("nl", "a"), entry("NL", "b")],
        [entry("nl", "")],
        [entry("nl", "a".repeat(256))],
        [{ locale: "nl", description: "a".repeat(5001) }],
        [{ name: "a" }],
        null
      ]) {
        const body = expectError(
          yield* patch(uuid, { translations, validFrom: "2026-01-01T00:00:00.000Z" }),
          400,
          "InvalidRequestError",
          JSON.stringify(translations)
        )
        assert.match(body.issues[0].path, /^translations/)
      }
      const body = expectError(yield* translate(uuid, entry("xx-YY", "a")), 400, "InvalidLocaleError")
      assert.strictEqual(body.locale, "xx-YY")
      assert.deepStrictEqual(yield* read(uuid, "validFrom"), before)
    })
  )

  it.effect("an asset has at most a hundred translations, at creation and after merges", () =>
    Effect.gen(function* () {
      const codes = Array.from({ length: 676 }, (_, index) =>
        String.fromCharCode(65 + Math.floor(index / 26), 65 + (index % 26))
      ).filter(isCountryCode)
      const many = codes.slice(0, 100).map((code) => entry(`en-${code}`, code))
      const uuid = yield* createAsset({ translations: many })
      const { body, status } = yield* translate(uuid, entry("nl", "a"))
      assert.deepStrictEqual([status, body.issues[0].path, body.issues[0].code], [400, "translations", "tooMany"])
      assert.strictEqual((yield* translate(uuid, entry(`en-${codes[0]}`, null), entry("nl", "a"))).status, 200)
      assert.lengthOf((yield* read(uuid)).translations, 100)
    })
  )

  it.effect("concurrent changes of different asset translations are all kept", () =>
    Effect.gen(function* () {
      const uuid = yield* createAsset({ translations: [entry("en", "Asset")] })
      const languages =
        "aa af am ar az be bg bn bs ca cs cy da de el es et eu fa fi fr ga gl gu he hi hr hu hy id".split(" ")
      const more = "is it ja ka kk km kn ko lo lt lv mk ml mn mr ms my nb ne nl".split(" ")
      const answers = yield* Effect.forEach(
        [...languages, ...more],
        (locale) => translate(uuid, entry(locale, `Name ${locale}`)),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual([answers.length, new Set(answers.map(({ status }) => status))], [50, new Set([200])])
      const { translations } = yield* read(uuid)
      assert.lengthOf(translations, 51)
      const searches = yield* Effect.forEach(["aa", "nl"], (word) =>
        send("GET", `/v1/assets/search?search=name ${word}`)
      )
      assert.deepStrictEqual(
        searches.map(({ body }) => body.pagination.total),
        [1, 1]
      )
    })
  )
})

layer(TestServer.layer({ LOCALES: "nl,en" }), { excludeTestServices: true })(
  "Translations of assets with configured locales",
  (it) => {
    it.effect("a translation whose locale is no longer in LOCALES can be removed, and not changed", () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const uuid = yield* createAsset({ translations: [entry("nl", "Zomer")] })
        const both = [entry("de-CH", "Sommer"), entry("nl", "Zomer")]
        yield* pooled`update assets set translations = ${JSON.stringify(both)}::jsonb where uuid = ${uuid}`
        const changed = yield* translate(uuid, entry("de-CH", "Sonne"))
        assert.deepStrictEqual(expectError(changed, 400, "InvalidLocaleError").supported, ["nl", "en"])
        expectError(yield* translate(uuid, entry("xx-YY", null)), 400, "InvalidLocaleError")
        assert.deepStrictEqual((yield* read(uuid)).translations, both)
        assert.strictEqual((yield* translate(uuid, entry("de_ch", null))).status, 200)
        assert.deepStrictEqual((yield* read(uuid)).translations, [entry("nl", "Zomer")])
      })
    )
  }
)
