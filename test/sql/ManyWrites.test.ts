import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { CurrentShare } from "../../src/domain/keys/Share.ts"
import { Sql } from "../../src/sql/Sql.ts"
import { send, unique } from "../support/requests/Requests.ts"
import * as TestServer from "../support/TestServer.ts"
import { eventually } from "../support/Until.ts"

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

const createUser = (more: object = {}) => {
  const username = unique("user")
  return { username, email: `${username}@example.com`, firstName: "A", lastName: "B", ...more }
}
const bulk = (kind: string, data: object, key?: string) =>
  send("POST", `/v1/${kind}/bulk`, {
    body: { operations: [{ op: "create", data }] },
    ...(key !== undefined && { key })
  })

layer(TestServer.layer(), { excludeTestServices: true })("writes of many records with members", (it) => {
  it.effect("bulk requests that wait for the deletion of a group delay no bulk request without members", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const { key } = yield* TestServer.TestServer
      const keys = yield* Effect.replicateEffect(key(["create:users", "update:groups"]), 2)
      const group = yield* send("POST", "/v1/groups", { body: { name: unique("group") } })
      yield* pooled.unsafe(`create function wait() returns trigger language plpgsql as
        $$ begin while not pg_try_advisory_xact_lock(7) loop perform pg_sleep(0.05); end loop; return old; end $$`)
      yield* pooled.unsafe("create trigger wait before delete on groups for each row execute function wait()")
      const [isHeld, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const holding = yield* pooled`select pg_advisory_xact_lock(7)`.pipe(
        Effect.andThen(Deferred.succeed(isHeld, undefined)),
        Effect.andThen(Deferred.await(release)),
        pooled.withTransaction,
        Effect.forkChild
      )
      yield* Deferred.await(isHeld)
      const deletion = yield* Effect.forkChild(send("DELETE", `/v1/groups/${group.body.data.uuid}`))
      const sleeping = pooled`
        select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`
      yield* eventually("the group is being deleted", sleeping, (rows) => rows.length > 0)
      const waiting = yield* Effect.forkChild(
        Effect.forEach(keys, (key) => bulk("users", createUser({ groups: [] }), key), { concurrency: "unbounded" })
      )
      // They wait in this process, which shows it nowhere.
      yield* Effect.sleep("500 millis")
      const answer = yield* bulk("locations", { name: "Branch", identifier: unique("branch") })
      assert.strictEqual(answer.status, 200, answer.text)
      assert.isUndefined(deletion.pollUnsafe())
      assert.isUndefined(waiting.pollUnsafe())
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(holding)
      assert.strictEqual((yield* Fiber.join(deletion)).status, 200)
      assert.deepStrictEqual(
        (yield* Fiber.join(waiting)).map(({ body }) => body.counts),
        [{ 201: 1 }, { 201: 1 }]
      )
      yield* pooled.unsafe("drop function wait() cascade")
    })
  )

  it.effect("a bulk request with members that waits for those of other keys delays no other write of members", () =>
    Effect.gen(function* () {
      const user = yield* send("POST", "/v1/users", { body: createUser() })
      const waiting = yield* whileBusy(
        Effect.gen(function* () {
          const waiting = yield* Effect.forkDetach(bulk("users", createUser({ groups: [] })))
          yield* Effect.sleep("500 millis")
          const replaced = yield* send("PUT", `/v1/users/${user.body.data.uuid}/groups`, { body: { groups: [] } })
          assert.strictEqual(replaced.status, 200, replaced.text)
          assert.isUndefined(waiting.pollUnsafe())
          return waiting
        })
      )
      assert.deepStrictEqual((yield* Fiber.join(waiting)).body.counts, { 201: 1 })
    })
  )
})

layer(TestServer.limited(), { excludeTestServices: true })("writes of many records that take long", (it) => {
  it.effect(
    "a deleted group is restored also if the return of its members takes longer than other statements have",
    () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const user = yield* send("POST", "/v1/users", { body: createUser() })
        const group = yield* send("POST", "/v1/groups", {
          body: { name: unique("group"), users: [user.body.data.uuid] }
        })
        const path = `/v1/groups/${group.body.data.uuid}`
        assert.strictEqual((yield* send("DELETE", path)).status, 200)
        yield* pooled.unsafe(`create function wait() returns trigger language plpgsql as
        $$ begin perform pg_sleep(6); return new; end $$`)
        yield* pooled.unsafe("create trigger wait before insert on user_groups for each row execute function wait()")
        const restored = yield* send("POST", `${path}/restore`, { body: {} })
        assert.deepStrictEqual([restored.status, restored.headers.get("warning")], [200, null], restored.text)
        yield* pooled.unsafe("drop function wait() cascade")
      })
  )
})

layer(TestServer.layer({ DATABASE_POOL_SIZE: "4" }), { excludeTestServices: true })("writes of many records", (it) => {
  it.effect.each([
    ["an Idempotency-Key", { "idempotency-key": "many-writes" }],
    ["validate-only", { prefer: "validate-only" }]
  ] as const)("a bulk request with %s does not wait with its connection for those of other keys", ([, headers]) =>
    Effect.gen(function* () {
      const body = { operations: [{ op: "create", data: { name: "Branch", identifier: unique("branch") } }] }
      // A request that waits for the other keys ends with an error, because their writes never end.
      const answer = yield* whileBusy(send("POST", "/v1/locations/bulk", { body, headers }))
      assert.strictEqual(answer.status, 200, answer.text)
    })
  )

  it.effect("a plan with members waits for other keys before it takes a connection", () =>
    Effect.gen(function* () {
      const { pipelined } = yield* Sql
      const open = Effect.map(
        pipelined<{ readonly id: string }>`
          select pid || ' ' || xact_start as id from pg_stat_activity
            where datname = current_database() and state = 'idle in transaction'`,
        (rows) => rows.map(({ id }) => id)
      )
      const username = unique("member")
      const rows = [{ username, email: `${username}@example.com`, groups: [] }]
      const request = send("POST", "/v1/plans?resource=users", { body: rows })
      const looks = yield* whileBusy(
        Effect.gen(function* () {
          yield* Effect.forkScoped(request, { startImmediately: true })
          return yield* Effect.replicateEffect(Effect.andThen(Effect.sleep("50 millis"), open), 20)
        })
      )
      // A job of the service is between two statements of its transaction for a moment only.
      const last = looks.slice(-5)
      assert.deepStrictEqual(
        last[0]!.filter((id) => last.every((ids) => ids.includes(id))),
        []
      )
      assert.strictEqual((yield* request).status, 201)
    })
  )
})
