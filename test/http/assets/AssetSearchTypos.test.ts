import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { find, finds, named } from "./AssetSearches.ts"

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
