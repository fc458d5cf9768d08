import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { createAsset, fileRow, patchAsset, readAsset, unattachedSince } from "../../support/requests/AssetRequests.ts"
import * as FileRequests from "../../support/requests/FileRequests.ts"
import {
  activate,
  createProduct,
  createVariant,
  deleteModule,
  getModule,
  putModule,
  readModule
} from "../../support/requests/ProductRequests.ts"
import { create as createLocation, expectError, send, unique, unknownUuid } from "../../support/requests/Requests.ts"

const entry = (fields: object) => ({ role: "download", ...fields })
const ofFiles = (...uuids: ReadonlyArray<string>) => ({ files: uuids.map((fileUuid) => entry({ fileUuid })) })
const ofAssets = (...uuids: ReadonlyArray<string>) => ({ files: uuids.map((assetUuid) => entry({ assetUuid })) })
const uuidsIn = ({ files }: any) => files.map(({ assetUuid, fileUuid }: any) => assetUuid ?? fileUuid)
const remove = (uuid: string, query = "") => send("DELETE", `/v1/assets/${uuid}${query}`)
const newFile = Effect.suspend(() => fileRow(`${unique("file")}.txt`))

layer(TestServer.layer(), { excludeTestServices: true })("Files of products", (it) => {
  it.effect("the files module returns all facts of a file and URLs that serve it", () =>
    Effect.gen(function* () {
      const { fileUuid } = yield* FileRequests.upload("Price list.TXT", new TextEncoder().encode("abc"))
      const asset = yield* FileRequests.createAsset("poster.txt", new TextEncoder().encode("poster"))
      const facts = yield* readAsset(asset.uuid, "mimeType,sha256")
      const sent = [
        { fileUuid, role: "print", name: "List", locale: "nl" },
        { assetUuid: asset.uuid, role: "download" }
      ]
      const { files } = yield* activate(yield* createProduct(), "files", { files: sent })
      const { urls, ...first } = files[0]
      const { uuid, ...second } = files[1]
      assert.match(uuid, /^[0-9a-f-]{36}$/)
      assert.deepStrictEqual(first, {
        uuid: files[0].uuid,
        ...sent[0],
        position: 0,
        fileNameOriginal: "Price list.TXT",
        fileExtension: "txt",
        mimeType: "text/plain",
        fileSize: 3,
        sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
      })
      assert.sameMembers(Object.keys(urls), ["original", "thumbnail", "preview", "cdnUrl"])
      assert.strictEqual((yield* FileRequests.download(urls.original)).text, "abc")
      assert.strictEqual((yield* FileRequests.download(urls.thumbnail)).status, 200)
      const { fileExtension, fileNameOriginal, fileSize, mimeType, sha256 } = facts
      assert.deepStrictEqual(second, {
        ...sent[1],
        position: 1,
        fileUuid: asset.fileUuid,
        fileExtension,
        fileNameOriginal,
        fileSize,
        mimeType,
        sha256,
        urls: facts.urls
      })
    })
  )

  it.effect(
    "an entry of an asset always has the current file of the asset, even after the module is sent back unchanged",
    () =>
      Effect.gen(function* () {
        const [first, second] = [yield* newFile, yield* newFile]
        const asset = yield* createAsset({ fileUuid: first })
        const uuid = yield* createProduct()
        const before = yield* activate(uuid, "files", { files: [entry({ assetUuid: asset, fileUuid: unknownUuid })] })
        assert.strictEqual(before.files[0].fileUuid, first)
        assert.deepStrictEqual(yield* activate(uuid, "files", before), before)
        yield* patchAsset(asset, { fileUuid: second })
        const after = yield* readModule(uuid, "files")
        assert.deepStrictEqual([after.files[0].fileUuid, after.editedAt], [second, before.editedAt])
        assert.isDefined(yield* unattachedSince(first))
        // The body was read before the asset got another file; its entry still refers to the asset.
        assert.deepStrictEqual(yield* activate(uuid, "files", before), after)
      })
  )

  it.effect("unknown files or assets are all listed in the error, and nothing is written", () =>
    Effect.gen(function* () {
      const uuid = yield* createProduct()
      const [file, asset] = [yield* newFile, yield* createAsset()]
      const missing = [1, 2].map((last) => unknownUuid.slice(0, -1) + last)
      const before = yield* activate(uuid, "files", ofFiles(file))
      for (const [body, tag] of [
        [ofFiles(file, ...missing), "FileNotFoundError"],
        [ofAssets(asset, ...missing), "AssetNotFoundError"]
      ] as const) {
        const rejected = yield* putModule(uuid, "files", body)
        expectError(rejected, 404, tag)
        assert.deepStrictEqual(rejected.body.uuids.toSorted(), missing)
      }
      const neither = yield* putModule(uuid, "files", { files: [entry({ fileUuid: null })] })
      assert.deepStrictEqual([neither.status, neither.body.issues[0].path], [400, "files.0.fileUuid"])
      assert.deepStrictEqual(yield* readModule(uuid, "files"), before)
      assert.strictEqual((yield* remove(asset)).status, 200)
    })
  )

  it.effect(
    "a file stays attached until its last owner drops it: module, product, other product, asset or location",
    () =>
      Effect.gen(function* () {
        const [uuid, other, location] = [yield* createProduct(), yield* createProduct(), yield* createLocation()]
        const [a, b, c] = [yield* newFile, yield* newFile, yield* newFile]
        const free = Effect.map(Effect.forEach([a, b, c], unattachedSince), (since) =>
          since.map((time) => time !== undefined)
        )
        const show = (...uuids: ReadonlyArray<string>) =>
          send("PUT", `/v1/locations/${location}/media`, {
            body: { items: uuids.map((fileUuid) => ({ fileUuid, role: "other" })) }
          })
        yield* activate(uuid, "files", ofFiles(a, b, b))
        yield* activate(other, "files", ofFiles(b, c))
        assert.deepStrictEqual(yield* free, [false, false, false])
        yield* activate(uuid, "files", ofFiles(b))
        assert.deepStrictEqual(yield* free, [true, false, false])
        yield* deleteModule(uuid, "files")
        assert.deepStrictEqual(yield* free, [true, false, false])
        yield* activate(uuid, "files", ofFiles(a))
        const asset = yield* createAsset({ fileUuid: b })
        yield* show(c)
        yield* send("DELETE", `/v1/products/${other}`)
        assert.deepStrictEqual(yield* free, [false, false, false])
        yield* activate(uuid, "files", ofFiles(a, b, c))
        yield* remove(asset)
        yield* show()
        assert.deepStrictEqual(yield* free, [false, false, false])
        yield* deleteModule(uuid, "files")
        assert.deepStrictEqual(yield* free, [true, true, true])
      })
  )

  it.effect("an asset in a files module cannot be deleted; force also removes it from the module", () =>
    Effect.gen(function* () {
      const [kept, used] = [yield* createAsset(), yield* createAsset()]
      const parent = yield* createProduct({ type: "variantParent" })
      const products = [parent, yield* createVariant(parent), yield* createProduct()]
      for (const uuid of products) yield* activate(uuid, "files", ofAssets(kept, used, used))
      yield* createVariant(parent)
      yield* deleteModule(products[2]!, "files")
      const rejected = yield* remove(used)
      expectError(rejected, 400, "AssetInUseError")
      const usages = products.slice(0, 2).toSorted()
      assert.deepStrictEqual(
        rejected.body.usages,
        usages.map((uuid) => ({ type: "product", uuid }))
      )
      const tag = Effect.map(getModule(parent, "files"), ({ headers }) => headers.get("etag"))
      const before = yield* tag
      assert.strictEqual((yield* remove(used, "?force=true")).status, 200)
      for (const uuid of usages) assert.deepStrictEqual(uuidsIn(yield* readModule(uuid, "files")), [kept])
      assert.notStrictEqual(yield* tag, before)
      yield* send("DELETE", `/v1/products/${products[1]}`)
      yield* activate(parent, "files", {})
      assert.strictEqual((yield* remove(kept)).status, 200)
    })
  )

  it.effect("an asset deleted while a product attaches it is either attached or deleted, never both", () =>
    Effect.gen(function* () {
      const outcomes = new Set<string>()
      for (let round = 0; round < 20; round++) {
        const [asset, uuid] = [yield* createAsset(), yield* createProduct()]
        const [used, removed] = yield* Effect.all(
          [
            Effect.delay(putModule(uuid, "files", ofAssets(asset)), `${round % 3} millis`),
            Effect.delay(remove(asset), `${round % 5} millis`)
          ],
          { concurrency: 2 }
        )
        outcomes.add(`${used.status} ${removed.status}`)
        if (used.status === 200) assert.deepStrictEqual(uuidsIn(yield* readModule(uuid, "files")), [asset])
      }
      assert.includeMembers(["200 400", "404 200"], [...outcomes])
    })
  )
})
