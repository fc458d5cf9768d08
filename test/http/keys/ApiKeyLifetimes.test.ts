import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import * as Permission from "../../../src/domain/keys/Permission.ts"
import * as Services from "../../../src/app/layers/Services.ts"
import { ApiKeys } from "../../../src/services/ApiKeys.ts"
import * as Postgres from "../../support/Postgres.ts"
import * as TestServer from "../../support/TestServer.ts"
import { expectError, keyOf, send, unique } from "../../support/requests/Requests.ts"

const keys = "/v1/api-keys"
const statusOf = (key: string) => Effect.map(send("GET", "/v1/me", { key }), ({ status }) => status)
const show = (uuid: string) => Effect.map(send("GET", `${keys}/${uuid}`), ({ body }) => body.data)

const make = Effect.fnUntraced(function* (more: object = {}) {
  const body = { name: unique("key"), permissions: ["read:locations", "read:assets"], ...more }
  return (yield* send("POST", keys, { body })).body.data as { readonly uuid: string; readonly key: string }
})
const rotate = (uuid: string, body: unknown = {}) => send("POST", `${keys}/${uuid}/rotate`, { body })

layer(TestServer.layer(), { excludeTestServices: true })("Rotation of API keys", (it) => {
  it.effect("a rotation creates a successor with the same permissions, and the old key expires after a day", () =>
    Effect.gen(function* () {
      const old = yield* make()
      const { body, status } = yield* rotate(old.uuid)
      assert.strictEqual(status, 201)
      const successor = body.data
      assert.notStrictEqual(successor.key, old.key)
      const before = yield* show(old.uuid)
      assert.deepStrictEqual(successor.permissions, before.permissions)
      assert.strictEqual(before.replacedByUuid, successor.uuid)
      const lives = Date.parse(before.expiresAt) - Date.parse(successor.createdAt)
      assert.closeTo(lives, 86_400_000, 5000)
      assert.deepStrictEqual([yield* statusOf(old.key), yield* statusOf(successor.key)], [200, 200])
      assert.notProperty(yield* show(successor.uuid), "expiresAt")
    })
  )

  it.effect("a rotation without overlap invalidates the old key at the next request", () =>
    Effect.gen(function* () {
      const old = yield* make()
      assert.strictEqual(yield* statusOf(old.key), 200)
      const { body } = yield* rotate(old.uuid, { overlapSeconds: 0 })
      const rejected = yield* send("GET", "/v1/me", { key: old.key })
      assert.strictEqual(rejected.status, 401)
      assert.include(["expired", "revoked"], rejected.body.reason)
      assert.strictEqual(yield* statusOf(body.data.key), 200)
    })
  )

  it.effect("a rotation accepts an overlap of 0 to 30 days and never extends the expiry", () =>
    Effect.gen(function* () {
      const uuid = (yield* make()).uuid
      for (const overlapSeconds of [-1, 2_592_001, 1.5, "60"]) {
        const { body, status } = yield* rotate(uuid, { overlapSeconds })
        assert.strictEqual(status, 400, `${overlapSeconds}`)
        assert.strictEqual(body.issues[0].path, "overlapSeconds")
      }
      assert.notProperty(yield* show(uuid), "replacedByUuid")
      assert.strictEqual((yield* rotate(uuid, { overlapSeconds: 2_592_000 })).status, 201)
      const expiresAt = new Date(Date.now() + 60_000).toISOString()
      const short = yield* make({ expiresAt })
      yield* rotate(short.uuid)
      assert.strictEqual((yield* show(short.uuid)).expiresAt, expiresAt)
    })
  )

  it.effect("of concurrent rotations of a key exactly one succeeds, and a replaced key cannot be rotated", () =>
    Effect.gen(function* () {
      const { uuid } = yield* make()
      const answers = yield* Effect.replicateEffect(rotate(uuid), 10, { concurrency: 10 })
      assert.strictEqual(answers.filter(({ status }) => status === 201).length, 1)
      assert.strictEqual(answers.filter(({ status }) => status === 400).length, 9)
      expectError(yield* rotate(uuid), 400, "InvalidRequestError")
    })
  )
})

layer(TestServer.layer())("Last use of API keys", (it) => {
  /**
   * Advances the test clock second by second until the last use of the key satisfies the condition: by less than half a minute, because a
   * use is noted again after a minute. A busy machine has more than a minute to write it.
   */
  const poll = Effect.fnUntraced(function* (uuid: string, isWanted: (lastUsedAt: string | undefined) => boolean) {
    for (let [second, pause] = [0, 30]; second < 25; second++, pause = Math.min(pause * 1.4, 10_000)) {
      yield* TestClock.adjust("1 second")
      yield* TestClock.withLive(Effect.sleep(pause))
      const { lastUsedAt } = yield* show(uuid)
      if (isWanted(lastUsedAt)) return lastUsedAt as string
    }
    return yield* Effect.die(`lastUsedAt of ${uuid} never satisfied the condition`)
  })

  it.effect("lastUsedAt is set soon after a use, and written at most once a minute", () =>
    Effect.gen(function* () {
      // The test clock starts at the epoch, within a minute of the initial last use.
      yield* TestClock.adjust("61 seconds")
      const [key, other] = [yield* make(), yield* make()]
      assert.notProperty(yield* show(key.uuid), "lastUsedAt")
      assert.strictEqual(yield* statusOf(key.key), 200)
      const first = yield* poll(key.uuid, (time) => time !== undefined)
      assert.match(first, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      // The later use of the other key proves that a write has happened since.
      yield* statusOf(key.key)
      yield* statusOf(other.key)
      yield* poll(other.uuid, (time) => time !== undefined)
      assert.strictEqual((yield* show(key.uuid)).lastUsedAt, first)
    })
  )
})

const services = Services.layer.pipe(
  Layer.provide([TestServer.publicUrl, NodeServices.layer]),
  Layer.provideMerge(Postgres.sql),
  Layer.provideMerge(TestServer.settings()),
  Layer.fresh
)

layer(services, { excludeTestServices: true })("First API key", (it) => {
  it.effect("the first key is created once by concurrent processes, and has every permission", () =>
    Effect.gen(function* () {
      const service = yield* ApiKeys
      const made = yield* Effect.replicateEffect(service.createFirst(Permission.all, Option.none()), 8, {
        concurrency: 8
      })
      const created = made.filter(Option.isSome)
      assert.strictEqual(created.length, 1)
      const { permissions, uuid } = yield* service.authenticate(created[0]!.value.key)
      assert.deepStrictEqual([...permissions], [...Permission.all])
      assert.strictEqual(uuid, created[0]!.value.uuid)
      const late = keyOf("a".repeat(22), "b".repeat(43))
      const second = yield* service.createFirst(Permission.all, Option.some(Redacted.make(late)))
      assert.isTrue(Option.isNone(second))
      assert.strictEqual((yield* Effect.flip(service.authenticate(late))).reason, "unknown")
    })
  )
})

layer(services, { excludeTestServices: true })("First API key from the settings", (it) => {
  it.effect("the first key has the configured value", () =>
    Effect.gen(function* () {
      const service = yield* ApiKeys
      const value = keyOf("2".repeat(22), "3".repeat(43))
      const created = yield* service.createFirst(Permission.all, Option.some(Redacted.make(value)))
      assert.strictEqual(Option.getOrThrow(created).key, value)
      assert.strictEqual((yield* service.authenticate(value)).permissions.size, Permission.all.length)
    })
  )
})
