import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { request } from "node:http"
import { Sql } from "../../src/sql/Sql.ts"
import * as DatabaseProxy from "../support/wire/DatabaseProxy.ts"
import { layerOn, Wire } from "../support/wire/Wire.ts"
import { eventually } from "../support/Until.ts"

/** The log entries of writes with an unknown outcome. */
const unknown = (logs: ReadonlyArray<string>) =>
  logs.map((line) => JSON.parse(line)).filter(({ message }) => message === "Perhaps written")

/** Sends a request, incompletely when `length` exceeds the body, and disconnects. */
const hangUp = (path: string, body: string, length = body.length) =>
  Effect.flatMap(Wire, ({ fullKey, port }) =>
    Effect.promise(
      () =>
        new Promise<void>((resolve) => {
          const headers = { authorization: fullKey, "content-type": "application/json", "content-length": length }
          const sent = request({ port, path, method: "PATCH", headers })
          sent.on("error", () => undefined).on("close", resolve)
          sent.write(body)
          setTimeout(() => sent.destroy(), 300)
        })
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
        yield* pooled.unsafe(
          `create function slow_change() returns trigger language plpgsql as $$ begin perform pg_sleep(1); return null; end $$`
        )
        yield* pooled.unsafe(
          `create trigger slow_change before update on locations for each statement execute function slow_change()`
        )
        yield* hangUp(path, '{"name":', 100)
        yield* hangUp(path, '{"name":"Bakery of the town"}')
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
