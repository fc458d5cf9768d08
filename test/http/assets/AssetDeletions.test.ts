import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import * as TestServer from "../../support/TestServer.ts"
import {
  createAsset,
  createCategory,
  createMetaTag,
  fileRow,
  readAsset,
  unattachedSince
} from "../../support/requests/AssetRequests.ts"
import { createPost } from "../../support/requests/PostRequests.ts"
import {
  create as createLocation,
  expectError,
  read as readLocation,
  send,
  unique,
  unknownUuid
} from "../../support/requests/Requests.ts"

const remove = (uuid: string, query = "", headers: Readonly<Record<string, string>> = {}) =>
  send("DELETE", `/v1/assets/${uuid}${query}`, { headers })
const tagOf = (uuid: string) => Effect.map(send("GET", `/v1/assets/${uuid}`), ({ headers }) => headers.get("etag")!)
const showIn = (location: string, media: object) => send("PUT", `/v1/locations/${location}/media`, { body: media })
const newTag = Effect.suspend(() => {
  const key = unique("tag_").replace("-", "")
  return Effect.as(createMetaTag({ key, type: "integer" }), key)
})

layer(TestServer.layer(), { excludeTestServices: true })("Deleting assets", (it) => {
  it.effect("a deleted asset is a 404 everywhere, leaves lists and searches, and detaches its file", () =>
    Effect.gen(function* () {
      const [category, tag] = [unique("category"), yield* newTag]
      yield* createCategory({ key: category })
      const fileUuid = yield* fileRow("gone.txt")
      const metaTags = [{ key: tag, value: 1 }]
      const uuid = yield* createAsset({ fileUuid, categories: [category], metaTags })
      const total = Effect.map(send("GET", "/v1/assets?limit=1"), ({ body }) => body.pagination.total)
      const before = yield* total
      const { body, status } = yield* remove(uuid)
      assert.deepStrictEqual([status, body], [200, { _tag: "Success", data: { uuid } }])
      assert.strictEqual(yield* total, before - 1)
      assert.strictEqual((yield* send("GET", "/v1/assets/search?search=gone")).body.pagination.total, 0)
      assert.isDefined(yield* unattachedSince(fileUuid))
      for (const answer of [
        yield* remove(uuid),
        yield* remove(uuid, "?force=true"),
        yield* send("GET", `/v1/assets/${uuid}`),
        yield* send("GET", `/v1/assets/${uuid}/meta-tags`),
        yield* send("PATCH", `/v1/assets/${uuid}`, { body: { translations: [{ locale: "xx", name: "a" }] } }),
        yield* send("PATCH", `/v1/assets/${uuid}/meta-tags`, { body: { metaTags: [{ key: "none", value: 1 }] } })
      ]) {
        expectError(answer, 404, "AssetNotFoundError")
        assert.strictEqual(answer.body.uuid, uuid)
      }
      const again = yield* createAsset({ fileUuid })
      assert.notStrictEqual(again, uuid)
      assert.isUndefined(yield* unattachedSince(fileUuid))
    })
  )

  it.effect("a second delete of an asset deleted by force is a 404, even if a post referred to it", () =>
    Effect.gen(function* () {
      const uuid = yield* createAsset()
      yield* createPost({ coverAssetUuid: uuid })
      assert.strictEqual((yield* remove(uuid, "?force=true")).status, 200)
      expectError(yield* remove(uuid), 404, "AssetNotFoundError")
    })
  )

  it.effect("an asset in use is not deleted and the error lists its usages; force also removes it from there", () =>
    Effect.gen(function* () {
      const uuid = yield* createAsset()
      const other = yield* createAsset()
      const locations = [yield* createLocation(), yield* createLocation()].toSorted()
      yield* showIn(locations[0]!, { logo: { assetUuid: uuid }, items: [{ assetUuid: uuid, role: "menu" }] })
      yield* showIn(locations[1]!, {
        items: [
          { assetUuid: uuid, role: "team" },
          { assetUuid: other, role: "team" }
        ]
      })
      for (const query of ["", "?force=false"]) {
        const body = expectError(yield* remove(uuid, query), 400, "AssetInUseError")
        assert.deepStrictEqual(
          body.usages,
          locations.map((location) => ({ type: "location", uuid: location }))
        )
        assert.include(body.message, locations[0])
      }
      assert.strictEqual((yield* readAsset(uuid)).uuid, uuid)
      assert.strictEqual((yield* remove(uuid, "?force=yes")).status, 400)
      assert.strictEqual((yield* remove(uuid, "?force=true")).status, 200)
      assert.deepStrictEqual((yield* readLocation(locations[0]!)).media, { items: [] })
      const [item, ...rest] = (yield* readLocation(locations[1]!)).media.items
      assert.deepStrictEqual([item.assetUuid, rest], [other, []])
    })
  )

  it.effect("the error of an asset in use names a thousand of its usages", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const [uuid, prefix] = [yield* createAsset(), unique("used")]
      yield* pooled`insert into locations (uuid, name, identifier)
        select uuidv7(), 'Branch', ${prefix} || i from generate_series(1, 1001) i`
      yield* pooled`insert into location_media (uuid, location_uuid, asset_uuid, is_logo, role, position, labels)
        select uuidv7(), uuid, ${uuid}::uuid, true, 'logo', 0, '[]' from locations where starts_with(identifier, ${prefix})`
      assert.lengthOf(expectError(yield* remove(uuid), 400, "AssetInUseError").usages, 1000)
    })
  )

  it.effect("an asset deleted while a location attaches it is either attached or deleted, never both", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 10; round++) {
        const uuid = yield* createAsset()
        const location = yield* createLocation()
        const [used, removed] = yield* Effect.all(
          [showIn(location, { items: [{ assetUuid: uuid, role: "other" }] }), remove(uuid)],
          { concurrency: 2 }
        )
        const shown = (yield* readLocation(location)).media.items.length
        assert.deepStrictEqual(
          [used.status, removed.status, shown],
          used.status === 200 ? [200, 400, 1] : [404, 200, 0]
        )
      }
    })
  )

  it.effect("a stale If-Match is a 412 for every asset write, reported after existence and before rules", () =>
    Effect.gen(function* () {
      const [category, tag] = [unique("category"), yield* newTag]
      yield* createCategory({ key: category })
      const uuid = yield* createAsset()
      yield* showIn(yield* createLocation(), { items: [{ assetUuid: uuid, role: "other" }] })
      const first = yield* tagOf(uuid)
      const writes = (headers: Readonly<Record<string, string>>) => [
        send("PATCH", `/v1/assets/${uuid}`, { body: { categories: [category] }, headers }),
        send("PATCH", `/v1/assets/${uuid}`, { body: { validFrom: "2026-01-01T00:00:00.000Z" }, headers }),
        send("PATCH", `/v1/assets/${uuid}/meta-tags`, { body: { metaTags: [{ key: tag, value: 1 }] }, headers })
      ]
      let current = first
      for (let index = 0; index < 3; index++) {
        assert.strictEqual((yield* writes({ "if-match": current })[index]!).status, 200)
        const next = yield* tagOf(uuid)
        assert.notStrictEqual(next, current, `write ${index} changes the tag`)
        current = next
      }
      const headers = { "if-match": first }
      const broken = { translations: [{ locale: "xx", name: "a" }] }
      for (const answer of [
        ...(yield* Effect.all(writes(headers))),
        yield* send("PATCH", `/v1/assets/${uuid}`, { body: {}, headers }),
        yield* send("PATCH", `/v1/assets/${uuid}`, { body: broken, headers }),
        yield* send("PATCH", `/v1/assets/${uuid}/meta-tags`, {
          body: { metaTags: [{ key: "none", value: 1 }] },
          headers
        }),
        yield* remove(uuid, "", headers),
        yield* remove(uuid, "?force=true", headers)
      ]) {
        expectError(answer, 412, "PreconditionFailedError")
      }
      assert.strictEqual((yield* remove(unknownUuid, "", headers)).status, 404)
      assert.strictEqual((yield* send("PATCH", `/v1/assets/${unknownUuid}`, { body: broken, headers })).status, 404)
      assert.strictEqual((yield* remove(uuid, "?force=true", { "if-match": current })).status, 200)
    })
  )

  it.effect("of concurrent asset writes with the same If-Match exactly one succeeds", () =>
    Effect.gen(function* () {
      const tag = yield* newTag
      const uuid = yield* createAsset()
      const headers = { "if-match": yield* tagOf(uuid) }
      const answers = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, index) => index),
        (value) =>
          value % 2 === 0
            ? send("PATCH", `/v1/assets/${uuid}/meta-tags`, { body: { metaTags: [{ key: tag, value }] }, headers })
            : send("PATCH", `/v1/assets/${uuid}`, { body: { focalPoint: { x: value / 20, y: 0 } }, headers }),
        { concurrency: 20 }
      )
      assert.sameMembers(
        answers.map(({ status }) => status),
        [200, ...Array<number>(19).fill(412)]
      )
    })
  )
})
