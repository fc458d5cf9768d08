import { assert, it } from "@effect/vitest"
import { Context, Effect, Exit } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { SqlError } from "effect/sql"
import type { CurrentApiKey } from "../../../src/api/Authorization.ts"
import * as ReplicaRouting from "../../../src/http/transport/ReplicaRouting.ts"
import { OwnWrites } from "../../../src/sql/connections/OwnWrites.ts"

const failure = (reason: SqlError.SqlErrorReason) => new SqlError.SqlError({ reason })
const cause = new Error("lost")

const endpoint = HttpApiEndpoint.patch("change", "/things") as unknown as HttpApiEndpoint.Top
const group = HttpApiGroup.make("things") as unknown as HttpApiGroup.Top

/** Whether a write that ends like this notes a position of its key. */
const notes = Effect.fnUntraced(function* (respond: Effect.Effect<HttpServerResponse.HttpServerResponse>) {
  const noted: Array<string> = []
  const route = yield* Effect.provideService(ReplicaRouting.make, OwnWrites, {
    hasReplicas: true,
    replicaFor: () => undefined,
    note: (key) => Effect.sync(() => void noted.push(key))
  })
  const request = HttpServerRequest.fromWeb(new Request("http://waypost.test/things", { method: "PATCH" }))
  const answer = route(respond, "key", request, endpoint, group)
  const exit = yield* Effect.exit(Effect.provideContext(answer, Context.empty() as Context.Context<CurrentApiKey>))
  return { isSuccess: Exit.isSuccess(exit), noted: noted.length }
})

it.effect("a write notes its position once if it is committed or may be, and never if it is not", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* notes(Effect.succeed(HttpServerResponse.empty())), { isSuccess: true, noted: 1 })
    for (const [respond, noted] of [
      [Effect.die(failure(new SqlError.ConnectionError({ cause, operation: "execute" }))), 1],
      [Effect.interrupt, 1],
      [Effect.die(failure(new SqlError.ConnectionError({ cause, operation: "connect" }))), 0],
      [Effect.die(failure(new SqlError.StatementTimeoutError({ cause, operation: "execute" }))), 0],
      [Effect.die(new Error("defect")), 0]
    ] as const) {
      assert.deepStrictEqual(yield* notes(respond), { isSuccess: false, noted })
    }
  })
)
