import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { randomBytes } from "node:crypto"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import { CompletionPatience } from "../../../src/services/UploadClaims.ts"
import { Settings } from "../../../src/settings/Config.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { eventually } from "../../support/Until.ts"
import * as TestServer from "../../support/TestServer.ts"
import { download } from "../../support/requests/FileRequests.ts"
import { expectError, send } from "../../support/requests/Requests.ts"
import {
  begin,
  complete,
  mebibyte,
  put,
  putPart,
  type SentPart,
  sha256,
  stored,
  uncomplete
} from "../../support/requests/UploadRequests.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)

/** The stored objects and parts; a check of the storage may be writing below `temporary/` at this moment. */
const kept = Effect.map(stored, (paths) => paths.filter((path) => !path.startsWith("temporary/")))

/** Waits until exactly these files are stored: a check of the storage removes its file, and nothing else may remain. */
const onlyKeeps = (paths: ReadonlyArray<string>) =>
  eventually(`only ${paths.length} files are stored`, stored, (actual) => isDeepStrictEqual(actual, paths))

const get = (uuid: string) => send("GET", `/v1/uploads/${uuid}`)
const abort = (uuid: string) => send("DELETE", `/v1/uploads/${uuid}`)

layer(TestServer.layer(), { excludeTestServices: true })("Concurrent upload requests", (it) => {
  it.effect("parts that arrive during an abort leave no bytes", () =>
    Effect.gen(function* () {
      const before = yield* kept
      for (let round = 0; round < 10; round++) {
        const session = yield* begin(mebibyte)
        const sending = Array.from({ length: 4 }, () => put(session.parts[0]!.url, randomBytes(mebibyte)))
        yield* Effect.all([...sending, abort(session.uuid)], { concurrency: "unbounded" })
      }
      yield* onlyKeeps(before)
    })
  )

  it.effect("concurrent completions of an upload create one file", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const bytes = randomBytes(9 * mebibyte)
      const session = yield* begin(bytes.length)
      const parts = [
        yield* putPart(session, 1, bytes.subarray(0, 8 * mebibyte)),
        yield* putPart(session, 2, bytes.subarray(8 * mebibyte))
      ]
      const before = (yield* kept).length
      const answers = yield* Effect.replicateEffect(complete(session.uuid, parts), 20, { concurrency: 20 })
      for (const answer of answers) assert.deepStrictEqual([answer.status, answer.body], [200, answers[0]!.body])
      const { fileUuid, url } = answers[0]!.body.data
      const rows = yield* pooled.unsafe("select uuid from files where sha256 = $1", [sha256(bytes)])
      assert.deepStrictEqual(rows, [{ uuid: fileUuid }])
      // Two parts and the key file of the upload have become one object.
      assert.strictEqual((yield* kept).length, before - 2)
      assert.strictEqual(sha256((yield* download(url)).bytes), sha256(bytes))
    })
  )

  it.effect("a concurrent completion and abort end as exactly one of the two", () =>
    Effect.gen(function* () {
      const outcomes = new Set<string>()
      // Both orders have to occur; on a busy machine that can take more rounds.
      for (let round = 0; round < 12 || (round < 120 && outcomes.size < 2); round++) {
        const before = yield* kept
        const session = yield* begin(3)
        const part = yield* putPart(session, 1, bytesOf("abc"))
        const [completed, aborted] = yield* Effect.all(
          [
            Effect.delay(complete(session.uuid, [part]), `${Math.max(0, 4 - (round % 12))} millis`),
            Effect.delay(abort(session.uuid), `${Math.max(0, (round % 12) - 4)} millis`)
          ],
          { concurrency: 2 }
        )
        const { status } = (yield* get(session.uuid)).body.data
        outcomes.add(status)
        if (status === "completed") {
          assert.deepStrictEqual([completed.status, aborted.status], [200, 400])
          assert.strictEqual((yield* download(completed.body.data.url)).text, "abc")
        } else {
          assert.deepStrictEqual([status, completed.status, aborted.status], ["aborted", 404, 200])
          yield* onlyKeeps(before)
        }
      }
      assert.deepStrictEqual([...outcomes].toSorted(), ["aborted", "completed"])
    })
  )

  it.effect("an upload whose parts were joined before a crash can be completed or aborted", () =>
    Effect.gen(function* () {
      const before = yield* kept
      const session = yield* begin(3)
      const part = yield* putPart(session, 1, bytesOf("abc"))
      const first = (yield* complete(session.uuid, [part])).body.data
      yield* uncomplete(session.uuid, first.fileUuid)
      const again = yield* complete(session.uuid, [part])
      assert.deepStrictEqual([again.status, again.body.data], [200, first])
      assert.strictEqual((yield* download(first.url)).text, "abc")
      yield* uncomplete(session.uuid, first.fileUuid)
      assert.strictEqual((yield* abort(session.uuid)).status, 200)
      yield* onlyKeeps(before)
    })
  )

  it.effect("an upload whose parts were joined before a crash lists all parts, and is completed as it lists them", () =>
    Effect.gen(function* () {
      const bytes = randomBytes(8 * mebibyte + 10)
      const session = yield* begin(bytes.length)
      const sent = [
        yield* putPart(session, 1, bytes.subarray(0, 5 * mebibyte)),
        yield* putPart(session, 2, bytes.subarray(5 * mebibyte))
      ]
      const first = (yield* complete(session.uuid, sent)).body.data
      yield* uncomplete(session.uuid, first.fileUuid)
      const { parts, status } = (yield* get(session.uuid)).body.data
      assert.strictEqual(status, "open")
      assert.deepStrictEqual(
        parts.map(({ partNumber, size }: { partNumber: number; size: number }) => [partNumber, size]),
        [
          [1, 8 * mebibyte],
          [2, 10]
        ]
      )
      const listed = parts.map(({ eTag, partNumber }: SentPart) => ({ eTag, partNumber }))
      const again = yield* complete(session.uuid, listed)
      assert.deepStrictEqual([again.status, again.body.data], [200, first])
      assert.strictEqual(sha256((yield* download(first.url)).bytes), sha256(bytes))
    })
  )

  it.effect("a part sent again after a crash is in the file, even if the parts were joined before the crash", () =>
    Effect.gen(function* () {
      const { DATA_DIR } = yield* Settings
      const before = yield* kept
      const session = yield* begin(3)
      const added = (yield* kept).find((path) => !before.includes(path))
      const keyFile = join(DATA_DIR, "files", added!)
      const key = readFileSync(keyFile)
      const part = yield* putPart(session, 1, bytesOf("abc"))
      const first = (yield* complete(session.uuid, [part])).body.data
      // A crash before the folder of the upload was removed.
      yield* uncomplete(session.uuid, first.fileUuid)
      mkdirSync(dirname(keyFile))
      writeFileSync(keyFile, key)
      const again = yield* putPart(session, 1, bytesOf("xyz"))
      expectError(yield* complete(session.uuid, [part]), 400, "InvalidRequestError")
      const completed = yield* complete(session.uuid, [again])
      assert.deepStrictEqual([completed.status, completed.body.data], [200, first])
      assert.strictEqual((yield* download(first.url)).text, "xyz")
    })
  )
})

const impatient = TestServer.layer().pipe(Layer.provide(Layer.succeed(CompletionPatience, "300 millis")))

layer(impatient, { excludeTestServices: true })("Completions that wait", (it) => {
  it.effect("a completion that waits too long for another one is answered 503, and a later one succeeds", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const session = yield* begin(3)
      const part = yield* putPart(session, 1, bytesOf("abc"))
      const claimedUntil = (time: string) =>
        pooled`update upload_sessions set claimed_until = ${time}::timestamptz where uuid = ${session.uuid}::uuid`
      yield* claimedUntil("2100-01-01")
      expectError(yield* complete(session.uuid, [part]), 503, "ServiceUnavailableError")
      yield* claimedUntil("2000-01-01")
      assert.strictEqual((yield* complete(session.uuid, [part])).status, 200)
    })
  )
})
