import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import * as TestServer from "../../support/TestServer.ts"
import { type Answer, send } from "../../support/requests/Requests.ts"
import { begin, complete, initialize, putPart } from "../../support/requests/UploadRequests.ts"

const init = (fileSize = 3) => ({ fileName: "file.bin", fileSize })
const newKey = Effect.flatMap(TestServer.TestServer, ({ key }) => key(["create:uploads"]))

const assertTooManyOpen = (answer: Answer) => {
  assert.strictEqual(answer.status, 400, answer.text)
  assert.deepInclude(answer.body.issues[0], { in: "body", path: "", code: "tooManyOpen" })
}

const count = (answers: ReadonlyArray<Answer>, status: number) =>
  answers.filter((answer) => answer.status === status).length

layer(TestServer.layer({ UPLOAD_MAX_BYTES: "1000" }), { excludeTestServices: true })("Limits of open uploads", (it) => {
  it.effect("a key can have 50 open uploads; aborted, completed and expired ones no longer count", () =>
    Effect.gen(function* () {
      const key = yield* newKey
      const { pooled } = yield* Sql
      const sessions = yield* Effect.replicateEffect(begin(3, {}, { key }), 50)
      assertTooManyOpen(yield* initialize(init(), { key }))
      assert.strictEqual((yield* initialize(init())).status, 201, "each key has its own limit")

      const [first, second, third] = sessions
      yield* send("DELETE", `/v1/uploads/${first!.uuid}`, { key })
      assert.strictEqual((yield* initialize(init(), { key })).status, 201)
      assertTooManyOpen(yield* initialize(init(), { key }))

      const part = yield* putPart(second!, 1, new TextEncoder().encode("abc"))
      assert.strictEqual((yield* complete(second!.uuid, [part], { key })).status, 200)
      assert.strictEqual((yield* initialize(init(), { key })).status, 201)
      assertTooManyOpen(yield* initialize(init(), { key }))

      yield* pooled.unsafe("update upload_sessions set expires_at = now() where uuid = $1", [third!.uuid])
      assert.strictEqual((yield* initialize(init(), { key })).status, 201)
      assertTooManyOpen(yield* initialize(init(), { key }))
    })
  )

  it.effect("open uploads of a key can have ten times the maximum file size in total", () =>
    Effect.gen(function* () {
      const key = yield* newKey
      for (let uploads = 0; uploads < 9; uploads++) yield* begin(1000, {}, { key })
      yield* begin(999, {}, { key })
      assertTooManyOpen(yield* initialize(init(2), { key }))
      assert.strictEqual((yield* initialize(init(1), { key })).status, 201)
      assertTooManyOpen(yield* initialize(init(1), { key }))
    })
  )

  it.effect("concurrent initialisations never exceed the limits of a key", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      for (const [fileSize, allowed] of [
        [3, 50],
        [1000, 10],
        [300, 33]
      ] as const) {
        const key = yield* newKey
        const answers = yield* Effect.replicateEffect(initialize(init(fileSize), { key }), 60, { concurrency: 60 })
        assert.deepStrictEqual([count(answers, 201), count(answers, 400)], [allowed, 60 - allowed])
        const uuid = (yield* send("GET", "/v1/me", { key })).body.data.uuid
        const rows = yield* pooled.unsafe<{ readonly open: number }>(
          "select count(*)::int as open from upload_sessions where api_key_uuid = $1",
          [uuid]
        )
        assert.strictEqual(rows[0]!.open, allowed)
      }
    })
  )

  it.effect("open uploads of a rotated key count for its successor", () =>
    Effect.gen(function* () {
      const key = yield* newKey
      yield* Effect.replicateEffect(begin(3, {}, { key }), 50)
      const { uuid } = (yield* send("GET", "/v1/me", { key })).body.data
      const successor = (yield* send("POST", `/v1/api-keys/${uuid}/rotate`, { body: {} })).body.data.key
      assertTooManyOpen(yield* initialize(init(), { key: successor }))
    })
  )
})
