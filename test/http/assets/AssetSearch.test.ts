import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { createCategory, createMetaTag } from "../../support/requests/AssetRequests.ts"
import { ask, find, finds, named } from "./AssetSearches.ts"
import { expectError, send } from "../../support/requests/Requests.ts"

layer(TestServer.layer(), { excludeTestServices: true })("Asset search", (it) => {
  it.effect("a search finds assets whose names and descriptions have all words, the last one as a prefix", () =>
    Effect.gen(function* () {
      yield* named("Harbour poster", "Boats before the old lighthouse")
      yield* named("Harbour flyer", "Sailing")
      yield* finds({
        harbour: ["Harbour poster", "Harbour flyer"],
        HARB: ["Harbour poster", "Harbour flyer"],
        "harbour lighth": ["Harbour poster"],
        "poster harbour": ["Harbour poster"],
        "lighthouse sailing": [],
        "lighthouse flyer": [],
        " harbour,  (poster)! ": ["Harbour poster"],
        bour: []
      })
    })
  )

  it.effect("a search ignores accents and case, in the query and in the text", () =>
    Effect.gen(function* () {
      yield* named("Crème Brûlée", "Straße ØRESUND naïve İzmir ΟΔΟΣΤΡΩΤΗΡΑΣ")
      const forms = [
        "creme brulee",
        "CRÈME",
        "crème brûlée",
        "cre\u0300me bru\u0302le\u0301e",
        "strasse",
        "STRASSE",
        "straße"
      ]
      for (const search of [
        ...forms,
        "oresund",
        "Øresund",
        "NAIVE",
        "izmir",
        "İZMİR",
        "οδοστρωτήρας",
        "ΟΔΟΣ",
        "οδός"
      ]) {
        assert.deepStrictEqual(yield* find(search), ["Crème Brûlée"], search)
      }
    })
  )

  it.effect("a search finds words of a file name, regardless of how they are joined", () =>
    Effect.gen(function* () {
      yield* named("Untitled", undefined, {}, "WinterSale2027_v2-FINAL.indd")
      for (const search of [
        "winter",
        "sale",
        "2027",
        "v2",
        "final",
        "wintersale",
        "winter sale 2027",
        "WinterSale2027_v2-FINAL.indd",
        "indd",
        "v 2"
      ]) {
        assert.deepStrictEqual(yield* find(search), ["Untitled"], search)
      }
      yield* finds({ tersale: [], v3: [] })
    })
  )

  it.effect("a search finds names of categories in any language", () =>
    Effect.gen(function* () {
      const translations = [
        { locale: "en", name: "Stationery" },
        { locale: "nl", name: "Kantoorartikelen" }
      ]
      yield* createCategory({ key: "paper-key", translations })
      yield* named("Envelope", undefined, { categories: ["paper-key"] })
      yield* finds({ stationery: ["Envelope"], kantoorart: ["Envelope"], "envelope kantoorartikelen": ["Envelope"] })
    })
  )

  it.effect("a search finds values and option labels of searchable meta tags only", () =>
    Effect.gen(function* () {
      const options = [
        {
          key: "spring-opt",
          translations: [
            { locale: "nl", label: "Voorjaar" },
            { locale: "fr", label: "Printemps" }
          ]
        },
        { key: "autumn-opt", translations: [{ locale: "nl", label: "Najaar" }] }
      ]
      const searchable = { searchable: true }
      yield* createMetaTag({ key: "artist", type: "text", ...searchable })
      yield* createMetaTag({ key: "season", type: "select", options, ...searchable })
      yield* createMetaTag({ key: "seasons", type: "multiSelect", options, ...searchable })
      yield* createMetaTag({ key: "edition", type: "integer", ...searchable })
      yield* createMetaTag({ key: "secret", type: "text" })
      const tagged = (name: string, key: string, value: unknown) =>
        named(name, undefined, { metaTags: [{ key, value }] })
      yield* tagged("One", "artist", "Rembrandt van Rijn")
      yield* tagged("Two", "season", "spring-opt")
      yield* tagged("Three", "seasons", ["spring-opt", "autumn-opt"])
      yield* tagged("Four", "edition", 90210)
      yield* tagged("Five", "secret", "Vermeer")
      yield* finds({
        rembrandt: ["One"],
        "one rijn": ["One"],
        voorjaar: ["Two", "Three"],
        printemps: ["Two", "Three"],
        najaar: ["Three"],
        "spring opt": ["Two", "Three"],
        90210: ["Four"],
        vermeer: []
      })
    })
  )

  it.effect("a search finds other forms of a word and ignores articles", () =>
    Effect.gen(function* () {
      yield* named("Running shoe", "Made for the mountains")
      yield* finds({
        shoes: ["Running shoe"],
        "the shoes": ["Running shoe"],
        "a shoe for mountain": ["Running shoe"],
        "runs shoes": ["Running shoe"],
        the: ["Running shoe", "Harbour poster"]
      })
    })
  )

  it.effect("a search ranks names above descriptions and whole words above prefixes", () =>
    Effect.gen(function* () {
      yield* named("Kite manual", "About flying")
      yield* named("Beach", "With a kite, and a kite again")
      yield* named("Kitesurfing", "About waves")
      assert.deepStrictEqual(yield* find("kite"), ["Kite manual", "Kitesurfing", "Beach"])
      assert.deepStrictEqual(yield* find("kite", { sortOrder: "asc" }), ["Beach", "Kitesurfing", "Kite manual"])
      assert.deepStrictEqual(yield* find("kite", { sortBy: "name", sortOrder: "asc" }), [
        "Beach",
        "Kite manual",
        "Kitesurfing"
      ])
    })
  )

  it.effect("an empty search lists all assets, the newest first, and invalid queries are rejected", () =>
    Effect.gen(function* () {
      const listed = yield* send("GET", "/v1/assets?limit=7")
      for (const query of [
        {},
        { search: "" },
        { search: "  " },
        { sortBy: "relevance" },
        { search: "", sortBy: "relevance" }
      ]) {
        assert.strictEqual((yield* ask({ limit: "7", ...query })).text, listed.text, JSON.stringify(query))
      }
      for (const [query, path] of [
        [{ search: "a".repeat(201) }, "search"],
        [{ search: "a", sortBy: "relevanse" }, "sortBy"],
        [{ serch: "a" }, "serch"],
        [{ search: "a", limit: "501" }, "limit"]
      ] as const) {
        const body = expectError(yield* ask(query), 400, "InvalidRequestError")
        assert.strictEqual(body.issues[0].path, path)
      }
      assert.strictEqual((yield* send("GET", "/v1/assets/search?search=a&search=b")).status, 400)
      assert.strictEqual((yield* ask({ search: "😀".repeat(200) })).status, 200)
    })
  )
})
