import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { Settings } from "../../../src/settings/Config.ts"
import { failing, smallDisk, smallDiskIs } from "../../support/storage/Disks.ts"
import { filesBelow } from "../../support/storage/Folder.ts"
import { begin, complete, partsOf, pathOf, put, send } from "../../support/requests/UploadParts.ts"
import * as Wire from "../../support/wire/Wire.ts"
import { asset, assertUnavailable, during, onStore, rows, sent } from "../../support/storage/BrokenStorage.ts"

const initialize = send("POST", "/v1/uploads/init-multi-part", {
  body: JSON.stringify({ fileName: "file.bin", fileSize: 1000 })
})

/** Asserts that an asset can be read: everything but its bytes is in the database. */
const assertReads = Effect.fnUntraced(function* (uuid: string) {
  for (const path of [`/v1/assets/${uuid}`, "/v1/assets", "/v1/assets/search?search=file"]) {
    assert.strictEqual((yield* send("GET", path)).status, 200, path)
  }
})

const assertDownload = Effect.fnUntraced(function* (url: string, bytes: Uint8Array) {
  const { headers, status } = yield* send("GET", pathOf(url), { key: null })
  assert.deepStrictEqual([status, headers["content-length"]], [200, String(bytes.length)])
})

const temporary = Effect.map(Settings, ({ DATA_DIR }) => filesBelow(join(DATA_DIR, "files", "temporary")))

const onSmallDisk = Layer.unwrap(Effect.map(smallDisk, (folder) => Wire.layer({ DATA_DIR: folder })))

layer(onSmallDisk, { excludeTestServices: true })(`Full storage disk (${smallDiskIs})`, (it) => {
  it.effect("a part that does not fit on the disk is a 503 and leaves no bytes; reads and small files still work", () =>
    Effect.gen(function* () {
      const bytes = randomBytes(100_000)
      const { url, uuid } = yield* asset(bytes)
      const before = yield* rows
      const large = yield* begin(3_000_000)
      assertUnavailable(yield* put(large.parts[0]!.url, randomBytes(3_000_000)))
      assert.deepStrictEqual(yield* partsOf(large.uuid), [])
      assert.deepStrictEqual(yield* temporary, [])
      assert.deepStrictEqual(yield* rows, before)
      yield* assertReads(uuid)
      yield* assertDownload(url, bytes)
      yield* asset(randomBytes(1000))
    })
  )
})

layer(Wire.layer(), { excludeTestServices: true })("Storage disk that cannot flush", (it) => {
  it.effect("if fsync fails, every upload step is a 503 and no file is created; reads work, and a retry succeeds", () =>
    Effect.gen(function* () {
      const bytes = randomBytes(1000)
      const { url, uuid } = yield* asset(bytes)
      const before = yield* rows
      const begun = yield* begin(1000)
      const arrived = yield* sent(bytes)
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* failing("sync", "EIO", () => true)
          assertUnavailable(yield* initialize, "initialize")
          assertUnavailable(yield* put(begun.parts[0]!.url, bytes), "part")
          assertUnavailable(yield* complete(arrived.uuid, arrived.parts), "complete")
          yield* assertReads(uuid)
          yield* assertDownload(url, bytes)
        })
      )
      assert.deepStrictEqual(yield* rows, before)
      assert.deepStrictEqual(yield* partsOf(begun.uuid), [])
      assert.deepStrictEqual(yield* temporary, [])
      assert.strictEqual((yield* complete(arrived.uuid, arrived.parts)).status, 200)
    })
  )
})

layer(onStore, { excludeTestServices: true })("Object store faults", (it) => {
  it.effect("the console may send parts to the store", () =>
    Effect.gen(function* () {
      const { origin } = new URL((yield* begin(1000)).parts[0]!.url)
      const { headers } = yield* send("GET", "/console", { key: null })
      const policy = String(headers["content-security-policy"]).split("; ")
      const sources = policy.find((directive) => directive.startsWith("connect-src"))!.split(" ")
      assert.include(sources, origin)
    })
  )

  for (const fault of [
    "is overloaded",
    "has an internal error",
    "fails without an error code",
    "resets the connection",
    "closes the connection",
    "succeeds with an error inside",
    "succeeds with nothing"
  ] as const) {
    it.effect(`a store that ${fault} causes a 503 and creates no file, and a retry succeeds`, () =>
      Effect.gen(function* () {
        const bytes = randomBytes(1000)
        const { url, uuid } = yield* asset(bytes)
        const before = yield* rows
        const arrived = yield* sent(bytes)
        yield* during(
          fault,
          Effect.gen(function* () {
            const answers = yield* Effect.all(
              [initialize, complete(arrived.uuid, arrived.parts), send("GET", pathOf(url), { key: null })],
              { concurrency: "unbounded" }
            )
            for (const [index, answer] of answers.entries()) assertUnavailable(answer, String(index))
            yield* assertReads(uuid)
          })
        )
        assert.deepStrictEqual(yield* rows, before)
        yield* assertDownload(url, bytes)
        assert.strictEqual((yield* complete(arrived.uuid, arrived.parts)).status, 200)
      })
    )
  }

  for (const fault of [
    "resets the connection in the middle",
    "closes the connection in the middle",
    "has half of the object",
    "is overloaded"
  ] as const) {
    it.effect(`a store that ${fault} during a download aborts it, so that the client detects the truncation`, () =>
      Effect.gen(function* () {
        const { url } = yield* asset(randomBytes(1000))
        const { raw } = yield* Wire.Wire
        // If the connection stays open, the test fails by its timeout.
        const request = `GET ${pathOf(url)} HTTP/1.1\r\nHost: waypost.test\r\n\r\n`
        const { answers, headers, text } = yield* during(fault, raw(request), ({ method }) => method === "GET")
        assert.isBelow(text.length, 1000)
        if (answers > 0) assert.strictEqual(headers["content-length"], "1000")
      })
    )
  }
})
