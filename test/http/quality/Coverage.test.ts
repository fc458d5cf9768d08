import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createAsset, createCategory, createMetaTag } from "../../support/requests/AssetRequests.ts"
import type { Made } from "../../support/contract/Calls.ts"
import { createPost } from "../../support/requests/PostRequests.ts"
import { createProduct } from "../../support/requests/ProductRequests.ts"
import { expectError, problemsOf, send, unique } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"

const coverage = Effect.fnUntraced(function* (query: string, key?: string) {
  const path = `/v1/translations/coverage?${query}`
  const { body, status, text } = yield* send("GET", path, key === undefined ? {} : { key })
  assert.strictEqual(status, 200, text)
  return body
})

interface Figures {
  readonly resource: string
  readonly locale: string
  readonly records: number
  readonly complete: number
  readonly partial: number
  readonly missing: number
}

const figuresOf = (resource: string, locales: string) =>
  Effect.map(coverage(`locales=${locales}`), ({ data }: { readonly data: ReadonlyArray<Figures> }) =>
    data
      .filter((figures) => figures.resource === resource)
      .map(({ complete, locale, missing, partial, records }) => [locale, records, complete, partial, missing])
  )

const texts = (locale: string, more = {}) => ({ locale, name: unique("Name"), ...more })

/** A record of each resource, whose default translation has two texts, of which some locales have one. */
const resources: Readonly<Record<string, Made<string>>> = {
  products: createProduct({ description: "A5", translations: [texts("nl-NL", { description: "A5" }), texts("de-DE")] }),
  assets: createAsset({
    translations: [texts("en", { description: "A5" }), texts("nl-NL", { description: "A5" }), texts("de-DE")]
  }),
  posts: createPost({
    translations: [
      { locale: "en", title: "Offer", excerpt: "June" },
      { locale: "nl-NL", title: "Aanbieding", excerpt: "Juni" },
      { locale: "de-DE", title: "Angebot" }
    ]
  }),
  "meta-tags": createMetaTag({
    key: "season",
    type: "text",
    translations: [texts("en", { helpText: "A5" }), texts("nl-NL", { helpText: "A5" }), texts("de-DE")]
  })
}

layer(TestServer.layer(), { excludeTestServices: true })("Coverage of translations", (it) => {
  for (const [resource, create] of Object.entries(resources)) {
    it.effect(`${resource} are complete, partial or missing in exactly a locale`, () =>
      Effect.gen(function* () {
        const uuid = yield* create
        assert.deepStrictEqual(yield* figuresOf(resource, "nl-NL,de-DE,nl,en"), [
          ["nl-NL", 1, 1, 0, 0],
          ["de-DE", 1, 0, 1, 0],
          ["nl", 1, 0, 0, 1],
          ["en", 1, 1, 0, 0]
        ])
        const { data, pagination } = yield* coverage(`locales=nl-NL,de-DE,nl&resource=${resource}`)
        const [text, other] =
          resource === "posts" ? ["title", "excerpt"] : ["name", resource === "meta-tags" ? "helpText" : "description"]
        assert.strictEqual(pagination.total, 1)
        assert.deepStrictEqual([data[0].resource, data[0].uuid], [resource, uuid])
        assert.deepStrictEqual(data[0].translations, [
          { locale: "nl-NL", status: "complete", absent: [] },
          { locale: "de-DE", status: "partial", absent: [other] },
          { locale: "nl", status: "missing", absent: [text, other].toSorted((a, b) => a.length - b.length) }
        ])
      })
    )
  }

  it.effect("a locale counts once, in its normal case, and an unknown one is an error", () =>
    Effect.gen(function* () {
      const { data } = yield* coverage("locales=nl_nl,nl-NL")
      assert.deepStrictEqual(
        data.map(({ locale, resource }: Figures) => `${resource} ${locale}`),
        ["products", "assets", "posts", "asset-categories", "meta-tags"].map((resource) => `${resource} nl-NL`)
      )
      expectError(yield* send("GET", "/v1/translations/coverage?locales=qq-QQ"), 400, "InvalidLocaleError")
      expectError(yield* send("GET", "/v1/translations/coverage"), 400, "InvalidRequestError")
    })
  )

  it.effect(
    "the figures are read by pages, by default of 25, and only with a resource filtered, in part or uncounted",
    () =>
      Effect.gen(function* () {
        const locales = "nl-NL,nl-BE,de-DE,de-AT,en-GB,en-US"
        const first = yield* coverage(`locales=${locales}`)
        assert.deepStrictEqual(
          [first.data.length, first.pagination],
          [25, { limit: 25, page: 1, total: 30, pageCount: 2 }]
        )
        assert.lengthOf((yield* coverage(`locales=${locales}&page=2`)).data, 5)
        assert.lengthOf((yield* coverage(`locales=${locales}&limit=500`)).data, 30)
        for (const query of ["filter=label:equals:A", "fields=resource", "after=", "total=false"]) {
          const answer = yield* send("GET", `/v1/translations/coverage?locales=nl&${query}`)
          const [path] = query.split("=")
          assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", `${path} invalidFormat`])
        }
      })
  )

  it.effect("a key that may read no resource lacks each permission once", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const rejected = yield* send("GET", "/v1/translations/coverage?locales=nl", { key: yield* key(["read:events"]) })
      assert.deepStrictEqual(expectError(rejected, 403, "MissingPermissionsError").missing, [
        "read:products",
        "read:assets",
        "read:posts",
        "read:meta-tags"
      ])
    })
  )

  it.effect("the records of a resource are filtered by status and read from cursor to cursor", () =>
    Effect.gen(function* () {
      const done: Array<string> = []
      for (let n = 0; n < 5; n++)
        done.push(
          yield* createCategory({
            key: unique("key"),
            translations: n < 2 ? [texts("en")] : [texts("en"), texts("nl")]
          })
        )
      const list = (query: string) => coverage(`locales=nl&resource=asset-categories&${query}`)
      const uuids = ({ data }: { readonly data: ReadonlyArray<{ readonly uuid: string }> }) =>
        data.map(({ uuid }) => uuid)
      assert.deepStrictEqual(uuids(yield* list("filter=translations.status:equals:missing")), done.slice(0, 2))
      assert.deepStrictEqual(uuids(yield* list("filter=translations.status:equals:complete&limit=2")), done.slice(2, 4))
      const seen = []
      for (let after: string | undefined = ""; after !== undefined;) {
        const page: {
          readonly data: ReadonlyArray<{ readonly uuid: string }>
          readonly pagination: { readonly next?: string }
        } = yield* list(`limit=2&after=${after}`)
        seen.push(uuids(page))
        after = page.pagination.next
      }
      assert.deepStrictEqual(seen, [done.slice(0, 2), done.slice(2, 4), done.slice(4)])
      expectError(yield* send("GET", "/v1/translations/coverage?locales=nl&after="), 400, "InvalidRequestError")
    })
  )

  it.effect("resources that the key may not read are left out, and their list is forbidden", () =>
    Effect.gen(function* () {
      const { key: keyOf } = yield* TestServer.TestServer
      const key = yield* keyOf(["read:assets"])
      const { data } = yield* coverage("locales=nl", key)
      assert.deepStrictEqual(
        data.map(({ resource }: Figures) => resource),
        ["assets"]
      )
      const path = "/v1/translations/coverage?locales=nl"
      expectError(yield* send("GET", `${path}&resource=posts`, { key }), 403, "MissingPermissionsError")
      expectError(yield* send("GET", path, { key: yield* keyOf(["read:users"]) }), 403, "MissingPermissionsError")
    })
  )
})
