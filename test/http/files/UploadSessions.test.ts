import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { Sql } from "../../../src/sql/Sql.ts"
import * as TestServer from "../../support/TestServer.ts"
import { type Answer, expectError, send } from "../../support/requests/Requests.ts"
import { begin, complete, mebibyte, put, putPart, type Session, stored } from "../../support/requests/UploadRequests.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)

const notFound = (answer: Answer, label = "") => {
  expectError(answer, 404, "FileNotFoundError", label)
}

const get = (uuid: string) => send("GET", `/v1/uploads/${uuid}`)
const abort = (uuid: string) => send("DELETE", `/v1/uploads/${uuid}`)
const renew = (uuid: string, partNumbers: ReadonlyArray<number>) =>
  send("POST", `/v1/uploads/${uuid}/parts`, { body: { partNumbers } })

const expire = (uuid: string) =>
  Effect.flatMap(Sql, ({ pooled }) =>
    pooled.unsafe("update upload_sessions set expires_at = now() - interval '1 second' where uuid = $1", [uuid])
  )

layer(TestServer.layer(), { excludeTestServices: true })("Upload sessions", (it) => {
  it.effect("an upload lists the received parts, and after completion the file", () =>
    Effect.gen(function* () {
      const bytes = randomBytes(8 * mebibyte + 10)
      const session = yield* begin(bytes.length, { fileName: "film.mp4" })
      const { parts: _, requiredHeaders: _h, ...shown } = session
      const expected = { ...shown, fileName: "film.mp4", fileSize: bytes.length, status: "open" }
      assert.deepStrictEqual((yield* get(session.uuid)).body.data, { ...expected, parts: [] })
      const two = yield* putPart(session, 2, bytes.subarray(8 * mebibyte))
      const arrived = { ...two, eTag: two.eTag.slice(1, -1), size: 10 }
      assert.deepStrictEqual((yield* get(session.uuid)).body.data, { ...expected, parts: [arrived] })
      const one = yield* putPart(session, 1, bytes.subarray(0, 8 * mebibyte))
      const { parts } = (yield* get(session.uuid)).body.data
      assert.deepStrictEqual(
        parts.map(({ partNumber, size }: { partNumber: number; size: number }) => [partNumber, size]),
        [
          [1, 8 * mebibyte],
          [2, 10]
        ]
      )
      // The listed parts are valid for the completion.
      const completed = yield* complete(
        session.uuid,
        [parts[0], parts[1]].map(({ eTag, partNumber }) => ({ eTag, partNumber }))
      )
      assert.strictEqual(completed.status, 200, `${one.eTag} ${completed.text}`)
      const { fileUuid } = completed.body.data
      assert.deepStrictEqual((yield* get(session.uuid)).body.data, {
        ...expected,
        status: "completed",
        parts: [],
        fileUuid
      })
    })
  )

  it.effect("new URLs can be requested for parts of an upload", () =>
    Effect.gen(function* () {
      const session = yield* begin(20 * mebibyte)
      const { body, status } = yield* renew(session.uuid, [3, 1, 3])
      assert.strictEqual(status, 200)
      const { parts } = body.data as Pick<Session, "parts">
      assert.deepStrictEqual(
        parts.map(({ partNumber }) => partNumber),
        [3, 1]
      )
      const fresh = { ...session, parts }
      yield* putPart(fresh, 3, bytesOf("three"))
      assert.deepInclude((yield* get(session.uuid)).body.data.parts[0], { partNumber: 3, size: 5 })
      for (const [partNumbers, path, code] of [
        [[1, 4], "partNumbers.1", "outOfRange"],
        [[], "partNumbers", "required"],
        [[0], "partNumbers.0", "outOfRange"],
        [Array.from({ length: 1001 }, () => 1), "partNumbers", "tooMany"]
      ] as const) {
        const rejected = yield* renew(session.uuid, partNumbers)
        assert.strictEqual(rejected.status, 400)
        assert.deepInclude(rejected.body.issues[0], { in: "body", path, code })
      }
    })
  )

  it.effect("aborting an upload deletes its bytes, and later parts are rejected", () =>
    Effect.gen(function* () {
      const before = yield* stored
      const session = yield* begin(10)
      const part = yield* putPart(session, 1, bytesOf("ten bytes!"))
      assert.isAbove((yield* stored).length, before.length)
      const aborted = yield* abort(session.uuid)
      assert.deepStrictEqual([aborted.status, aborted.body.data], [200, { uuid: session.uuid }])
      assert.deepStrictEqual(yield* stored, before)
      const late = yield* put(session.parts[0]!.url, bytesOf("late"))
      assert.deepStrictEqual([late.status, JSON.parse(late.text)._tag], [404, "FileNotFoundError"])
      assert.deepStrictEqual(yield* stored, before)
      notFound(yield* complete(session.uuid, [part]))
      notFound(yield* renew(session.uuid, [1]))
      assert.deepInclude((yield* get(session.uuid)).body.data, { status: "aborted", parts: [] })
    })
  )

  it.effect("an upload that is aborted again has the same answer, because the first answer may be lost", () =>
    Effect.gen(function* () {
      const before = yield* stored
      const session = yield* begin(10)
      yield* putPart(session, 1, bytesOf("ten bytes!"))
      for (const attempt of ["once", "again"]) {
        const { body, status } = yield* abort(session.uuid)
        assert.deepStrictEqual([status, body.data], [200, { uuid: session.uuid }], attempt)
      }
      const concurrent = yield* begin(10)
      const answers = yield* Effect.all([abort(concurrent.uuid), abort(concurrent.uuid), abort(concurrent.uuid)], {
        concurrency: 3
      })
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [200, 200, 200]
      )
      assert.deepStrictEqual(yield* stored, before)
    })
  )

  it.effect("an expired upload cannot be continued", () =>
    Effect.gen(function* () {
      const session = yield* begin(3)
      const part = yield* putPart(session, 1, bytesOf("abc"))
      yield* expire(session.uuid)
      notFound(yield* complete(session.uuid, [part]))
      notFound(yield* renew(session.uuid, [1]))
      notFound(yield* abort(session.uuid))
      assert.deepInclude((yield* get(session.uuid)).body.data, { status: "expired", parts: [] })
    })
  )
})
