import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import { type Answer, send } from "../../support/requests/Requests.ts"
import { begin, complete, initialize, putPart } from "../../support/requests/UploadRequests.ts"
import * as TestServer from "../../support/TestServer.ts"

const newKey = Effect.flatMap(TestServer.TestServer, ({ key }) => key(["create:uploads"]))
const size = 400
const init = { fileName: "file.bin", fileSize: size }

const upload = Effect.fnUntraced(function* (key: string) {
  const session = yield* begin(size, {}, { key })
  const part = yield* putPart(session, 1, new Uint8Array(size).fill(97))
  const { body } = yield* complete(session.uuid, [part], { key })
  return body.data.fileUuid as string
})

const assertUsedUp = (answer: Answer) => {
  assert.strictEqual(answer.status, 429, answer.text)
  assert.strictEqual(answer.body._tag, "RateLimitExceededError")
  assert.include(answer.body.message, "1000 bytes")
  assert.include(answer.body.message, "UNATTACHED_BYTES_PER_KEY")
}

const assertFits = (key: string) =>
  Effect.map(initialize(init, { key }), ({ status, text }) => assert.strictEqual(status, 201, text))

const query = (text: string, uuid: string) => Effect.flatMap(Sql, ({ pooled }) => pooled.unsafe(text, [uuid]))

layer(TestServer.layer({ UPLOAD_MAX_BYTES: "500", UNATTACHED_BYTES_PER_KEY: "1000" }), { excludeTestServices: true })(
  "unattached bytes of a key",
  (it) => {
    it.effect("open uploads and unattached files count together; the answer says when bytes are freed", () =>
      Effect.gen(function* () {
        const key = yield* newKey
        const file = yield* upload(key)
        yield* query("update files set created_at = now() - interval '23 hours' where uuid = $1", file)
        yield* begin(size, {}, { key })
        const answer = yield* initialize(init, { key })
        assertUsedUp(answer)
        const seconds = Number(answer.headers.get("retry-after"))
        assert.strictEqual(answer.body.retryAfterSeconds, seconds)
        assert.isAtMost(seconds, 3600)
        assert.isAtLeast(seconds, 3000)
        yield* assertFits(yield* newKey)
      })
    )

    it.effect("a file that a record uses no longer counts, and counts again when the record is deleted", () =>
      Effect.gen(function* () {
        const key = yield* newKey
        const fileUuid = yield* upload(key)
        yield* upload(key)
        assertUsedUp(yield* initialize(init, { key }))
        const { body } = yield* send("POST", "/v1/assets", { body: { fileUuid } })
        const session = yield* begin(size, {}, { key })
        yield* send("DELETE", `/v1/uploads/${session.uuid}`, { key })
        yield* send("DELETE", `/v1/assets/${body.data.uuid}`)
        assertUsedUp(yield* initialize(init, { key }))
      })
    )

    it.effect("aborted and expired uploads, and files older than a day, no longer count", () =>
      Effect.gen(function* () {
        const key = yield* newKey
        const session = yield* begin(size, {}, { key })
        const fileUuid = yield* upload(key)
        assertUsedUp(yield* initialize(init, { key }))
        yield* send("DELETE", `/v1/uploads/${session.uuid}`, { key })
        const second = yield* begin(size, {}, { key })
        assertUsedUp(yield* initialize(init, { key }))
        yield* query("update upload_sessions set expires_at = now() where uuid = $1", second.uuid)
        yield* begin(size, {}, { key })
        assertUsedUp(yield* initialize(init, { key }))
        yield* query("update files set created_at = now() - interval '24 hours' where uuid = $1", fileUuid)
        yield* assertFits(key)
      })
    )

    it.effect("a rotated key and its successor count together, in both directions and concurrently", () =>
      Effect.gen(function* () {
        const key = yield* newKey
        const { uuid } = (yield* send("GET", "/v1/me", { key })).body.data
        const successor: string = (yield* send("POST", `/v1/api-keys/${uuid}/rotate`, { body: {} })).body.data.key
        const answers = yield* Effect.forEach(
          Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? key : successor)),
          (one) => initialize(init, { key: one }),
          { concurrency: 20 }
        )
        assert.strictEqual(answers.filter(({ status }) => status === 201).length, 2)
        assertUsedUp(yield* initialize(init, { key }))
        assertUsedUp(yield* initialize(init, { key: successor }))
      })
    )
  }
)
