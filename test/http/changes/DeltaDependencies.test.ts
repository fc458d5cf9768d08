import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { create } from "../../support/changes/Feed.ts"
import { changedBy, end, page, rest, sealAll } from "../../support/changes/Mirror.ts"
import { createAsset, createCategory, createMetaTag, fileRow } from "../../support/requests/AssetRequests.ts"
import { send, unique } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"

const user = Effect.suspend(() => create("users", { username: unique("u"), email: `${unique("u")}@example.com` }))
const location = Effect.suspend(() => create("locations", { name: "Branch", identifier: unique("l") }))
const group = Effect.suspend(() => create("groups", { name: unique("g") }))
const post = (fields: object) =>
  create("posts", { type: "news", translations: [{ locale: "en", title: unique("n") }], ...fields })
const product = (fields: object) => create("products", { name: "Flyer", identifier: unique("p"), ...fields })
const variant = (parentUuid: string) =>
  product({ type: "variant", parentUuid, optionValues: [{ option: "size", value: unique("v") }] })

const write = (method: string, path: string, body?: unknown) =>
  Effect.tap(send(method, `/v1/${path}`, body === undefined ? {} : { body }), ({ status, text }) =>
    status < 300 ? Effect.void : Effect.die(new Error(`${path} answered ${status}: ${text}`))
  )
const patch = (path: string, body: unknown) => write("PATCH", path, body)
const remove = (path: string) => write("DELETE", path)

/** What `changedBy` returns for one record after another. */
const expectChanges = Effect.fnUntraced(function* (
  resource: string,
  cases: ReadonlyArray<
    readonly [
      write: Effect.Effect<unknown> | Effect.Effect<unknown, never, TestServer.TestServer>,
      expected: ReadonlyArray<string>
    ]
  >
) {
  for (const [write, expected] of cases) {
    assert.deepStrictEqual(yield* changedBy(resource, write), expected.toSorted())
  }
})

layer(TestServer.layer(), { excludeTestServices: true })("A record comes again in the delta", (it) => {
  it.effect("of groups when users and locations join, leave or are deleted, from either side", () =>
    Effect.gen(function* () {
      const [one, two, member, place] = [yield* group, yield* group, yield* user, yield* location]
      yield* expectChanges("groups", [
        [write("PUT", `users/${member}/groups`, { groups: [one, two] }), [one, two]],
        [write("PUT", `users/${member}/groups`, { groups: [two] }), [one]],
        [write("PUT", `groups/${one}/users`, { users: [member] }), [one]],
        [write("PUT", `locations/${place}/groups`, { groups: [one] }), [one]],
        [write("PUT", `locations/${place}/users`, { users: [member] }), []],
        [remove(`users/${member}`), [one, two]],
        [remove(`locations/${place}`), [one]]
      ])
    })
  )

  it.effect("of groups for a key that sees neither users nor locations", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const groups = yield* key(["read:groups"])
      const [one, member] = [yield* group, yield* user]
      const join = write("PUT", `users/${member}/groups`, { groups: [one] })
      assert.deepStrictEqual(yield* changedBy("groups", join, groups), [one])
    })
  )

  it.effect("of users after a login, which is no event", () =>
    Effect.gen(function* () {
      const member = yield* user
      const login = write("POST", `users/${member}/logins`, {})
      assert.deepStrictEqual(yield* changedBy("users", login), [member])
      const { body } = yield* send("GET", `/v1/events?record=${member}`)
      assert.deepStrictEqual(
        body.data.map(({ type }: { readonly type: string }) => type),
        ["user.created"]
      )
    })
  )

  it.effect("of locations when an asset in their media has another file or is deleted", () =>
    Effect.gen(function* () {
      const [place, asset] = [yield* location, yield* createAsset()]
      const media = { items: [{ assetUuid: asset, role: "team" }] }
      const picture = yield* fileRow("picture.png", 1, "image/png")
      yield* expectChanges("locations", [
        [write("PUT", `locations/${place}/media`, media), [place]],
        [patch(`assets/${asset}`, { fileUuid: picture }), [place]],
        [patch(`assets/${asset}`, { translations: [{ locale: "nl", name: "Foto" }] }), []],
        [remove(`assets/${asset}?force=true`), [place]]
      ])
    })
  )

  it.effect("of posts when their author is renamed or deleted, and not when the author logs in", () =>
    Effect.gen(function* () {
      const author = yield* user
      const [one, two] = [yield* post({ author: { uuid: author } }), yield* post({ author: { uuid: author } })]
      yield* expectChanges("posts", [
        [patch(`users/${author}`, { firstName: "Ada" }), [one, two]],
        [patch(`users/${author}`, { phone: "+31301234567" }), []],
        [write("POST", `users/${author}/logins`, {}), []],
        [patch(`posts/${two}`, { author: null }), [two]],
        [remove(`users/${author}`), [one]]
      ])
    })
  )

  it.effect("of posts when a group or location of their audience is renamed or deleted", () =>
    Effect.gen(function* () {
      const [region, place] = [yield* group, yield* location]
      const one = yield* post({ audience: { authorizationType: "groups", groups: [{ uuid: region }] } })
      const two = yield* post({ audience: { authorizationType: "locations", locations: [{ uuid: place }] } })
      yield* expectChanges("posts", [
        [patch(`groups/${region}`, { name: unique("g") }), [one]],
        [patch(`groups/${region}`, { description: "North" }), []],
        [patch(`locations/${place}`, { name: "Renamed" }), [two]],
        [patch(`locations/${place}`, { identifier: unique("l") }), [two]],
        [remove(`groups/${region}`), [one]],
        [remove(`locations/${place}`), [two]]
      ])
    })
  )

  it.effect("of posts when a location is renamed, only for keys that see its name", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const posts = yield* key(["read:posts"])
      const place = yield* location
      const one = yield* post({ audience: { authorizationType: "locations", locations: [{ uuid: place }] } })
      assert.deepStrictEqual(yield* changedBy("posts", patch(`locations/${place}`, { name: "Renamed" }), posts), [])
      assert.deepStrictEqual(yield* changedBy("posts", remove(`locations/${place}`), posts), [one])
    })
  )

  it.effect("of posts when their cover or an asset of their media is deleted", () =>
    Effect.gen(function* () {
      const [cover, photo] = [yield* createAsset(), yield* createAsset()]
      const one = yield* post({ coverAssetUuid: cover })
      const two = yield* post({ mediaAssetUuids: [photo] })
      yield* expectChanges("posts", [
        [remove(`assets/${cover}?force=true`), [one]],
        [remove(`assets/${photo}?force=true`), [two]]
      ])
    })
  )

  it.effect("of products when their variants and the modules of their parent come and go", () =>
    Effect.gen(function* () {
      const parent = yield* product({ type: "variantParent" })
      const other = yield* product({ type: "variantParent" })
      const one = yield* variant(parent)
      const cursor = yield* end("products")
      const two = yield* variant(parent)
      yield* sealAll
      const { data } = yield* rest("products", cursor)
      assert.deepStrictEqual(data.map(({ uuid }) => uuid).toSorted(), [parent, two].toSorted())
      const comments = (body: unknown) => write("PUT", `products/${parent}/modules/internal-comment`, body)
      yield* expectChanges("products", [
        [comments({}), [parent, one, two]],
        [patch(`products/${two}`, { parentUuid: other }), [parent, other, two]],
        [remove(`products/${parent}/modules/internal-comment`), [parent, one]],
        [remove(`products/${one}`), [parent, one]]
      ])
    })
  )

  it.effect("of assets when a category is renamed, moved or deleted, or a meta tag changes", () =>
    Effect.gen(function* () {
      const key = unique("c")
      const category = yield* createCategory({ key })
      const colour = unique("m").replace("-", "_")
      const option = (label: string) => [{ key: "red", translations: [{ locale: "en", label }] }]
      const tag = yield* createMetaTag({ key: colour, type: "select", options: option("Red") })
      const asset = yield* createAsset({ categories: [key], metaTags: [{ key: colour, value: "red" }] })
      const definition = (yield* send("GET", `/v1/meta-tags/${tag}`)).body.data
      const options = [{ ...definition.options[0], translations: [{ locale: "en", label: "Scarlet" }] }]
      yield* expectChanges("assets", [
        [patch(`asset-categories/${category}`, { key: unique("c") }), [asset]],
        [patch(`asset-categories/${category}`, { position: 7 }), [asset]],
        [patch(`asset-categories/${category}`, { translations: [{ locale: "en", name: "Photos" }] }), []],
        [patch(`meta-tags/${tag}`, { options }), [asset]],
        [patch(`meta-tags/${tag}`, { translations: [{ locale: "en", name: "Colour" }] }), []],
        [remove(`asset-categories/${category}`), [asset]],
        [remove(`meta-tags/${tag}`), [asset]]
      ])
    })
  )

  it.effect("of meta tags when a category that they apply to is renamed", () =>
    Effect.gen(function* () {
      const key = unique("c")
      const category = yield* createCategory({ key })
      const tag = yield* createMetaTag({ key: unique("m").replace("-", "_"), type: "text", categories: [key] })
      assert.deepStrictEqual(
        yield* changedBy("meta-tags", patch(`asset-categories/${category}`, { key: unique("c") })),
        [tag]
      )
    })
  )

  it.effect("although one event affects more records than a page has, each of them once", () =>
    Effect.gen(function* () {
      const author = yield* user
      const posts = yield* Effect.forEach(Array.from({ length: 25 }), () => post({ author: { uuid: author } }))
      const cursor = yield* end("posts")
      yield* patch(`users/${author}`, { firstName: "Grace" })
      yield* sealAll
      const first = yield* page("posts", cursor, { limit: 10 })
      assert.deepStrictEqual([first.data.length, first.more], [10, true])
      const others = yield* rest("posts", first.cursor, { limit: 10 })
      const read = [...first.data, ...others.data].map(({ uuid }) => uuid)
      assert.deepStrictEqual(read, posts.toSorted())
    })
  )
})
