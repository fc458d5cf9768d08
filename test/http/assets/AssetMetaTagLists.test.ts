import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import * as TestServer from "../../support/TestServer.ts"
import { createAsset, createCategory, createMetaTag } from "../../support/requests/AssetRequests.ts"
import { expectError, problemsOf, send } from "../../support/requests/Requests.ts"
import { waitsForLargePages } from "../../support/Turns.ts"

const all = (query = "") => send("GET", `/v1/assets/meta-tags${query}`)
const keysOf = (query: string) =>
  Effect.map(
    all(query),
    ({ body }) => body.data.map(({ key }: { readonly key: string }) => key) as ReadonlyArray<string>
  )

layer(TestServer.layer(), { excludeTestServices: true })("Lists of meta tags of assets", (it) => {
  it.effect("the list of meta tags returns full definitions sorted by position", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* all()).body, { _tag: "Success", data: [] })
      const top = yield* createCategory({ key: "top" })
      const middle = yield* createCategory({ key: "middle", parentUuid: top })
      yield* createCategory({ key: "bottom", parentUuid: middle })
      yield* createCategory({ key: "aside" })
      const translations = [
        { locale: "en", name: "Second" },
        { locale: "nl", name: "Tweede", helpText: "Hulp" }
      ]
      const options = [
        {
          key: "one",
          translations: [
            { locale: "en", label: "One" },
            { locale: "nl", label: "Een" }
          ]
        }
      ]
      const uuid = yield* createMetaTag({
        key: "second",
        type: "select",
        position: 2,
        translations,
        options,
        categories: ["middle"]
      })
      yield* createMetaTag({ key: "first", type: "text", position: 1 })
      yield* createMetaTag({ key: "third", type: "text", position: 3, categories: ["aside"] })
      const { body } = yield* all()
      assert.deepStrictEqual(
        body.data.map(({ key }: { readonly key: string }) => key),
        ["first", "second", "third"]
      )
      assert.deepStrictEqual(body.data[1], (yield* send("GET", `/v1/meta-tags/${uuid}`)).body.data)
      assert.deepInclude(body.data[1], { translations, categories: ["middle"] })
    })
  )

  it.effect("the meta tags of a category are those bound to it, to an ancestor or to no category", () =>
    Effect.gen(function* () {
      for (const [query, keys] of [
        ["?category=middle", ["first", "second"]],
        ["?category=bottom", ["first", "second"]],
        ["?category=top", ["first"]],
        ["?category=aside", ["first", "third"]],
        ["?category=aside,bottom", ["first", "second", "third"]],
        ["?category=top&category=aside", ["first", "third"]]
      ] as const) {
        assert.deepStrictEqual(yield* keysOf(query), keys, query)
      }
      const body = expectError(yield* all("?category=top,none,neither"), 400, "InvalidAssetCategoriesError")
      assert.deepStrictEqual(body.invalid, ["none", "neither"])
    })
  )

  it.effect("the translation in the requested locale comes first", () =>
    Effect.gen(function* () {
      const first = Effect.fnUntraced(function* (locale: string) {
        const { translations, options } = (yield* all(`?locale=${locale}&category=middle`)).body.data[1]
        assert.lengthOf(translations, 2)
        return [translations[0].name, options[0].translations[0].label]
      })
      for (const locale of ["nl", "NL_be"]) assert.deepStrictEqual(yield* first(locale), ["Tweede", "Een"])
      for (const locale of ["en", "fr"]) assert.deepStrictEqual(yield* first(locale), ["Second", "One"])
      const body = expectError(yield* all("?locale=xx"), 400, "InvalidLocaleError")
      assert.strictEqual(body.locale, "xx")
    })
  )

  it.effect("reading assets and their meta tags requires read:assets; each write requires its own permission", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const uuid = yield* createAsset()
      const reader = yield* key(["read:assets"])
      const other = yield* key(["read:meta-tags", "update:meta-tags"])
      for (const path of [
        "/v1/assets/meta-tags",
        `/v1/assets/${uuid}/meta-tags`,
        "/v1/assets",
        "/v1/assets/search",
        `/v1/assets/${uuid}`
      ]) {
        assert.strictEqual((yield* send("GET", path, { key: reader })).status, 200, path)
        const body = expectError(yield* send("GET", path, { key: other }), 403, "MissingPermissionsError")
        assert.deepStrictEqual(body.missing, ["read:assets"])
      }
      for (const [method, path, missing] of [
        ["PATCH", `/v1/assets/${uuid}/meta-tags`, "update:assets"],
        ["PATCH", `/v1/assets/${uuid}`, "update:assets"],
        ["DELETE", `/v1/assets/${uuid}`, "delete:assets"],
        ["POST", "/v1/assets", "create:assets"]
      ] as const) {
        const body = expectError(
          yield* send(method, path, {
            key: reader,
            ...(method === "DELETE" ? {} : { body: {} })
          }),
          403,
          "MissingPermissionsError",
          path
        )
        assert.deepStrictEqual(body.missing, [missing], path)
      }
    })
  )

  it.effect("meta tags of more than 15 MiB together are a 400; those of a category with fewer are answered", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const uuid = yield* createMetaTag({
        key: "large",
        type: "multiSelect",
        categories: ["aside"],
        options: [{ key: "one" }]
      })
      yield* pooled`update meta_tag_definitions set options = (select jsonb_agg(options->0 || jsonb_build_object('position', n, 'key',
        repeat('a', 16384))) from generate_series(1, 1000) n) where uuid = ${uuid}::uuid`
      assert.deepStrictEqual(problemsOf(yield* all()), [400, "InvalidRequestError", "category tooMuch"])
      assert.deepStrictEqual(yield* keysOf("?category=middle"), ["first", "second"])
      // From then on they are read one at a time by a key.
      assert.isTrue(yield* waitsForLargePages(all(), 3000))
    })
  )
})
