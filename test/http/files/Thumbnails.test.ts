import { assert, layer } from "@effect/vitest"
import { Effect, Layer, References } from "effect"
import { readdirSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import sharp from "sharp"
import { Settings } from "../../../src/settings/Config.ts"
import * as TestServer from "../../support/TestServer.ts"
import { createAsset, download, downloadFinal } from "../../support/requests/FileRequests.ts"
import { send } from "../../support/requests/Requests.ts"
import { eventually } from "../../support/Until.ts"

const webp = { accept: "image/avif,image/webp,*/*" }

const photo = (width: number, height: number) =>
  Effect.promise(() =>
    sharp({ create: { width, height, channels: 3, background: "#3a7" } })
      .jpeg()
      .toBuffer()
  )

const sizeOf = (bytes: Uint8Array) => Effect.promise(() => sharp(bytes).metadata())

const processingOf = (uuid: string) =>
  Effect.map(send("GET", `/v1/assets/${uuid}?include=processing,width,height`), ({ body }) => body.data)

/** Waits until the thumbnails of an asset are no longer pending and returns its state. */
const settled = (uuid: string) =>
  eventually("the thumbnails are no longer pending", processingOf(uuid), ({ processing }) => processing !== "pending")

/** One page with a red square. */
const pdf = new TextEncoder().encode(`%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 400]/Contents 4 0 R>>endobj
4 0 obj<</Length 28>>stream
1 0 0 rg 50 50 100 100 re f
endstream endobj
trailer<</Root 1 0 R>>
%%EOF`)

const services = TestServer.layer().pipe(Layer.provide(Layer.succeed(References.MinimumLogLevel, "None")))

layer(services, { excludeTestServices: true })("Thumbnails", (it) => {
  it.effect("thumbnails of a photo are at most 300 and 1,200 pixels, as WebP if accepted and else as JPEG", () =>
    Effect.gen(function* () {
      const { urls } = yield* createAsset("photo.jpg", yield* photo(2400, 1200))
      for (const [url, side] of [
        [urls.thumbnail, 300],
        [urls.preview, 1200]
      ] as const) {
        for (const [headers, format] of [
          [webp, "webp"],
          [{}, "jpeg"],
          [{ accept: "image/png,*/*" }, "jpeg"],
          [{ accept: "image/webp;q=0.1,image/png" }, "webp"],
          [{ accept: "image/webp;q=0, image/png" }, "jpeg"]
        ] as const) {
          const answer = yield* downloadFinal(url, headers)
          const { height, width, ...found } = yield* sizeOf(answer.bytes)
          assert.deepStrictEqual([answer.status, found.format, width, height], [200, format, side, side / 2])
          assert.strictEqual(answer.headers.get("content-type"), `image/${format}`)
          assert.match(answer.headers.get("vary")!, /accept/i)
          assert.match(answer.headers.get("cache-control")!, /immutable/)
        }
      }
    })
  )

  it.effect("thumbnails are created in the background, and the asset reports their state and its size", () =>
    Effect.gen(function* () {
      const { uuid } = yield* createAsset("later.jpg", yield* photo(640, 480))
      const { height, processing, width } = yield* settled(uuid)
      assert.deepStrictEqual([processing, width, height], ["ready", 640, 480])
    })
  )

  it.effect("thumbnails of a PDF show its first page", () =>
    Effect.gen(function* () {
      const { urls } = yield* createAsset("page.pdf", pdf)
      const { bytes } = yield* downloadFinal(urls.preview, webp)
      const [red, green, blue] = yield* Effect.promise(() =>
        sharp(bytes).extract({ left: 300, top: 900, width: 1, height: 1 }).raw().toBuffer()
      )
      assert.isAbove(red!, 240)
      assert.isBelow(green! + blue!, 40)
      const { height, width } = yield* sizeOf(bytes)
      assert.deepStrictEqual([width, height], [600, 1200])
    })
  )

  it.effect("thumbnails of other files are an icon of their type, immediately and cacheable", () =>
    Effect.gen(function* () {
      const { urls, uuid } = yield* createAsset("prices.csv", new TextEncoder().encode("a,b\n1,2\n"))
      const { bytes, headers, status } = yield* downloadFinal(urls.thumbnail, webp)
      assert.deepStrictEqual([status, headers.get("content-type")], [200, "image/webp"])
      const { height, width } = yield* sizeOf(bytes)
      assert.strictEqual(Math.max(width, height), 300)
      assert.match(headers.get("cache-control")!, /immutable/)
      assert.strictEqual((yield* settled(uuid)).processing, "ready")
    })
  )

  it.effect("thumbnails of a corrupt photo are an icon, and the asset reports the failure", () =>
    Effect.gen(function* () {
      const whole = yield* photo(1500, 1500)
      const { urls, uuid } = yield* createAsset("broken.jpg", whole.subarray(0, whole.length / 2))
      assert.strictEqual((yield* settled(uuid)).processing, "failed")
      const { bytes, status } = yield* downloadFinal(urls.thumbnail, webp)
      assert.strictEqual(status, 200)
      assert.strictEqual((yield* sizeOf(bytes)).format, "webp")
      // The original is served unchanged.
      assert.strictEqual((yield* download(urls.original)).bytes.length, Math.floor(whole.length / 2))
    })
  )

  it.effect("a file that is ready stays so, with its size, when a thumbnail of it cannot be made again", () =>
    Effect.gen(function* () {
      const { DATA_DIR } = yield* Settings
      const { fileUuid, urls, uuid } = yield* createAsset("lost.jpg", yield* photo(640, 480))
      const before = yield* settled(uuid)
      // The stored original is damaged, and no JPEG of it is made yet.
      const files = readdirSync(DATA_DIR, { recursive: true, encoding: "utf8" })
      const original = files.find((name) => basename(name) === fileUuid)
      writeFileSync(join(DATA_DIR, original!), "no photo")
      assert.strictEqual((yield* downloadFinal(urls.thumbnail)).status, 200)
      assert.deepStrictEqual(yield* processingOf(uuid), before)
      assert.strictEqual(before.processing, "ready")
      assert.strictEqual((yield* sizeOf((yield* downloadFinal(urls.thumbnail, webp)).bytes)).width, 300)
    })
  )

  it.effect("concurrent requests for a thumbnail create it once", () =>
    Effect.gen(function* () {
      const { urls } = yield* createAsset("popular.jpg", yield* photo(3000, 2000))
      const answers = yield* Effect.all(
        Array.from({ length: 20 }, () => downloadFinal(urls.thumbnail, webp)),
        { concurrency: 20 }
      )
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        answers.map(() => 200)
      )
      assert.strictEqual(new Set(answers.map(({ bytes }) => Buffer.from(bytes).toString("base64"))).size, 1)
    })
  )

  it.effect("thumbnails follow the file when an asset gets another one", () =>
    Effect.gen(function* () {
      const { urls, uuid } = yield* createAsset("first.jpg", yield* photo(400, 400))
      const { fileUuid } = yield* createAsset("second.jpg", yield* photo(400, 200))
      // The file must be detached from the other asset first.
      const other = yield* send("GET", `/v1/assets?filter=fileNameOriginal:equals:second.jpg`)
      yield* send("DELETE", `/v1/assets/${other.body.data[0].uuid}`)
      yield* send("PATCH", `/v1/assets/${uuid}`, { body: { fileUuid } })
      const after = (yield* send("GET", `/v1/assets/${uuid}`)).body.data
      assert.notStrictEqual(after.urls.thumbnail, urls.thumbnail)
      assert.strictEqual(after.fileNameOriginal, "second.jpg")
      const { bytes } = yield* downloadFinal(after.urls.thumbnail, webp)
      const { height, width } = yield* sizeOf(bytes)
      assert.deepStrictEqual([width, height], [300, 150])
    })
  )
})
