import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { createAsset, createCategory } from "../../support/requests/AssetRequests.ts"
import { ask } from "./AssetSearches.ts"
import { send } from "../../support/requests/Requests.ts"
import { runs } from "../../support/Runs.ts"

/** Numbers that are the same in every run. */
const seeded = (state: number) => () => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}
const random = seeded(42)
const upTo = (end: number) => Math.floor(random() * end)
const pick = <A>(values: ReadonlyArray<A>) => values[upTo(values.length)]!

/** Special characters of SQL, text search and shells, many scripts, and strings that only look like words. */
const nasty = [
  ...Array.from("&|!:*()<>'\"\\%_-+~^$?[]{}/,;.@#=`´ \t\n"),
  ..."<-> :* '' \\' 1e999 0x1F NULL ${x} 🙂 👨‍👩‍👧 שלום مرحبا 夏のセール ไทย हिन्दी é e\u0301 ß İ \u202e \ufeff \ufffd ﷺ ㎏".split(
    " "
  ),
  ..."the a logo 2026 ١٢٣ Ⅷ ½ \u200b http://a.b/c?d a@b.nl 1.5.2 -1".split(" "),
  "a & b | !c:*",
  "'); drop table assets;--",
  "E'\\''",
  "x".repeat(60)
]

layer(TestServer.layer(), { excludeTestServices: true })("Asset search fuzzing", (it) => {
  it.effect("the search accepts any text of up to 200 characters without control characters", () =>
    Effect.gen(function* () {
      yield* createCategory({ key: "a" })
      yield* createAsset({ translations: [{ locale: "nl", name: "Logo 🙂 'x' \\ é" }] }, "a&b|c (1).txt")
      for (let round = 0; round < runs(250); round++) {
        const text = Array.from({ length: 1 + upTo(12) }, () =>
          random() < 0.8 ? pick(nasty) : String.fromCodePoint(32 + upTo(0xd000))
        ).join(pick(["", " "]))
        const search = Array.from(text).slice(0, 200).join("")
        const query = {
          search,
          ...pick([
            {},
            { locale: pick(["nl", "en", "de", "el", "ar", "ja", "tr"]) },
            { category: "a" },
            { sortBy: "name" }
          ])
        }
        const { status } = yield* ask(query)
        assert.strictEqual(status, /[^\P{Cc}\n\t]/u.test(search) ? 400 : 200, JSON.stringify(query))
      }
      for (const search of [
        "x".repeat(200),
        "é".repeat(200),
        "a ".repeat(100),
        "夏".repeat(200),
        "🙂".repeat(200),
        "'".repeat(200)
      ]) {
        assert.strictEqual((yield* ask({ search })).status, 200, search)
      }
      for (const query of ["search=a%00b", "search=%00", "search=a&locale=%00"]) {
        assert.strictEqual((yield* send("GET", `/v1/assets/search?${query}`)).status, 400, query)
      }
    })
  )
})
