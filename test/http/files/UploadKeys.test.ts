import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import * as TestServer from "../../support/TestServer.ts"
import { type Answer, expectError, send, unknownKey, unknownUuid } from "../../support/requests/Requests.ts"
import { begin, complete, put, putPart, type Session } from "../../support/requests/UploadRequests.ts"

const bytesOf = (text: string) => new TextEncoder().encode(text)
const notFound = (answer: Answer, label = "") => {
  expectError(answer, 404, "FileNotFoundError", label)
}

const get = (uuid: string, key?: string) => send("GET", `/v1/uploads/${uuid}`, key === undefined ? {} : { key })

/** Every operation on an existing upload, with a key. */
const operations = (uuid: string, parts: ReadonlyArray<object>, key: string) =>
  [
    ["complete", send("PUT", "/v1/uploads/complete-multi-part", { key, body: { uuid, parts } })],
    ["get", send("GET", `/v1/uploads/${uuid}`, { key })],
    ["renew", send("POST", `/v1/uploads/${uuid}/parts`, { key, body: { partNumbers: [1] } })],
    ["abort", send("DELETE", `/v1/uploads/${uuid}`, { key })]
  ] as const

layer(TestServer.layer(), { excludeTestServices: true })("Keys of uploads", (it) => {
  it.effect("an upload is a 404 for every other key, and so is an unknown upload", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const [owner, other, without] = [
        yield* key(["create:uploads"]),
        yield* key(["create:uploads"]),
        yield* key(["read:assets"])
      ]
      const session = yield* begin(3, {}, { key: owner })
      const part = yield* putPart(session, 1, bytesOf("abc"))
      for (const [label, operation] of operations(session.uuid, [part], other)) notFound(yield* operation, label)
      for (const [label, operation] of operations(unknownUuid, [part], owner)) notFound(yield* operation, label)
      for (const [label, operation] of operations(session.uuid, [part], without)) {
        const answer = yield* operation
        assert.strictEqual(answer.status, 403, label)
        assert.deepStrictEqual(answer.body.missing, ["create:uploads"])
      }
      const init = { fileName: "a", fileSize: 1 }
      const path = "/v1/uploads/init-multi-part"
      assert.strictEqual((yield* send("POST", path, { key: without, body: init })).status, 403)
      for (const stranger of [null, unknownKey]) {
        assert.strictEqual((yield* send("POST", path, { key: stranger, body: init })).status, 401)
      }
      assert.strictEqual((yield* complete(session.uuid, [part], { key: owner })).status, 200)
      notFound(yield* complete(session.uuid, [part], { key: other }))
    })
  )

  it.effect("an upload can be continued by the successors of a rotated key", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const first = yield* key(["create:uploads"])
      const rotate = Effect.fnUntraced(function* (old: string) {
        const { uuid } = (yield* send("GET", "/v1/me", { key: old })).body.data
        const rotated = yield* send("POST", `/v1/api-keys/${uuid}/rotate`, { body: {} })
        assert.strictEqual(rotated.status, 201, rotated.text)
        return rotated.body.data.key as string
      })
      const session = yield* begin(3, {}, { key: first })
      const part = yield* putPart(session, 1, bytesOf("abc"))
      const second = yield* rotate(first)
      assert.strictEqual((yield* get(session.uuid, second)).status, 200)
      const third = yield* rotate(second)
      assert.strictEqual((yield* get(session.uuid, third)).body.data.parts.length, 1)
      // During the overlap the old key can continue its own uploads, but not those of its successor.
      assert.strictEqual((yield* get(session.uuid, first)).status, 200)
      notFound(yield* get((yield* begin(3, {}, { key: third })).uuid, first))
      assert.strictEqual((yield* complete(session.uuid, [part], { key: third })).status, 200)
      assert.strictEqual((yield* complete(session.uuid, [part], { key: first })).status, 200)
    })
  )

  it.effect("URLs of parts end with their key, and continue with its successor", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const me = (key: string) => Effect.map(send("GET", "/v1/me", { key }), ({ body }) => body.data.uuid as string)
      const sent = (session: Session) => put(session.parts[0]!.url, bytesOf("abc"))

      const revoked = yield* key(["create:uploads"])
      const session = yield* begin(3, {}, { key: revoked })
      assert.strictEqual((yield* sent(session)).status, 200)
      yield* send("DELETE", `/v1/api-keys/${yield* me(revoked)}`)
      const rejected = yield* sent(session)
      assert.strictEqual(rejected.status, 403, rejected.text)
      assert.include(rejected.text, "InvalidAddressError")

      const expiring = yield* key(["create:uploads"])
      const expired = yield* begin(3, {}, { key: expiring })
      const uuid = yield* me(expiring)
      const { pooled } = yield* Sql
      yield* pooled`update api_keys set expires_at = now() where uuid = ${uuid}::uuid`
      assert.strictEqual((yield* sent(expired)).status, 403)

      const rotated = yield* key(["create:uploads"])
      const continued = yield* begin(3, {}, { key: rotated })
      const successor = yield* send("POST", `/v1/api-keys/${yield* me(rotated)}/rotate`, {
        body: { overlapSeconds: 0 }
      })
      assert.strictEqual((yield* send("GET", "/v1/me", { key: rotated })).status, 401)
      assert.strictEqual((yield* sent(continued)).status, 200)
      yield* send("DELETE", `/v1/api-keys/${yield* me(successor.body.data.key)}`)
      assert.strictEqual((yield* sent(continued)).status, 403)
    })
  )
})
