import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { request } from "node:http"
import { Sql } from "../../src/sql/Sql.ts"
import * as Postgres from "../support/Postgres.ts"
import * as DatabaseProxy from "../support/wire/DatabaseProxy.ts"
import { layerOn, Wire } from "../support/wire/Wire.ts"
import { eventually } from "../support/Until.ts"

/** The log entries of writes with an unknown outcome. */
const unknown = (logs: ReadonlyArray<string>) =>
  logs.map((line) => JSON.parse(line)).filter(({ message }) => message === "Perhaps written")

/** Sends a request, incompletely when `length` exceeds the body, and disconnects after `wait`. */
const hangUp = <E, R>(path: string, body: string, wait: Effect.Effect<unknown, E, R>, length = body.length) =>
  Effect.flatMap(Wire, ({ fullKey, port }) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        const headers = { authorization: fullKey, "content-type": "application/json", "content-length": length }
        const sent = request({ port, path, method: "PATCH", headers })
        sent.on("error", () => undefined)
        sent.write(body)
        return sent
      }),
      () => wait,
      (sent) => Effect.sync(() => sent.destroy())
    )
  )

layer(layerOn(DatabaseProxy.sql), { excludeTestServices: true })("audit log", (it) => {
  it.effect(
    "a write whose client disconnected is logged as perhaps written, and one with an incomplete body is not logged",
    () =>
      Effect.gen(function* () {
        const { logs, send } = yield* Wire
        const { pooled } = yield* Sql
        const { body } = yield* send("POST", "/v1/locations", { body: '{"name":"Bakery","identifier":"B1"}' })
        const path = `/v1/locations/${body.data.uuid}`
        // The end of its client ends it before.
        yield* pooled.unsafe(
          `create function slow_change() returns trigger language plpgsql as $$ begin perform pg_sleep(50); return null; end $$`
        )
        yield* pooled.unsafe(
          `create trigger slow_change before update on locations for each statement execute function slow_change()`
        )
        yield* hangUp(path, '{"name":', Effect.sleep("300 millis"), 100)
        const writing = eventually(
          "the write runs",
          pooled.unsafe(`select from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()`),
          (sessions) => sessions.length > 0
        )
        yield* hangUp(path, '{"name":"Bakery of the town"}', writing)
        const logged = yield* eventually(
          "the write is logged",
          Effect.sync(() => unknown(logs)),
          (lines) => lines.length > 0
        )
        assert.strictEqual(logged.length, 1)
        assert.strictEqual(logged[0].annotations.operation, "locations.update")
        assert.strictEqual(logged[0].annotations.record, body.data.uuid)
        assert.isString(logged[0].annotations.requestId)
        assert.isString(logged[0].annotations.key)
      })
  )
})

layer(layerOn(Postgres.sql), { excludeTestServices: true })("audit log of a write", (it) => {
  /** Sends a request and returns its answer and its lines in the audit log. */
  const sendLogged = Effect.fnUntraced(function* (method: string, path: string, body?: object) {
    const { logs, send } = yield* Wire
    const before = logs.length
    const answer = yield* send(method, path, body && { body: JSON.stringify(body) })
    const lines = logs.slice(before).map((line) => JSON.parse(line))
    const own = lines.filter(({ annotations }) => annotations.requestId === answer.headers["x-request-id"])
    const written = own.map(({ annotations: { action, operation, record }, message }) => ({
      message,
      action,
      operation,
      record
    }))
    return { data: answer.body.data, written }
  })
  const key = { name: "Key", permissions: ["create:api-keys"] }

  it.effect("a rotation logs the old key as updated and the new key as created", () =>
    Effect.gen(function* () {
      const { data: old } = yield* sendLogged("POST", "/v1/api-keys", key)
      const { data: successor, written } = yield* sendLogged("POST", `/v1/api-keys/${old.uuid}/rotate`, {})
      const operation = "apiKeys.rotate"
      assert.deepStrictEqual(written, [
        { message: "Written", action: "updated", operation, record: old.uuid },
        { message: "Written", action: "created", operation, record: successor.uuid }
      ])
    })
  )

  it.effect("a revocation with descendants logs each revoked key", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const { data: root } = yield* sendLogged("POST", "/v1/api-keys", key)
      const child = yield* send("POST", "/v1/api-keys", { body: JSON.stringify(key), key: root.key })
      const path = `/v1/api-keys/${root.uuid}?descendants=true`
      const line = { message: "Written", action: "deleted", operation: "apiKeys.revoke" }
      assert.deepStrictEqual((yield* sendLogged("DELETE", path)).written, [
        { ...line, record: root.uuid },
        { ...line, record: child.body.data.uuid }
      ])
      assert.deepStrictEqual((yield* sendLogged("DELETE", path)).written, [
        { ...line, message: "Unchanged", record: root.uuid }
      ])
    })
  )

  it.effect("a PATCH that changes nothing is logged as unchanged", () =>
    Effect.gen(function* () {
      const { data } = yield* sendLogged("POST", "/v1/groups", { name: "Bakeries" })
      const line = { action: "updated", operation: "groups.update", record: data.uuid }
      for (const [description, message] of [
        ["North", "Written"],
        ["North", "Unchanged"],
        ["South", "Written"]
      ]) {
        const { written } = yield* sendLogged("PATCH", `/v1/groups/${data.uuid}`, { description })
        assert.deepStrictEqual(written, [{ ...line, message: message! }])
      }
    })
  )
})
