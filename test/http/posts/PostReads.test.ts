import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { createPost, patchPost, readPost } from "../../support/requests/PostRequests.ts"
import { create as createLocation, expectError, send, unique, unknownUuid } from "../../support/requests/Requests.ts"

interface Read {
  readonly uuid: string
  readonly translations: ReadonlyArray<{ readonly locale: string; readonly title: string }>
}
const get = (uuid: string, query = "", key?: string) =>
  send("GET", `/v1/posts/${uuid}${query}`, key === undefined ? {} : { key })
const list = (query: string, key?: string) => send("GET", `/v1/posts?${query}`, key === undefined ? {} : { key })
const titled = (...locales: ReadonlyArray<string>) => ({
  translations: locales.map((locale) => ({ locale, title: `in ${locale}`, body: "<p>a</p>" }))
})

layer(TestServer.layer({ LOCALES: "nl-NL,nl,nl-BE,en,en-GB,de,de-CH,fr" }), { excludeTestServices: true })(
  "Reading posts",
  (it) => {
    const fallbacks: ReadonlyArray<readonly [wanted: string, available: ReadonlyArray<string>, returned: string]> = [
      ["en-GB", ["de", "en", "en-GB", "nl"], "en-GB"],
      ["EN_gb", ["de", "en-GB"], "en-GB"],
      ["en-GB", ["de", "en", "nl"], "en"],
      ["en", ["de", "en-GB", "nl"], "en-GB"],
      ["nl-BE", ["en", "nl", "nl-NL"], "nl"],
      ["fr", ["de", "en", "nl-BE"], "nl-BE"],
      ["fr", ["de", "en"], "de"]
    ]

    it.effect.each(fallbacks)(
      "a post requested in %s with translations %s is returned in %s",
      ([wanted, available, returned]) =>
        Effect.gen(function* () {
          const uuid = yield* createPost(titled(...available))
          const one = yield* get(uuid, `?locale=${wanted}`)
          assert.deepStrictEqual(
            one.body.data.translations.map(({ locale }: { readonly locale: string }) => locale),
            [returned]
          )
          assert.strictEqual(one.headers.get("content-language"), returned)
          const all = yield* get(uuid)
          assert.strictEqual(all.body.data.translations.length, available.length)
          assert.isNull(all.headers.get("content-language"))
          assert.notStrictEqual(all.headers.get("etag"), one.headers.get("etag"))
          const page = yield* list(`locale=${wanted}&filter=uuid:equals:${uuid}`)
          assert.deepStrictEqual(page.body.data, [one.body.data])
          const known = { headers: { "if-none-match": one.headers.get("etag")! } }
          assert.strictEqual((yield* send("GET", `/v1/posts/${uuid}?locale=${wanted}`, known)).status, 304)
        })
    )

    it.effect("the slug of a post is made of its title in the default locale, or else in its language", () =>
      Effect.gen(function* () {
        for (const [locales, slug] of [
          [["de", "nl-BE", "nl-NL"], /^in-nl-nl/],
          [["de", "nl-BE"], /^in-nl-be/],
          [["de", "fr"], /^in-de/]
        ] as const)
          assert.match((yield* readPost(yield* createPost(titled(...locales)))).slug, slug)
      })
    )

    it.effect("an unknown or unsupported locale is reported before an unknown post", () =>
      Effect.gen(function* () {
        for (const locale of ["it", "xx-YY", "nonsense", "", "nl'--"]) {
          for (const path of ["", `/${unknownUuid}`]) {
            const body = expectError(
              yield* send("GET", `/v1/posts${path}?locale=${encodeURIComponent(locale)}`),
              400,
              "InvalidLocaleError"
            )
            assert.strictEqual(body.locale, locale)
            assert.include(body.supported, "nl-NL")
          }
        }
      })
    )

    it.effect("a filter on translations searches all locales, regardless of the requested one", () =>
      Effect.gen(function* () {
        const title = unique("Zeldzaam")
        const uuid = yield* createPost({ translations: [{ locale: "nl", title }, ...titled("en").translations] })
        for (const query of ["", "&locale=en", "&locale=nl"]) {
          const { body } = yield* list(`filter=translations.title:contains:${title.toUpperCase()}${query}`)
          assert.deepStrictEqual(
            body.data.map(({ uuid }: Read) => uuid),
            [uuid]
          )
        }
      })
    )

    it.effect("names of groups and locations are returned to and filterable by only keys that may read them", () =>
      Effect.gen(function* () {
        const { key } = yield* TestServer.TestServer
        const name = unique("Secret")
        const location = yield* createLocation({ name, identifier: name })
        const group = (yield* send("POST", "/v1/groups", { body: { name } })).body.data.uuid
        const uuid = yield* createPost({ audience: { groups: [{ uuid: group }], locations: [{ uuid: location }] } })
        for (const [permissions, groups, locations] of [
          [[], {}, {}],
          [["read:groups"], { name }, {}],
          [["read:locations"], {}, { name, identifier: name }],
          [["read:groups", "read:locations"], { name }, { name, identifier: name }]
        ] as const) {
          const reader = yield* key(["read:posts", "update:posts", "delete:posts", ...permissions])
          const { body, headers } = yield* get(uuid, "", reader)
          assert.deepStrictEqual(body.data.audience, {
            authorizationType: "groups",
            groups: [{ uuid: group, ...groups }],
            locations: [{ uuid: location, ...locations }]
          })
          assert.deepStrictEqual((yield* list(`filter=uuid:equals:${uuid}`, reader)).body.data, [body.data])
          for (const [filter, isVisible] of [
            [`audience.groups.name:equals:${name}`, "name" in groups],
            [`audience.locations.identifier:startsWith:${name}`, "name" in locations],
            [`audience.groups.uuid:equals:${group}`, true]
          ] as const) {
            const { body } = yield* list(`filter=${filter}`, reader)
            assert.strictEqual(body.pagination.total, isVisible ? 1 : 0, `${filter} ${permissions.join()}`)
          }
          // The ETag covers what this key can read, and is valid for its writes.
          const etag = headers.get("etag")!
          const write = (tag: string) =>
            send("PATCH", `/v1/posts/${uuid}`, {
              key: reader,
              headers: { "if-match": tag },
              body: { tags: [unique()] }
            })
          assert.strictEqual((yield* write(etag)).status, 200)
          assert.strictEqual((yield* write(etag)).status, 412)
        }
      })
    )

    it.effect("If-Match accepts the ETag of the whole post and rejects that of one translation", () =>
      Effect.gen(function* () {
        const uuid = yield* createPost(titled("en", "nl"))
        const tagOf = (query: string) => Effect.map(get(uuid, query), ({ headers }) => headers.get("etag")!)
        const [one, whole] = [yield* tagOf("?locale=en"), yield* tagOf("")]
        const changed = { ...titled("en"), pinned: true }
        assert.strictEqual((yield* patchPost(uuid, changed, { "if-match": one })).status, 412)
        assert.strictEqual((yield* readPost(uuid)).translations.length, 2)
        assert.strictEqual((yield* patchPost(uuid, changed, { "if-match": whole })).status, 200)
        const remove = (tag: string) => send("DELETE", `/v1/posts/${uuid}`, { headers: { "if-match": tag } })
        assert.strictEqual((yield* remove(whole)).status, 412)
        assert.strictEqual((yield* remove(yield* tagOf(""))).status, 200)
      })
    )

    it.effect("the name of an author is the full name, or else the username", () =>
      Effect.gen(function* () {
        const [first, second] = [unique("anna"), unique("bob")]
        const make = (username: string, fields: object) =>
          Effect.map(
            send("POST", "/v1/users", { body: { username, email: `${username}@example.com`, ...fields } }),
            ({ body }) => body.data.uuid as string
          )
        const named = yield* make(first, { lastName: "Jansen" })
        const uuids = [
          yield* createPost({ author: { uuid: named, name: ["Ignored"] } }),
          yield* createPost({ author: { uuid: yield* make(second, {}) } })
        ]
        assert.deepStrictEqual((yield* readPost(uuids[0]!)).author, { uuid: named, name: "Jansen" })
        assert.strictEqual((yield* readPost(uuids[1]!)).author.name, second)
        for (const [filter, uuid] of [
          [`author.name:equals:Jansen`, uuids[0]],
          [`author.uuid:equals:${named}`, uuids[0]],
          [`author.name:startsWith:${second.toUpperCase()}`, uuids[1]]
        ] as const) {
          const { body } = yield* list(`filter=${filter}`)
          assert.deepStrictEqual(
            body.data.map(({ uuid }: Read) => uuid),
            [uuid]
          )
        }
      })
    )
  }
)
