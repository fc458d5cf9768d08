import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { createAsset } from "../../support/requests/AssetRequests.ts"
import { createPost, patchPost, postPost, readPost } from "../../support/requests/PostRequests.ts"
import { activate, createProduct } from "../../support/requests/ProductRequests.ts"
import { create as createLocation, expectError, send } from "../../support/requests/Requests.ts"

const remove = (uuid: string, query = "") => send("DELETE", `/v1/assets/${uuid}${query}`)
const count = (filter: string) =>
  Effect.map(send("GET", `/v1/posts?filter=${filter}`), ({ body }) => body.pagination.total as number)

layer(TestServer.layer(), { excludeTestServices: true })("Assets of posts", (it) => {
  it.effect("an asset used by posts cannot be deleted, and the error lists every usage", () =>
    Effect.gen(function* () {
      const [asset, other] = [yield* createAsset(), yield* createAsset()]
      const posts = [
        yield* createPost({ coverAssetUuid: asset }),
        yield* createPost({ coverAssetUuid: asset, mediaAssetUuids: [other, asset] }),
        yield* createPost({ mediaAssetUuids: [asset] })
      ].toSorted()
      const [product, location] = [yield* createProduct(), yield* createLocation()]
      yield* activate(product, "files", { files: [{ assetUuid: asset, role: "download" }] })
      yield* send("PUT", `/v1/locations/${location}/media`, { body: { items: [{ assetUuid: asset, role: "other" }] } })
      const body = expectError(yield* remove(asset), 400, "AssetInUseError")
      assert.deepStrictEqual(body.usages, [
        { type: "location", uuid: location },
        ...posts.map((uuid) => ({ type: "post", uuid })),
        { type: "product", uuid: product }
      ])
      assert.deepStrictEqual((yield* remove(other)).body.usages.length, 1)
    })
  )

  it.effect("an asset can be deleted after the post drops it or is deleted", () =>
    Effect.gen(function* () {
      const [a, b, c] = [yield* createAsset(), yield* createAsset(), yield* createAsset()]
      const uuid = yield* createPost({ coverAssetUuid: a, mediaAssetUuids: [b, c] })
      for (const asset of [a, b, c]) assert.strictEqual((yield* remove(asset)).status, 400)
      yield* patchPost(uuid, { coverAssetUuid: null, mediaAssetUuids: [c] })
      for (const asset of [a, b]) assert.strictEqual((yield* remove(asset)).status, 200)
      assert.strictEqual((yield* remove(c)).status, 400)
      yield* send("DELETE", `/v1/posts/${uuid}`)
      assert.strictEqual((yield* remove(c)).status, 200)
    })
  )

  it.effect("an asset deleted by force is removed from its posts and from filters", () =>
    Effect.gen(function* () {
      const [a, b, c] = [yield* createAsset(), yield* createAsset(), yield* createAsset()]
      const uuid = yield* createPost({ coverAssetUuid: a, mediaAssetUuids: [c, a, b] })
      const filters = [`coverAssetUuid:equals:${a}`, `mediaAssetUuids:equals:${a}`, `mediaAssetUuids:contains:${a}`]
      for (const filter of filters) assert.strictEqual(yield* count(filter), 1, filter)
      const before = yield* readPost(uuid)
      assert.deepStrictEqual([before.coverAssetUuid, before.mediaAssetUuids], [a, [c, a, b]])
      assert.strictEqual((yield* remove(a, "?force=true")).status, 200)
      const after = yield* readPost(uuid)
      assert.notProperty(after, "coverAssetUuid")
      assert.deepStrictEqual([after.mediaAssetUuids, after.editedAt], [[c, b], before.editedAt])
      for (const filter of filters) assert.strictEqual(yield* count(filter), 0, filter)
      assert.strictEqual(yield* count(`mediaAssetUuids:equals:${b}`), 1)
      assert.strictEqual((yield* patchPost(uuid, after)).status, 200)
      yield* remove(b, "?force=true")
      yield* remove(c, "?force=true")
      assert.deepStrictEqual((yield* readPost(uuid)).mediaAssetUuids, [])
    })
  )

  it.effect("deleting an asset by force changes the ETag of its posts", () =>
    Effect.gen(function* () {
      const asset = yield* createAsset()
      const uuid = yield* createPost({ coverAssetUuid: asset })
      const tag = Effect.map(send("GET", `/v1/posts/${uuid}`), ({ headers }) => headers.get("etag")!)
      const headers = { "if-match": yield* tag }
      yield* remove(asset, "?force=true")
      const other = { mediaAssetUuids: [yield* createAsset()] }
      assert.strictEqual((yield* patchPost(uuid, other, headers)).status, 412)
      assert.strictEqual((yield* patchPost(uuid, other, { "if-match": yield* tag })).status, 200)
    })
  )

  it.effect("many posts with the same title and assets each get a slug of their own", () =>
    Effect.gen(function* () {
      const coverAssetUuid = yield* createAsset()
      const post = postPost({ coverAssetUuid, translations: [{ locale: "en", title: "Shared cover" }] })
      const answers = yield* Effect.replicateEffect(post, 12, { concurrency: 12 })
      for (const { status, text } of answers) assert.strictEqual(status, 201, text)
      assert.strictEqual((yield* remove(coverAssetUuid)).body.usages.length, 12)
    })
  )

  it.effect("an asset deleted while a post attaches it is either attached or deleted, never both", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 24; round++) {
        const asset = yield* createAsset()
        const fields = round % 2 === 0 ? { coverAssetUuid: asset } : { mediaAssetUuids: [asset] }
        const taking = round % 4 < 2 ? postPost(fields) : patchPost(yield* createPost(), fields)
        const [used, removed] = yield* Effect.all(
          [Effect.delay(taking, `${round % 3} millis`), Effect.delay(remove(asset), `${round % 5} millis`)],
          { concurrency: 2 }
        )
        const outcome = [used.body._tag, removed.body._tag]
        assert.deepStrictEqual(
          outcome,
          used.status === 404 ? ["AssetNotFoundError", "Success"] : ["Success", "AssetInUseError"]
        )
      }
    })
  )
})
