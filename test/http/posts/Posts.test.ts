import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { createAsset } from "../../support/requests/AssetRequests.ts"
import { createPost, patchPost, postPost, readPost, translation } from "../../support/requests/PostRequests.ts"
import {
  create as createLocation,
  expectError,
  problemsOf,
  send,
  unique,
  unknownUuid
} from "../../support/requests/Requests.ts"

const createUser = (fields: object = {}) =>
  Effect.suspend(() => {
    const username = unique("author")
    const body = { username, email: `${username}@example.com`, ...fields }
    return Effect.map(send("POST", "/v1/users", { body }), ({ body }) => body.data.uuid as string)
  })
const createGroup = Effect.suspend(() =>
  Effect.map(send("POST", "/v1/groups", { body: { name: unique("Group") } }), ({ body }) => body.data.uuid as string)
)

layer(TestServer.layer(), { excludeTestServices: true })("Posts", (it) => {
  it.effect("a post requires only a type and a translation, and is a draft with an empty audience", () =>
    Effect.gen(function* () {
      const { body, status } = yield* postPost({
        translations: [{ locale: "nl_nl", title: " Voorjaar bij Café Noir " }]
      })
      assert.strictEqual(status, 201)
      const { createdAt, editedAt, ...post } = yield* readPost(body.data.uuid)
      assert.deepStrictEqual(post, {
        uuid: body.data.uuid,
        slug: "voorjaar-bij-cafe-noir",
        type: "news",
        status: "draft",
        translations: [{ locale: "nl-NL", title: "Voorjaar bij Café Noir" }],
        mediaAssetUuids: [],
        categories: [],
        tags: [],
        audience: { authorizationType: "groups", groups: [], locations: [] },
        pinned: false
      })
      assert.strictEqual(createdAt, editedAt)
    })
  )

  it.effect("a post is written with null for the optional texts of a translation, which are then absent", () =>
    Effect.gen(function* () {
      const bare = { locale: "en", title: "Title" }
      const uuid = yield* createPost({ translations: [{ ...bare, excerpt: null, body: null }] })
      assert.deepStrictEqual((yield* readPost(uuid)).translations, [bare])
      yield* patchPost(uuid, { translations: [{ ...bare, excerpt: "Text", body: "<p>Body</p>" }] })
      assert.strictEqual((yield* patchPost(uuid, { translations: [{ ...bare, excerpt: null }] })).status, 200)
      assert.deepStrictEqual((yield* readPost(uuid)).translations, [bare])
    })
  )

  it.effect("a post with all members is read back unchanged, with the names of referenced records", () =>
    Effect.gen(function* () {
      const [author, group, location] = [
        yield* createUser({ firstName: "Anna", lastName: "de Vries" }),
        yield* createGroup,
        yield* createLocation({ name: "Branch 1", identifier: unique("B") })
      ]
      const fields = {
        slug: unique("whole"),
        type: "announcement",
        status: "draft",
        translations: [
          { locale: "en", title: "Title", excerpt: "Line\nline", body: "<p>Body</p>" },
          { locale: "nl", title: "Titel" }
        ],
        coverAssetUuid: yield* createAsset(),
        mediaAssetUuids: [yield* createAsset(), yield* createAsset()],
        categories: ["a", "b"],
        tags: ["x"],
        callToAction: { type: "order", url: "https://example.com/order" },
        pinned: true,
        publishAt: "2030-01-01T00:00:00.000Z",
        expireAt: "2031-01-01T00:00:00.000Z"
      }
      const audience = { authorizationType: "locations", groups: [{ uuid: group }], locations: [{ uuid: location }] }
      const uuid = yield* createPost({ ...fields, author: { uuid: author }, audience })
      const { createdAt, editedAt, ...post } = yield* readPost(uuid)
      assert.deepStrictEqual(createdAt, editedAt)
      assert.deepInclude(post, { uuid, ...fields, author: { uuid: author, name: "Anna de Vries" } })
      assert.deepStrictEqual(Object.keys(post.audience.groups[0]).toSorted(), ["name", "uuid"])
      assert.deepStrictEqual(Object.keys(post.audience.locations[0]).toSorted(), ["identifier", "name", "uuid"])
      // Sending back what was read changes nothing.
      assert.strictEqual((yield* patchPost(uuid, { ...post, createdAt, editedAt })).status, 200)
      assert.deepStrictEqual(yield* readPost(uuid), { ...post, createdAt, editedAt })
    })
  )

  it.effect("a post update merges objects, replaces lists, clears with null, and only a change sets editedAt", () =>
    Effect.gen(function* () {
      const group = yield* createGroup
      const uuid = yield* createPost({
        tags: ["a"],
        author: { uuid: yield* createUser() },
        audience: { authorizationType: "everyone", groups: [{ uuid: group }] },
        callToAction: { type: "shop", url: "https://example.com" }
      })
      const before = yield* readPost(uuid)
      for (const same of [{}, { tags: ["a"] }, { audience: { authorizationType: "everyone" } }, { pinned: false }]) {
        assert.strictEqual((yield* patchPost(uuid, same)).status, 200)
        assert.deepStrictEqual(yield* readPost(uuid), before)
      }
      yield* patchPost(uuid, { audience: { authorizationType: "groups" }, callToAction: { type: "book" }, tags: ["b"] })
      const after = yield* readPost(uuid)
      assert.deepInclude(after, { tags: ["b"], callToAction: { type: "book", url: "https://example.com" } })
      assert.deepInclude(after.audience, { authorizationType: "groups", groups: before.audience.groups })
      assert.isAbove(Date.parse(after.editedAt), Date.parse(before.editedAt))
      yield* patchPost(uuid, { author: null, callToAction: null, tags: null, audience: { groups: null } })
      const cleared = yield* readPost(uuid)
      assert.notProperty(cleared, "author")
      assert.notProperty(cleared, "callToAction")
      assert.deepStrictEqual([cleared.tags, cleared.audience.groups], [[], []])
      yield* patchPost(uuid, { translations: [{ locale: "de", title: "Neu" }] })
      assert.deepStrictEqual((yield* readPost(uuid)).translations, [{ locale: "de", title: "Neu" }])
    })
  )

  it.effect("post bodies are sanitised, and rejected if the result is empty or too long", () =>
    Effect.gen(function* () {
      const bodied = (body: string) => ({ translations: [translation({ body })] })
      const uuid = yield* createPost(bodied("<p onclick=alert(1)>Hi<script>alert(1)</script></p>"))
      const bodyOf = Effect.map(readPost(uuid), ({ translations }) => translations[0].body as string)
      assert.strictEqual(yield* bodyOf, "<p>Hi</p>")
      yield* patchPost(uuid, bodied("<a href='javascript:alert(1)'>x</a><img src=x onerror=alert(1)>"))
      assert.strictEqual(yield* bodyOf, '<a rel="noopener noreferrer">x</a>')
      // Each ampersand is stored as five characters.
      yield* patchPost(uuid, bodied("&".repeat(40_000)))
      assert.strictEqual((yield* bodyOf).length, 200_000)
      for (const [body, code] of [
        ["&".repeat(40_001), "tooLong"],
        ["<script>alert(1)</script>", "tooShort"],
        ["a".repeat(200_001), "tooLong"],
        ["<p>a".repeat(10_001), "tooMany"]
      ] as const) {
        const answer = yield* patchPost(uuid, bodied(body))
        assert.deepStrictEqual([answer.status, answer.body.issues[0].code], [400, code])
      }
      assert.strictEqual((yield* bodyOf).length, 200_000)
    })
  )

  it.effect("the bodies of a post have at most 2,000,000 characters together after they are sanitised", () =>
    Effect.gen(function* () {
      // Each ampersand is stored as five characters.
      const locales = ["cs", "da", "de", "en", "es", "fr", "it", "nl", "pl", "pt"]
      const articles = (...more: ReadonlyArray<string>) => ({
        translations: [...locales, ...more].map((locale) => translation({ locale, body: "&".repeat(40_000) }))
      })
      const uuid = yield* createPost(articles())
      const answer = yield* patchPost(uuid, articles("sv"))
      assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", "translations tooLong"])
      assert.strictEqual((yield* readPost(uuid)).translations.length, 10)
    })
  )

  it.effect("a duplicate slug in a request is rejected, and a generated slug gets a number", () =>
    Effect.gen(function* () {
      const slug = unique("taken")
      const uuid = yield* createPost({ slug })
      const other = yield* createPost()
      for (const { body, status } of [yield* postPost({ slug }), yield* patchPost(other, { slug })]) {
        assert.strictEqual(status, 400)
        assert.deepInclude(body.issues[0], { in: "body", path: "slug", code: "notUnique" })
      }
      assert.strictEqual((yield* patchPost(uuid, { slug })).status, 200)
      const titled = { translations: [{ locale: "nl", title: "Zelfde" }, translation({ title: "Same title" })] }
      const uuids = yield* Effect.all(
        Array.from({ length: 20 }, () => createPost(titled)),
        { concurrency: "unbounded" }
      )
      const slugs = yield* Effect.forEach(uuids, (uuid) => Effect.map(readPost(uuid), ({ slug }) => slug as string))
      assert.strictEqual(new Set(slugs).size, 20)
      assert.includeMembers(slugs, ["same-title", "same-title-2", "same-title-3"])
      for (const made of slugs) assert.match(made, /^same-title(?:-[0-9a-f]+)?$/)
      const untransliterated = yield* createPost({ translations: [{ locale: "zh", title: "文化" }] })
      assert.strictEqual((yield* readPost(untransliterated)).slug, "post")
    })
  )

  it.effect("posts with the same title that are created at once in transactions get different slugs", () =>
    Effect.gen(function* () {
      const data = { type: "news", translations: [translation()] }
      const operations = [
        { op: "create", data },
        { op: "create", data }
      ]
      const atOnce = (count: number, request: (index: number) => ReturnType<typeof send>) =>
        Effect.all(
          Array.from({ length: count }, (_, index) => request(index)),
          { concurrency: "unbounded" }
        )
      const whole = yield* atOnce(12, () =>
        send("POST", "/v1/posts", { body: data, headers: { "idempotency-key": unique("title") } })
      )
      const bulk = yield* atOnce(3, (index) =>
        send("POST", "/v1/posts/bulk", {
          body: { mode: index % 2 === 0 ? "atomic" : "independent", operations }
        })
      )
      assert.deepStrictEqual(
        [...whole.map(({ status }) => status), ...bulk.map(({ body }) => body.counts)],
        [...whole.map(() => 201), ...bulk.map(() => ({ 201: 2 }))]
      )
      const uuids: ReadonlyArray<string> = [...whole, ...bulk].flatMap(({ body }) =>
        [body.data].flat().map(({ uuid }: { readonly uuid: string }) => uuid)
      )
      const slugs = yield* Effect.forEach(uuids, (uuid) => Effect.map(readPost(uuid), ({ slug }) => slug as string))
      assert.strictEqual(new Set(slugs).size, 18)
    })
  )

  it.effect("unknown references of a post are all listed, before rule violations", () =>
    Effect.gen(function* () {
      const uuid = yield* createPost()
      const before = yield* readPost(uuid)
      const missing = [1, 2].map((last) => unknownUuid.slice(0, -1) + last)
      const listed = missing.map((uuid) => ({ uuid }))
      const invalid = { translations: [{ locale: "xx-YY", title: "a" }] }
      for (const [fields, tag, uuids] of [
        [{ author: { uuid: missing[0] } }, "UserNotFoundError", missing.slice(0, 1)],
        [{ audience: { groups: listed } }, "GroupNotFoundError", missing],
        [{ audience: { locations: listed } }, "LocationNotFoundError", missing],
        [{ coverAssetUuid: missing[0], mediaAssetUuids: missing }, "AssetNotFoundError", missing]
      ] as const) {
        for (const response of [
          yield* postPost({ ...fields, ...invalid }),
          yield* patchPost(uuid, { ...fields, ...invalid })
        ]) {
          const body = expectError(response, 404, tag)
          assert.deepStrictEqual(body.uuids.toSorted(), uuids)
        }
        expectError(yield* patchPost(unknownUuid, { ...fields, ...invalid }), 404, "PostNotFoundError")
      }
      expectError(yield* postPost(invalid), 400, "InvalidLocaleError")
      expectError(yield* patchPost(uuid, invalid), 400, "InvalidLocaleError")
      assert.deepStrictEqual(yield* readPost(uuid), before)
    })
  )

  it.effect("a deleted post is a 404 and its slug is free; deleted references are removed from posts", () =>
    Effect.gen(function* () {
      const slug = unique("gone")
      const uuid = yield* createPost({ slug })
      assert.deepStrictEqual((yield* send("DELETE", `/v1/posts/${uuid}`)).body, { _tag: "Success", data: { uuid } })
      for (const [method, sent] of [
        ["GET", {}],
        ["DELETE", {}],
        ["PATCH", { body: { slug } }]
      ] as const) {
        const body = expectError(yield* send(method, `/v1/posts/${uuid}`, sent), 404, "PostNotFoundError")
        assert.strictEqual(body.uuid, uuid)
      }
      const [author, group, location] = [yield* createUser(), yield* createGroup, yield* createLocation()]
      const left = yield* createGroup
      const again = yield* createPost({
        slug,
        author: { uuid: author },
        audience: { groups: [{ uuid: group }, { uuid: left }], locations: [{ uuid: location }] }
      })
      const paths = [`users/${author}`, `groups/${group}`, `locations/${location}`]
      for (const path of paths) assert.strictEqual((yield* send("DELETE", `/v1/${path}`)).status, 200)
      const post = yield* readPost(again)
      assert.notProperty(post, "author")
      assert.deepStrictEqual(
        post.audience.groups.map(({ uuid }: { readonly uuid: string }) => uuid),
        [left]
      )
      assert.deepStrictEqual(post.audience.locations, [])
    })
  )
})
