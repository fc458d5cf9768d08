import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { isCountryCode } from "../../../src/domain/schema/Country.ts"
import * as TestServer from "../../support/TestServer.ts"
import { createAsset, patchAsset as patch, readAsset as read } from "../../support/requests/AssetRequests.ts"
import { expectError, send } from "../../support/requests/Requests.ts"

const told = (locale: string, name: string | null, rest: object = {}) => ({ locale, name, ...rest })
const translate = (uuid: string, ...translations: ReadonlyArray<object>) => patch(uuid, { translations })

layer(TestServer.layer(), { excludeTestServices: true })("Translations of assets", (it) => {
  it.effect("translations are merged by locale: new ones added, told members changed, the others kept", () =>
    Effect.gen(function* () {
      const uuid = yield* createAsset({ translations: [told("nl-NL", "Zomer", { description: "Warm" })] })
      yield* translate(uuid, told("en", "Summer"), { locale: "nl_nl", description: "Heet" })
      assert.deepStrictEqual((yield* read(uuid)).translations, [
        told("en", "Summer"),
        told("nl-NL", "Zomer", { description: "Heet" })
      ])
      yield* translate(uuid, told("de", "Sommer"), told("NL-nl", "Zon", { description: null }))
      assert.deepStrictEqual((yield* read(uuid)).translations, [
        told("de", "Sommer"),
        told("en", "Summer"),
        told("nl-NL", "Zon")
      ])
      yield* translate(uuid, told("EN", null), told("fr", null), told("de", null, { description: "Heiß" }))
      assert.deepStrictEqual((yield* read(uuid)).translations, [told("nl-NL", "Zon")])
      yield* translate(uuid, told("nl-NL", null), told("nl", "Zon"))
      assert.deepStrictEqual((yield* read(uuid)).translations, [told("nl", "Zon")])
    })
  )

  it.effect("a patch that breaks a rule of translations is refused and writes nothing", () =>
    Effect.gen(function* () {
      const uuid = yield* createAsset({ translations: [told("nl", "Zomer"), told("en", "Summer")] })
      const before = yield* read(uuid, "validFrom")
      for (const translations of [
        [told("nl", null), told("en", null)],
        [{ locale: "de" }],
        [{ locale: "de", description: "Heiß" }],
        [told("nl", "a"), told("NL", "b")],
        [told("nl", "")],
        [told("nl", "a".repeat(256))],
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
      const body = expectError(yield* translate(uuid, told("xx-YY", "a")), 400, "InvalidLocaleError")
      assert.strictEqual(body.locale, "xx-YY")
      assert.deepStrictEqual(yield* read(uuid, "validFrom"), before)
    })
  )

  it.effect("an asset has at most a hundred translations, however they come", () =>
    Effect.gen(function* () {
      const codes = Array.from({ length: 676 }, (_, index) =>
        String.fromCharCode(65 + Math.floor(index / 26), 65 + (index % 26))
      ).filter(isCountryCode)
      const many = codes.slice(0, 100).map((code) => told(`en-${code}`, code))
      const uuid = yield* createAsset({ translations: many })
      const { body, status } = yield* translate(uuid, told("nl", "a"))
      assert.deepStrictEqual([status, body.issues[0].path, body.issues[0].code], [400, "translations", "tooMany"])
      assert.strictEqual((yield* translate(uuid, told(`en-${codes[0]}`, null), told("nl", "a"))).status, 200)
      assert.lengthOf((yield* read(uuid)).translations, 100)
    })
  )

  it.effect("changes of different translations at the same time all survive", () =>
    Effect.gen(function* () {
      const uuid = yield* createAsset({ translations: [told("en", "Asset")] })
      const languages =
        "aa af am ar az be bg bn bs ca cs cy da de el es et eu fa fi fr ga gl gu he hi hr hu hy id".split(" ")
      const more = "is it ja ka kk km kn ko lo lt lv mk ml mn mr ms my nb ne nl".split(" ")
      const answers = yield* Effect.forEach(
        [...languages, ...more],
        (locale) => translate(uuid, told(locale, `Name ${locale}`)),
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
