import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createUser } from "../../support/requests/ProductRequests.ts"
import { expectError, problemsOf, send, unknownUuid } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"

const read = (uuid: string) => Effect.map(send("GET", `/v1/users/${uuid}`), ({ body }) => body.data)
const signIn = (uuid: string, body: unknown = {}, headers = {}) =>
  send("POST", `/v1/users/${uuid}/logins`, { body, headers })

const day = 86_400_000
const inDays = (days: number) => new Date(Date.now() + days * day).toISOString()
const times = ["2026-03-01T08:00:00.000Z", "2026-03-02T08:00:00.000Z", "2026-03-02T08:00:00.001Z"] as const

layer(TestServer.layer(), { excludeTestServices: true })("Logins", (it) => {
  it.effect("a login sets lastLoginAt and leaves editedAt and every other member unchanged", () =>
    Effect.gen(function* () {
      const uuid = yield* createUser({ firstName: "Anna" })
      const before = yield* read(uuid)
      assert.notProperty(before, "lastLoginAt")
      const answer = yield* signIn(uuid, { at: times[0] })
      assert.deepStrictEqual([answer.status, answer.body.data], [200, { uuid }])
      assert.deepStrictEqual(yield* read(uuid), { ...before, lastLoginAt: times[0] })
    })
  )

  it.effect("a login without a time is now", () =>
    Effect.gen(function* () {
      const uuid = yield* createUser()
      for (const body of [{}, { at: null }]) {
        const before = Date.now()
        assert.strictEqual((yield* signIn(uuid, body)).status, 200)
        const at = Date.parse((yield* read(uuid)).lastLoginAt)
        assert.isAtLeast(at, before)
        assert.isAtMost(at, Date.now())
      }
    })
  )

  it.effect("an earlier login does not move lastLoginAt back", () =>
    Effect.gen(function* () {
      const uuid = yield* createUser()
      for (const [at, expected] of [
        [times[1], times[1]],
        [times[0], times[1]],
        [times[2], times[2]],
        [times[1], times[2]]
      ]) {
        assert.strictEqual((yield* signIn(uuid, { at })).status, 200)
        assert.strictEqual((yield* read(uuid)).lastLoginAt, expected)
      }
    })
  )

  it.effect("of concurrent logins the latest remains", () =>
    Effect.gen(function* () {
      const uuid = yield* createUser()
      const all = Array.from({ length: 40 }, (_, minute) => new Date(Date.parse(times[0]) + minute * 60_000))
      const shuffled = all.toSorted((a, b) => (a.getTime() % 7) - (b.getTime() % 7))
      const answers = yield* Effect.forEach(shuffled, (at) => signIn(uuid, { at: at.toISOString() }), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
      assert.strictEqual((yield* read(uuid)).lastLoginAt, all.at(-1)!.toISOString())
    })
  )

  it.effect("a login more than a day ahead of the clock, a malformed time and an unknown member are a 400", () =>
    Effect.gen(function* () {
      const uuid = yield* createUser()
      for (const [body, problem] of [
        [{ at: inDays(2) }, "at outOfRange"],
        [{ at: "9999-12-31T23:59:59.999Z" }, "at outOfRange"],
        [{ at: "2026-03-01" }, "at invalidFormat"],
        [{ at: 1_772_352_000_000 }, "at wrongType"],
        [{ time: times[0] }, "time unknownMember"]
      ]) {
        assert.deepStrictEqual(problemsOf(yield* signIn(uuid, body)), [400, "InvalidRequestError", problem])
      }
      assert.notProperty(yield* read(uuid), "lastLoginAt")
      assert.strictEqual((yield* signIn(uuid, { at: inDays(0.5) })).status, 200)
    })
  )

  it.effect("a login of an unknown user is a 404, with an invalid time too", () =>
    Effect.gen(function* () {
      for (const body of [{}, { at: inDays(2) }]) {
        assert.strictEqual(expectError(yield* signIn(unknownUuid, body), 404, "UserNotFoundError").uuid, unknownUuid)
      }
    })
  )

  it.effect("a login changes the entity tag of the user, and one with a stale If-Match is a 412", () =>
    Effect.gen(function* () {
      const uuid = yield* createUser()
      const tag = (yield* send("GET", `/v1/users/${uuid}`)).headers.get("etag")!
      assert.strictEqual((yield* signIn(uuid, { at: times[0] }, { "if-match": tag })).status, 200)
      expectError(yield* signIn(uuid, { at: times[1] }, { "if-match": tag }), 412, "PreconditionFailedError")
      assert.strictEqual((yield* read(uuid)).lastLoginAt, times[0])
    })
  )
})
