import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import * as TestServer from "../../support/TestServer.ts"
import { download } from "../../support/requests/FileRequests.ts"
import { send } from "../../support/requests/Requests.ts"
import {
  begin,
  complete,
  initialize,
  mebibyte,
  putFixedParts,
  putPart,
  sha256,
  upload
} from "../../support/requests/UploadRequests.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)
const uuidForm = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/

layer(TestServer.layer(), { excludeTestServices: true })("Uploads", (it) => {
  it.effect("a file is uploaded, completed, attached to an asset, and read without a key", () =>
    Effect.gen(function* () {
      const bytes = bytesOf("a small poster")
      const before = Date.now()
      const begun = yield* initialize({ fileName: "poster.txt", fileSize: bytes.length, contentType: "text/plain" })
      assert.strictEqual(begun.status, 201)
      const session = begun.body.data
      assert.match(session.uuid, uuidForm)
      assert.deepInclude(session, { numberOfParts: 1, partSize: 8 * mebibyte, requiredHeaders: {} })
      assert.strictEqual(session.parts.length, 1)
      assert.strictEqual(session.parts[0].partNumber, 1)
      assert.isTrue(session.parts[0].url.startsWith("http://waypost.test/uploads/"))
      assert.notProperty(session, "duplicateOf")
      assert.closeTo(Date.parse(session.expiresAt) - before, 24 * 3_600_000, 60_000)

      const part = yield* putPart(session, 1, bytes)
      assert.match(part.eTag, /^"[0-9a-f]{32}"$/)
      const completed = yield* complete(session.uuid, [part])
      assert.strictEqual(completed.status, 200)
      const { fileUuid, url } = completed.body.data
      assert.match(fileUuid, uuidForm)

      const read = yield* download(url)
      assert.deepStrictEqual([read.status, read.text], [200, "a small poster"])
      const tampered = yield* download(url.replace(/.$/, (last: string) => (last === "A" ? "B" : "A")))
      assert.strictEqual(tampered.status, 403)
      assert.notInclude(tampered.text, "poster")

      const asset = yield* send("POST", "/v1/assets", { body: { fileUuid } })
      assert.strictEqual(asset.status, 201)
      const { data } = (yield* send("GET", `/v1/assets/${asset.body.data.uuid}`)).body
      assert.deepInclude(data, { fileNameOriginal: "poster.txt", fileExtension: "txt", fileSize: bytes.length })
    })
  )

  it.effect.each([1, 5 * mebibyte, 5 * mebibyte + 1, 8 * mebibyte, 8 * mebibyte + 1, 24 * mebibyte + 3])(
    "a client that sends parts of 5 MiB can upload %i bytes",
    (size) =>
      Effect.gen(function* () {
        const bytes = randomBytes(size)
        const session = yield* begin(size)
        // The client sends every part, so none may start beyond the end of the file.
        assert.isAtMost((session.numberOfParts - 1) * 5 * mebibyte, size)
        if (size <= 5 * mebibyte) assert.strictEqual(session.numberOfParts, 1)
        assert.strictEqual(session.parts.length, session.numberOfParts)
        const answer = yield* complete(session.uuid, yield* putFixedParts(session, bytes))
        assert.strictEqual(answer.status, 200, answer.text)
        const read = yield* download(answer.body.data.url)
        assert.strictEqual(read.status, 200)
        assert.strictEqual(sha256(read.bytes), sha256(bytes))
      })
  )

  it.effect("a client can use the planned part size or parts of its own size", () =>
    Effect.gen(function* () {
      const bytes = randomBytes(8 * mebibyte + 1)
      for (const cuts of [[8 * mebibyte], [1], []]) {
        const session = yield* begin(bytes.length)
        assert.deepInclude(session, { numberOfParts: 2, partSize: 8 * mebibyte })
        const edges = [0, ...cuts, bytes.length]
        const sent = yield* Effect.forEach(edges.slice(1), (end, index) =>
          putPart(session, index + 1, bytes.subarray(edges[index], end))
        )
        const answer = yield* complete(session.uuid, sent)
        assert.strictEqual(answer.status, 200, `${cuts.join()} ${answer.text}`)
        assert.strictEqual(sha256((yield* download(answer.body.data.url)).bytes), sha256(bytes))
      }
    })
  )

  it.effect("entity tags of parts are accepted in every spelling, with and without quotes", () =>
    Effect.gen(function* () {
      const spellings = [
        (tag: string) => ({ eTag: tag }),
        (tag: string) => ({ ETag: tag }),
        (tag: string) => ({ etag: tag }),
        (tag: string) => ({ eTag: tag.slice(1, -1) }),
        (tag: string) => ({ ETag: tag.slice(1, -1) }),
        (tag: string) => ({ etag: `W/${tag}` }),
        (tag: string) => ({ eTag: ` ${tag} ` })
      ]
      for (const spelling of spellings) {
        const session = yield* begin(3)
        const { eTag, partNumber } = yield* putPart(session, 1, bytesOf("abc"))
        const { status, text } = yield* complete(session.uuid, [{ partNumber, ...spelling(eTag) }])
        assert.strictEqual(status, 200, `${JSON.stringify(spelling(eTag))} ${text}`)
      }
    })
  )

  it.effect("parts can be sent and listed in any order", () =>
    Effect.gen(function* () {
      const bytes = randomBytes(16 * mebibyte + 1)
      const session = yield* begin(bytes.length)
      const sent = yield* Effect.forEach([3, 1, 2], (number) =>
        putPart(session, number, bytes.subarray((number - 1) * 8 * mebibyte, number * 8 * mebibyte))
      )
      const answer = yield* complete(session.uuid, sent.toReversed())
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(sha256((yield* download(answer.body.data.url)).bytes), sha256(bytes))
    })
  )

  it.effect("a part that is sent twice has the bytes of the later request", () =>
    Effect.gen(function* () {
      const session = yield* begin(5)
      const first = yield* putPart(session, 1, bytesOf("first"))
      const later = yield* putPart(session, 1, bytesOf("later"))
      const stale = yield* complete(session.uuid, [first])
      assert.deepInclude(stale.body.issues[0], { path: "parts.0.eTag", code: "mismatch" })
      const { body } = yield* complete(session.uuid, [later])
      assert.strictEqual((yield* download(body.data.url)).text, "later")
    })
  )

  it.effect("a repeated completion returns the same response, even with other parts", () =>
    Effect.gen(function* () {
      const session = yield* begin(3)
      const part = yield* putPart(session, 1, bytesOf("abc"))
      const first = yield* complete(session.uuid, [part])
      assert.strictEqual(first.status, 200)
      for (const parts of [[part], [{ partNumber: 7, eTag: "other" }]]) {
        const again = yield* complete(session.uuid, parts)
        assert.deepStrictEqual([again.status, again.body], [200, first.body])
      }
      const aborted = yield* send("DELETE", `/v1/uploads/${session.uuid}`)
      assert.strictEqual(aborted.status, 400)
      assert.strictEqual((yield* download(first.body.data.url)).text, "abc")
      const late = yield* send("POST", `/v1/uploads/${session.uuid}/parts`, { body: { partNumbers: [1] } })
      assert.strictEqual(late.status, 404)
    })
  )

  it.effect("an upload reports an existing asset with the same content as duplicateOf", () =>
    Effect.gen(function* () {
      const bytes = randomBytes(1000)
      const declared = { sha256: sha256(bytes).toUpperCase() }
      const { fileUuid } = yield* upload(bytes, declared)
      assert.notProperty(yield* begin(bytes.length, declared), "duplicateOf")
      const asset = (yield* send("POST", "/v1/assets", { body: { fileUuid } })).body.data.uuid
      assert.deepStrictEqual((yield* begin(bytes.length, declared)).duplicateOf, { fileUuid, assetUuid: asset })
      assert.notProperty(yield* begin(bytes.length), "duplicateOf")
      assert.notProperty(yield* begin(bytes.length + 1, declared), "duplicateOf")
      yield* send("DELETE", `/v1/assets/${asset}`)
      assert.notProperty(yield* begin(bytes.length, declared), "duplicateOf")
    })
  )

  it.effect("an upload reports duplicateOf only to a key with read:assets", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const bytes = randomBytes(1000)
      const init = { fileName: "a.bin", fileSize: bytes.length, sha256: sha256(bytes) }
      const { fileUuid } = yield* upload(bytes, { sha256: init.sha256 })
      yield* send("POST", "/v1/assets", { body: { fileUuid } })
      const reported = Effect.fnUntraced(function* (...permissions: Parameters<typeof key>[0]) {
        const { body, status } = yield* initialize(init, { key: yield* key(permissions) })
        assert.strictEqual(status, 201)
        return "duplicateOf" in body.data
      })
      assert.isFalse(yield* reported("create:uploads"))
      assert.isFalse(yield* reported("create:uploads", "create:assets", "update:assets"))
      assert.isTrue(yield* reported("create:uploads", "read:assets"))
    })
  )
})
