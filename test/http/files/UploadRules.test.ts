import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { Sql } from "../../../src/sql/Sql.ts"
import * as TestServer from "../../support/TestServer.ts"
import { download } from "../../support/requests/FileRequests.ts"
import { type Answer, expectError, send } from "../../support/requests/Requests.ts"
import {
  begin,
  complete,
  initialize,
  mebibyte,
  putPart,
  type SentPart,
  sha256,
  stored
} from "../../support/requests/UploadRequests.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)

const assertIssue = (answer: Answer, path: string, code: string) => {
  const label = `${path} ${code}: ${answer.text}`
  expectError(answer, 400, "InvalidRequestError", label)
  assert.deepInclude(answer.body.issues[0], { in: "body", path, code }, label)
}

const filesKnown = Effect.flatMap(Sql, ({ pooled }) =>
  Effect.map(
    pooled.unsafe<{ readonly files: number }>("select count(*)::int as files from files"),
    ([row]) => row!.files
  )
)

layer(TestServer.layer(), { excludeTestServices: true })("Rules of uploads", (it) => {
  it.effect("a completion with wrong parts names the part, and a corrected one succeeds", () =>
    Effect.gen(function* () {
      const bytes = randomBytes(16 * mebibyte + 1)
      const session = yield* begin(bytes.length)
      const [one, two] = [
        yield* putPart(session, 1, bytes.subarray(0, 8 * mebibyte)),
        yield* putPart(session, 2, bytes.subarray(8 * mebibyte, 16 * mebibyte))
      ]
      const files = yield* filesKnown
      const tryWith = (...parts: ReadonlyArray<object>) => complete(session.uuid, parts)
      const numbered = (partNumber: number): SentPart => ({ partNumber, eTag: one.eTag })
      assertIssue(yield* tryWith(one, two, numbered(3)), "parts.2.partNumber", "unknownPart")
      assertIssue(yield* tryWith(one, two, two), "parts.2.partNumber", "givenTwice")
      assertIssue(yield* tryWith(one, two, numbered(4)), "parts.2.partNumber", "outOfRange")
      assertIssue(yield* tryWith(one, { ...two, eTag: one.eTag }), "parts.1.eTag", "mismatch")
      assertIssue(yield* tryWith(one, { ...two, eTag: two.eTag.toUpperCase() }), "parts.1.eTag", "mismatch")
      assertIssue(yield* tryWith(one, { ...two, eTag: "" }), "parts.1.eTag", "mismatch")
      assertIssue(yield* tryWith(one, { ...two, eTag: "../../key" }), "parts.1.eTag", "mismatch")
      assertIssue(yield* tryWith(two), "parts", "missingPart")
      assertIssue(yield* tryWith(one, two), "parts", "wrongSize")
      assert.strictEqual(yield* filesKnown, files)
      assert.strictEqual((yield* send("GET", `/v1/uploads/${session.uuid}`)).body.data.status, "open")

      const three = yield* putPart(session, 3, bytes.subarray(16 * mebibyte))
      assertIssue(yield* tryWith(one, three), "parts", "missingPart")
      const answer = yield* tryWith(three, two, one)
      assert.strictEqual(answer.status, 200, answer.text)
      assert.strictEqual(sha256((yield* download(answer.body.data.url)).bytes), sha256(bytes))
    })
  )

  it.effect("a rejected completion does not delay the next one", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      for (let round = 0; round < 15; round++) {
        const session = yield* begin(3)
        const part = yield* putPart(session, 1, bytesOf("abc"))
        const wrong = { partNumber: 1, eTag: "wrong" }
        // A completion waits for the claim of another one for as long as that may hold it.
        const claims = pooled`select from upload_sessions where uuid = ${session.uuid}::uuid and claimed_until is not null`
        for (const attempt of [1, 2, 3]) {
          assertIssue(yield* complete(session.uuid, [wrong]), "parts.0.eTag", "mismatch")
          assert.lengthOf(yield* claims, 0, `round ${round}, attempt ${attempt}`)
        }
        assert.strictEqual((yield* complete(session.uuid, [part])).status, 200)
      }
    })
  )

  it.effect("more or fewer bytes than declared are rejected", () =>
    Effect.gen(function* () {
      for (const [sent, status] of [
        ["ab", 200],
        ["abcd", 413]
      ] as const) {
        const session = yield* begin(3)
        const { fetch } = yield* TestServer.TestServer
        const part = yield* Effect.promise(() => fetch(session.parts[0]!.url, { method: "PUT", body: sent }))
        assert.strictEqual(part.status, status)
        if (status === 413) {
          const error = (yield* Effect.promise(() => part.json())) as { readonly _tag: string }
          assert.strictEqual(error._tag, "PayloadTooLargeError")
          assertIssue(
            yield* complete(session.uuid, [{ partNumber: 1, eTag: "x" }]),
            "parts.0.partNumber",
            "unknownPart"
          )
        } else {
          const tag = part.headers.get("etag")!
          assertIssue(yield* complete(session.uuid, [{ partNumber: 1, eTag: tag }]), "parts", "wrongSize")
        }
      }
    })
  )

  it.effect("bytes with another SHA-256 than declared abort the upload and are deleted", () =>
    Effect.gen(function* () {
      const [before, files] = [yield* stored, yield* filesKnown]
      const session = yield* begin(5, { sha256: sha256(bytesOf("hello")) })
      const part = yield* putPart(session, 1, bytesOf("HELLO"))
      assertIssue(yield* complete(session.uuid, [part]), "sha256", "mismatch")
      assert.deepStrictEqual(yield* stored, before)
      assert.strictEqual(yield* filesKnown, files)
      const again = yield* complete(session.uuid, [part])
      expectError(again, 404, "FileNotFoundError")
      assert.strictEqual((yield* send("GET", `/v1/uploads/${session.uuid}`)).body.data.status, "aborted")
    })
  )

  it.effect("an invalid completion is rejected with the path of the member", () =>
    Effect.gen(function* () {
      const { uuid } = yield* begin(3)
      const part = { partNumber: 1, eTag: "x" }
      for (const [body, path, code] of [
        [{ parts: [part] }, "uuid", "required"],
        [{ uuid: "nonsense", parts: [part] }, "uuid", "invalidFormat"],
        [{ uuid }, "parts", "required"],
        [{ uuid, parts: [] }, "parts", "required"],
        [{ uuid, parts: [{ eTag: "x" }] }, "parts.0.partNumber", "required"],
        [{ uuid, parts: [{ partNumber: 1 }] }, "parts.0.eTag", "required"],
        [{ uuid, parts: [{ partNumber: 0, eTag: "x" }] }, "parts.0.partNumber", "outOfRange"],
        [{ uuid, parts: [{ partNumber: 10_001, eTag: "x" }] }, "parts.0.partNumber", "outOfRange"],
        [{ uuid, parts: [{ partNumber: 1.5, eTag: "x" }] }, "parts.0.partNumber", "invalid"],
        [{ uuid, parts: [{ partNumber: "1", eTag: "x" }] }, "parts.0.partNumber", "wrongType"],
        [{ uuid, parts: [part, { ...part, size: 3 }] }, "parts.1.size", "unknownMember"],
        [{ uuid, parts: [part], force: true }, "force", "unknownMember"]
      ] as const) {
        assertIssue(yield* send("PUT", "/v1/uploads/complete-multi-part", { body }), path, code)
      }
    })
  )

  it.effect("an invalid initialisation is rejected with the path of the member", () =>
    Effect.gen(function* () {
      const init = { fileName: "file.bin", fileSize: 3 }
      for (const [fields, path, code] of [
        [{ fileName: undefined }, "fileName", "required"],
        [{ fileSize: undefined }, "fileSize", "required"],
        [{ fileSize: 0 }, "fileSize", "outOfRange"],
        [{ fileSize: -1 }, "fileSize", "outOfRange"],
        [{ fileSize: 1.5 }, "fileSize", "invalid"],
        [{ fileSize: "3" }, "fileSize", "wrongType"],
        [{ fileSize: 5 * 1024 ** 3 + 1 }, "fileSize", "tooLarge"],
        [{ fileSize: Number.MAX_SAFE_INTEGER }, "fileSize", "tooLarge"],
        [{ contentType: "png" }, "contentType", "invalidFormat"],
        [{ contentType: `image/${"x".repeat(122)}` }, "contentType", "tooLong"],
        [{ sha256: "abc" }, "sha256", "invalidFormat"],
        [{ sha256: "g".repeat(64) }, "sha256", "invalidFormat"],
        [{ size: 3 }, "size", "unknownMember"],
        [{ filename: "x" }, "filename", "unknownMember"]
      ] as const) {
        assertIssue(yield* initialize({ ...init, ...fields }), path, code)
      }
      const cleared = yield* initialize({ ...init, contentType: null, sha256: null })
      assert.strictEqual(cleared.status, 201, cleared.text)
      const largest = yield* initialize({ ...init, fileSize: 5 * 1024 ** 3 })
      assert.deepStrictEqual([largest.status, largest.body.data.numberOfParts], [201, 640])
    })
  )
})
