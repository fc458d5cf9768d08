import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { CurrentShare } from "../../src/domain/keys/Share.ts"
import { Sql } from "../../src/sql/Sql.ts"
import { send, unique } from "../support/requests/Requests.ts"
import * as TestServer from "../support/TestServer.ts"

/** Runs an effect while two other keys write many records, which is as many as may at once. */
const whileBusy = <A, E, R>(run: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { manyWrites } = yield* Sql
    for (const id of ["first", "second"]) {
      const share = { id, weight: 1, isAlone: () => false }
      yield* Effect.forkScoped(manyWrites(Effect.never).pipe(Effect.provideService(CurrentShare, share)), {
        startImmediately: true
      })
    }
    return yield* run
  }).pipe(Effect.scoped)

layer(TestServer.layer({ DATABASE_POOL_SIZE: "4" }), { excludeTestServices: true })("writes of many records", (it) => {
  it.effect.each([
    ["an Idempotency-Key", { "idempotency-key": "many-writes" }],
    ["validate-only", { prefer: "validate-only" }]
  ] as const)("a bulk request with %s does not wait with its connection for those of other keys", ([, headers]) =>
    Effect.gen(function* () {
      const body = { operations: [{ op: "create", data: { name: "Branch", identifier: unique("branch") } }] }
      const answer = yield* whileBusy(send("POST", "/v1/locations/bulk", { body, headers })).pipe(
        Effect.timeout("4 seconds")
      )
      assert.strictEqual(answer.status, 200, answer.text)
    })
  )

  it.effect("a plan with members waits for other keys before it takes a connection", () =>
    Effect.gen(function* () {
      const { pipelined } = yield* Sql
      const open = pipelined<{ readonly count: number }>`
        select count(*)::int as count from pg_stat_activity
          where datname = current_database() and state = 'idle in transaction'`
      const username = unique("member")
      const rows = [{ username, email: `${username}@example.com`, groups: [] }]
      const request = send("POST", "/v1/plans?resource=users", { body: rows })
      const counts = yield* whileBusy(
        Effect.gen(function* () {
          yield* Effect.forkScoped(request, { startImmediately: true })
          return yield* Effect.replicateEffect(Effect.andThen(Effect.sleep("50 millis"), open), 20)
        })
      )
      assert.strictEqual(Math.max(...counts.map(([row]) => row!.count)), 0)
      assert.strictEqual((yield* request).status, 201)
    })
  )
})
