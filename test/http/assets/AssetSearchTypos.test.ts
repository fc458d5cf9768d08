import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { send } from "../../support/requests/Requests.ts"
import { ask, find, finds, named } from "./AssetSearches.ts"

/** A page of one asset of the search: its name, and the cursor behind it. */
const page = (search: string, after: string) =>
  Effect.map(ask({ search, sortBy: "name", sortOrder: "asc", limit: "1", after }), ({ body, text }) => {
    assert.strictEqual(body._tag, "Success", text)
    return [body.data[0]?.translations[0].name, body.pagination.next] as const
  })

layer(TestServer.layer(), { excludeTestServices: true })("Asset search with typos", (it) => {
  it.effect("a misspelt word finds similar words if there is no exact match", () =>
    Effect.gen(function* () {
      yield* named("Logo blue", "Aubergine")
      yield* named("Zomeractie", undefined, {}, "banner.png")
      yield* finds({
        lgoo: ["Logo blue"],
        loog: ["Logo blue"],
        logi: ["Logo blue"],
        llogo: ["Logo blue"],
        "the lgoo": ["Logo blue"],
        "lgoo bleu": ["Logo blue"],
        "aubergine lgoo": ["Logo blue"],
        zomeractei: ["Zomeractie"],
        zomreactie: ["Zomeractie"],
        bannner: ["Zomeractie"],
        "lgoo zomeractei": []
      })
      yield* named("Loog")
      assert.deepStrictEqual(yield* find("loog"), ["Loog"])
    })
  )

  it.effect("a search that begins with similar words goes on with them when an exact match is created", () =>
    Effect.gen(function* () {
      for (const name of ["Kalender 1", "Kalender 2", "Kalender 3"]) yield* named(name)
      const [first, next] = yield* page("kalendr", "")
      yield* named("Kalendr")
      const names = [first]
      for (let after = next; after !== undefined;) {
        const [name, behind] = yield* page("kalendr", after)
        names.push(name)
        after = behind
      }
      assert.deepStrictEqual(names, ["Kalender 1", "Kalender 2", "Kalender 3", "Kalendr"])
    })
  )

  it.effect("a search that begins with exact matches ends with them when they are deleted", () =>
    Effect.gen(function* () {
      const uuids = [yield* named("Sticker 1"), yield* named("Sticker 2")]
      yield* named("Stikcer 3")
      const [first, next] = yield* page("sticker", "")
      for (const uuid of uuids) yield* send("DELETE", `/v1/assets/${uuid}`)
      assert.deepStrictEqual([first, ...(yield* page("sticker", next))], ["Sticker 1", undefined, undefined])
    })
  )

  it.effect(
    "a search finds compounds that names write apart or together, and compounds with a misspelt beginning",
    () =>
      Effect.gen(function* () {
        yield* named("Zomer folder")
        yield* named("Bakkersboekje")
        yield* named("Aardbeientaart")
        yield* finds({
          zomerfolder: ["Zomer folder"],
          zomerfold: ["Zomer folder"],
          "bakkers boekje": ["Bakkersboekje"],
          "bakkers boekj": ["Bakkersboekje"],
          boekje: ["Bakkersboekje"],
          aardbei: ["Aardbeientaart"],
          ardbei: ["Aardbeientaart"],
          aardebei: ["Aardbeientaart"],
          ardbeientaart: ["Aardbeientaart"],
          "zomer taart": []
        })
      })
  )

  it.effect("nonsense and punctuation find no assets", () =>
    Effect.gen(function* () {
      for (const search of ["qwxzvk", "xylqwertz poster", "!!!", "&|!:*()<->", "'", "\\", "%", "_", "🙂", "-"]) {
        assert.deepStrictEqual(yield* find(search), [], search)
      }
    })
  )
})
