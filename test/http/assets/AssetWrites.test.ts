import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import {
  createAsset,
  createCategory,
  fileRow,
  patchAsset as patch,
  readAsset as read,
  unattachedSince
} from "../../support/requests/AssetRequests.ts"
import { expectError, send, unique, unknownUuid } from "../../support/requests/Requests.ts"

const entry = (locale: string, name: string | null, rest: object = {}) => ({ locale, name, ...rest })
const all = "categories,metaTags,mimeType,sha256,validFrom,validUntil,focalPoint"

layer(TestServer.layer(), { excludeTestServices: true })("Asset writes", (it) => {
  it.effect("asset categories are replaced whole, and of concurrent replacements exactly one remains", () =>
    Effect.gen(function* () {
      const keys = Array.from({ length: 6 }, () => unique("category"))
      for (const [position, key] of keys.entries()) yield* createCategory({ key, position })
      const uuid = yield* createAsset({ categories: keys.slice(0, 3) })
      const { editedAt } = yield* read(uuid)
      const categories = Effect.map(read(uuid, "categories"), (asset) => asset.categories)
      yield* patch(uuid, { categories: keys.slice(2, 4) })
      assert.deepStrictEqual(yield* categories, keys.slice(2, 4))
      assert.isTrue((yield* read(uuid)).editedAt > editedAt)
      const bad = yield* patch(uuid, {
        categories: [keys[0], "none", unknownUuid],
        translations: [entry("en", "Changed")]
      })
      expectError(bad, 400, "InvalidAssetCategoriesError")
      assert.deepStrictEqual(bad.body.invalid, ["none", unknownUuid])
      assert.deepStrictEqual(yield* categories, keys.slice(2, 4))
      assert.strictEqual((yield* patch(uuid, { categories: Array(21).fill(keys[0]) })).status, 400)
      for (let round = 0; round < 5; round++) {
        const answers = yield* Effect.forEach(keys, (key) => patch(uuid, { categories: [key] }), { concurrency: 6 })
        assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
        assert.lengthOf(yield* categories, 1)
      }
      yield* patch(uuid, { categories: null })
      assert.deepStrictEqual(yield* categories, [])
    })
  )

  it.effect("an asset keeps its uuid when its file is replaced", () =>
    Effect.gen(function* () {
      const old = yield* fileRow("old.txt", 3)
      const uuid = yield* createAsset({ fileUuid: old, translations: [entry("en", "Kept")] })
      const before = yield* read(uuid)
      assert.isUndefined(yield* unattachedSince(old))
      const taken = yield* fileRow("new.pdf", 7)
      assert.strictEqual((yield* patch(uuid, { fileUuid: taken })).status, 200)
      const after = yield* read(uuid)
      assert.deepInclude(after, { uuid, fileNameOriginal: "new.pdf", fileExtension: "pdf", fileSize: 7 })
      assert.deepStrictEqual(after.translations, before.translations)
      for (const [name, url] of Object.entries(after.urls)) {
        assert.include(url as string, taken)
        assert.notStrictEqual(url, before.urls[name])
      }
      assert.isDefined(yield* unattachedSince(old))
      assert.isUndefined(yield* unattachedSince(taken))
      const found = yield* send("GET", "/v1/assets/search?search=new")
      assert.deepStrictEqual(found.body.data, [after])
      assert.strictEqual((yield* send("GET", "/v1/assets/search?search=old.txt")).body.pagination.total, 0)
      const other = yield* createAsset({ fileUuid: old })
      const inUse = yield* patch(uuid, { fileUuid: old })
      assert.deepStrictEqual(
        [inUse.status, inUse.body.issues[0].path, inUse.body.issues[0].code],
        [400, "fileUuid", "notUnique"]
      )
      const unknown = yield* patch(other, {
        fileUuid: unknownUuid,
        categories: ["none"],
        translations: [entry("xx", "a")]
      })
      expectError(unknown, 404, "FileNotFoundError")
      assert.strictEqual(unknown.body.uuid, unknownUuid)
      assert.strictEqual((yield* patch(other, { fileUuid: null })).status, 400)
      assert.strictEqual((yield* read(other)).fileNameOriginal, "old.txt")
    })
  )

  it.effect("an asset patch without changes writes nothing, even with read-only members", () =>
    Effect.gen(function* () {
      const key = unique("category")
      yield* createCategory({ key })
      const fileUuid = yield* fileRow("a.txt")
      const uuid = yield* createAsset({
        fileUuid,
        categories: [key],
        translations: [entry("en", "A", { description: "B" })]
      })
      const before = yield* read(uuid, all)
      const other = {
        uuid: unknownUuid,
        fileSize: 99,
        fileNameOriginal: "b.txt",
        width: 7,
        sha256: "0",
        processing: "ready"
      }
      for (const same of [
        {},
        before,
        { fileUuid },
        { translations: [] },
        { translations: [{ locale: "EN" }] },
        { translations: [entry("en", " A ")] },
        { translations: [entry("fr", null)] },
        { categories: [key, key] },
        { validFrom: null, focalPoint: null },
        { ...other, createdAt: "2020-01-01T00:00:00.000Z" }
      ]) {
        const { body, status } = yield* patch(uuid, same)
        assert.deepStrictEqual([status, body], [200, { _tag: "Success", data: { uuid } }], JSON.stringify(same))
        assert.deepStrictEqual(yield* read(uuid, all), before, JSON.stringify(same))
      }
      for (const [member, suggestion] of [
        ["translation", "translations"],
        ["fileuuid", "fileUuid"]
      ] as const) {
        const { body, status } = yield* patch(uuid, { [member]: [] })
        assert.deepStrictEqual([status, body.issues[0].path, body.issues[0].code], [400, member, "unknownMember"])
        assert.deepStrictEqual(body.issues[0].suggestions, [suggestion])
      }
    })
  )

  it.effect("asset dates and the focal point are merged, cleared and validated", () =>
    Effect.gen(function* () {
      const uuid = yield* createAsset()
      const extras = Effect.map(
        read(uuid, "validFrom,validUntil,focalPoint"),
        ({ focalPoint, validFrom, validUntil }) => ({
          ...(focalPoint && { focalPoint }),
          ...(validFrom && { validFrom }),
          ...(validUntil && { validUntil })
        })
      )
      const [january, february] = ["2026-01-01T00:00:00.000Z", "2026-02-01T00:00:00.000Z"]
      yield* patch(uuid, { validFrom: january, focalPoint: { x: 0, y: 0.5 } })
      yield* patch(uuid, { validUntil: february, focalPoint: { x: 1 } })
      const set = { focalPoint: { x: 1, y: 0.5 }, validFrom: january, validUntil: february }
      assert.deepStrictEqual(yield* extras, set)
      for (const [path, body] of [
        ["validUntil", { validFrom: february }],
        ["validUntil", { validUntil: january }],
        ["focalPoint", { focalPoint: { x: null } }],
        ["focalPoint.x", { focalPoint: { x: -0.1 } }],
        ["focalPoint.z", { focalPoint: { z: 1 } }]
      ] as const) {
        const answer = yield* patch(uuid, body)
        assert.deepStrictEqual([answer.status, answer.body.issues?.[0].path], [400, path])
      }
      assert.deepStrictEqual(yield* extras, set)
      yield* patch(uuid, { validFrom: null, focalPoint: { x: null, y: null } })
      assert.deepStrictEqual(yield* extras, { validUntil: february })
    })
  )
})
