import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { eventTypes } from "../../../src/domain/changes/EventType.ts"
import { recordTypes } from "../../../src/domain/changes/RecordType.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { create, expectError, problemsOf, send, unknownUuid } from "../../support/requests/Requests.ts"
import {
  createWebhook,
  deliveriesOf,
  filled,
  path,
  readWebhook,
  receiver
} from "../../support/requests/WebhookRequests.ts"
import * as TestServer from "../../support/TestServer.ts"
import { eventually } from "../../support/Until.ts"

const url = "http://127.0.0.1:4999"
const body = { url, types: ["location.*"] }

/** The events about a record, oldest first, once there are this many. */
const eventsOf = (uuid: string, count: number) =>
  Effect.map(
    eventually(`${count} events`, send("GET", `/v1/events?record=${uuid}`), ({ body }) => body.data.length >= count),
    ({ body }) => body.data
  )

layer(TestServer.layer(), { excludeTestServices: true })("Webhooks", (it) => {
  it.effect("a webhook is created, read, listed, updated and deleted, and only its creation shows the secret", () =>
    Effect.gen(function* () {
      const { secret, uuid } = yield* createWebhook({ ...body, description: "Shop" })
      yield* filled
      assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
      const answer = yield* send("GET", `${path}/${uuid}`)
      const { createdAt, createdBy, editedAt, resumeCursor, ...read } = answer.body.data
      assert.deepStrictEqual(read, { uuid, ...body, description: "Shop", state: "active", failuresInARow: 0 })
      const me = yield* send("GET", "/v1/me")
      assert.deepStrictEqual([createdBy, createdAt], [me.body.data.uuid, editedAt])
      assert.isAbove(resumeCursor.length, 40)
      const etag = answer.headers.get("etag")!
      const listed = yield* send("GET", `${path}?filter=url:equals:${encodeURIComponent(url)}`)
      assert.deepStrictEqual(listed.body.data, [answer.body.data])
      const wrong = yield* send("PATCH", `${path}/${uuid}`, { body: {}, headers: { "if-match": '"other"' } })
      expectError(wrong, 412, "PreconditionFailedError")
      const patch = { types: ["*.deleted"], description: null }
      const updated = yield* send("PATCH", `${path}/${uuid}`, { body: patch, headers: { "if-match": etag } })
      assert.deepStrictEqual([updated.status, updated.body.data], [200, { uuid }])
      const now = yield* readWebhook(uuid)
      assert.deepStrictEqual([now.types, now.description], [["*.deleted"], undefined])
      assert.strictEqual((yield* send("PATCH", `${path}/${uuid}`, { body: now })).status, 200)
      assert.strictEqual((yield* readWebhook(uuid)).editedAt, now.editedAt)
      assert.strictEqual((yield* send("DELETE", `${path}/${uuid}`)).status, 200)
      expectError(yield* send("GET", `${path}/${uuid}`), 404, "WebhookNotFoundError")
    })
  )

  it.effect("If-Match of a webhook holds while events are delivered, and fails once it has changed", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver
      const { uuid } = yield* createWebhook({ url, types: ["location.created"] })
      const get = (headers: Readonly<Record<string, string>> = {}) => send("GET", `${path}/${uuid}`, { headers })
      const read = yield* get()
      const etag = read.headers.get("etag")!
      yield* create()
      yield* eventually(
        "the event is delivered",
        readWebhook(uuid),
        ({ lastSuccessAt, resumeCursor }) =>
          lastSuccessAt !== undefined && resumeCursor !== read.body.data.resumeCursor && received.length === 1
      )
      const now = yield* get({ "if-none-match": etag })
      assert.deepStrictEqual([now.status, typeof now.body?.data.lastSuccessAt], [200, "string"])
      const later = now.headers.get("etag")!
      assert.strictEqual((yield* get({ "if-none-match": later })).status, 304)
      const update = (ifMatch: string, description: string) =>
        send("PATCH", `${path}/${uuid}`, { body: { description }, headers: { "if-match": ifMatch } })
      assert.strictEqual((yield* update(etag, "Shop")).status, 200)
      for (const old of [etag, later]) {
        expectError(yield* update(old, "Other"), 412, "PreconditionFailedError")
        const remove = send("DELETE", `${path}/${uuid}`, { headers: { "if-match": old } })
        expectError(yield* remove, 412, "PreconditionFailedError")
      }
      const part = yield* send("GET", `${path}/${uuid}?fields=url`)
      expectError(yield* update(part.headers.get("etag")!, "Other"), 412, "PreconditionFailedError")
      const last = (yield* get()).headers.get("etag")!
      assert.strictEqual((yield* send("DELETE", `${path}/${uuid}`, { headers: { "if-match": last } })).status, 200)
    })
  )

  it.effect("a rotation, a test and a replay with a stale If-Match are a 412, and with the current one are done", () =>
    Effect.gen(function* () {
      const { received, url } = yield* receiver
      const { secret, uuid } = yield* createWebhook({ url, types: ["assetCategory.deleted"] })
      const etag = Effect.map(send("GET", `${path}/${uuid}`), ({ headers }) => headers.get("etag")!)
      for (const [action, status, sent] of [
        ["rotate-secret", 200, { overlapSeconds: 0 }],
        ["test", 200],
        ["replay", 202, { since: "2026-01-01T00:00:00.000Z" }],
        ["replay", 202, { eventIds: [] }]
      ] as const) {
        const post = (tag: string) =>
          send("POST", `${path}/${uuid}/${action}`, {
            ...(sent === undefined ? {} : { body: sent }),
            headers: { "if-match": tag }
          })
        const before = received.length
        expectError(yield* post('"stale"'), 412, "PreconditionFailedError", action)
        assert.strictEqual(received.length, before)
        const done = yield* post(yield* etag)
        assert.strictEqual(done.status, status, done.text)
        assert.notInclude(done.text, secret)
      }
      // The precondition comes before the rule that only an active webhook replays.
      yield* send("PATCH", `${path}/${uuid}`, { body: { active: false } })
      const replay = { body: { since: "2026-01-01T00:00:00.000Z" }, headers: { "if-match": '"stale"' } }
      expectError(yield* send("POST", `${path}/${uuid}/replay`, replay), 412, "PreconditionFailedError")
    })
  )

  it.effect("the log has the creation, the changes and the deletion of a webhook, without a secret", () =>
    Effect.gen(function* () {
      const { secret, uuid } = yield* createWebhook(body)
      yield* send("PATCH", `${path}/${uuid}`, { body: { active: false } })
      const { body: rotated } = yield* send("POST", `${path}/${uuid}/rotate-secret`, { body: {} })
      yield* send("DELETE", `${path}/${uuid}`)
      const events = yield* eventsOf(uuid, 4)
      assert.deepStrictEqual(
        events.map(({ type }: { type: string }) => type),
        ["webhook.created", "webhook.updated", "webhook.updated", "webhook.deleted"]
      )
      const [created, paused, other] = events
      const paths = ({ changes }: { changes: ReadonlyArray<{ path: string }> }) =>
        changes.map(({ path }) => path).toSorted()
      assert.deepStrictEqual(paths(created), ["createdBy", "state", "types", "url"])
      assert.deepStrictEqual(paused.changes, [{ path: "state", before: "active", after: "paused" }])
      assert.deepStrictEqual(paths(other), ["secretRotatedAt"])
      assert.strictEqual(created.record.label, url)
      const text = JSON.stringify(events)
      for (const hidden of [secret, rotated.data.secret]) assert.notInclude(text, hidden.slice(6, 40))
    })
  )

  it.effect("operations on an unknown webhook answer 404", () =>
    Effect.gen(function* () {
      for (const [method, rest, sent] of [
        ["GET", ""],
        ["PATCH", "", {}],
        ["DELETE", ""],
        ["POST", "/rotate-secret", {}],
        ["POST", "/test"],
        ["GET", "/deliveries"],
        ["POST", "/replay", { since: "2026-01-01T00:00:00.000Z" }]
      ] as const) {
        const answer = yield* send(method, `${path}/${unknownUuid}${rest}`, sent === undefined ? {} : { body: sent })
        expectError(answer, 404, "WebhookNotFoundError", `${method} ${rest}`)
      }
    })
  )

  it.effect("invalid members are named", () =>
    Effect.gen(function* () {
      const many = [...eventTypes, ...recordTypes.map((type) => `${type}.*`), "*", "*.created", "*.updated"].slice(
        0,
        51
      )
      for (const [sent, problem] of [
        [{ types: body.types }, "url required"],
        [{ url }, "types required"],
        [{ ...body, types: [] }, "types tooShort"],
        [{ ...body, types: ["shop.updated"] }, "types.0 notAllowed"],
        [{ ...body, types: many }, "types tooMany"],
        [{ ...body, description: "x".repeat(501) }, "description tooLong"],
        [{ ...body, url: "ftp://example.com" }, "url invalidFormat"],
        [{ ...body, active: "yes" }, "active wrongType"],
        [{ ...body, secret: "whsec_AAAA" }, "secret unknownMember"]
      ] as const) {
        const [status, tag, first] = problemsOf(yield* send("POST", path, { body: sent }))
        assert.deepStrictEqual([status, tag, first], [400, "InvalidRequestError", problem])
      }
      const { uuid } = yield* createWebhook(body)
      for (const overlapSeconds of [-1, 2_592_001, 1.5]) {
        const answer = yield* send("POST", `${path}/${uuid}/rotate-secret`, { body: { overlapSeconds } })
        expectError(answer, 400, "InvalidRequestError")
      }
    })
  )

  it.effect("there are at most 50 webhooks, also when many are created at once", () =>
    Effect.gen(function* () {
      const answers = yield* Effect.forEach(
        Array.from({ length: 60 }),
        () => send("POST", path, { body: { ...body, active: false } }),
        { concurrency: 20 }
      )
      const failed = answers.find(({ status }) => status !== 201)
      assert.deepStrictEqual(problemsOf(failed!), [400, "InvalidRequestError", " tooMany"])
      const { pagination } = (yield* send("GET", `${path}?limit=1`)).body
      assert.strictEqual(pagination.total, 50)
      const all: ReadonlyArray<{ readonly uuid: string }> = (yield* send("GET", `${path}?limit=100`)).body.data
      yield* Effect.forEach(all, ({ uuid }) => send("DELETE", `${path}/${uuid}`))
    })
  )

  it.effect("a key needs the permission to read every type of record that its webhook receives", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const own = ["create:webhooks", "update:webhooks", "read:webhooks"] as const
      const products = yield* key([...own, "read:products"])
      const people = yield* key([...own, "read:users", "read:locations", "read:groups"])
      const missing = (types: ReadonlyArray<string>, by: string) =>
        Effect.map(send("POST", path, { body: { url, types }, key: by }), ({ body, status }) =>
          status === 201 ? [] : [body._tag, ...body.missing]
        )
      assert.deepStrictEqual(yield* missing(["product.*"], products), [])
      assert.deepStrictEqual(yield* missing(["location.updated"], people), [])
      // Relations show records of both sides.
      const withoutGroups = yield* key([...own, "read:users", "read:locations"])
      assert.deepStrictEqual(yield* missing(["location.updated"], withoutGroups), [
        "MissingPermissionsError",
        "read:groups"
      ])
      assert.deepStrictEqual(yield* missing(["post.*"], products), ["MissingPermissionsError", "read:posts"])
      for (const types of [["*"], ["*.deleted"]]) {
        const [, ...all] = yield* missing(types, products)
        assert.strictEqual(
          all.join(),
          "read:users,read:locations,read:groups,read:posts,read:assets,read:meta-tags,read:api-keys"
        )
      }
      const { uuid } = yield* createWebhook({ url, types: ["post.*"] })
      const at = `${path}/${uuid}`
      const forbidden = [
        ["PATCH", at, { url: `${url}/other` }],
        ["PATCH", at, { types: ["post.created"] }],
        ["PATCH", at, { active: true }],
        ["POST", `${at}/rotate-secret`, {}],
        ["POST", `${at}/test`, undefined],
        ["POST", `${at}/replay`, { since: "2026-01-01T00:00:00.000Z" }]
      ] as const
      for (const [method, to, sent] of forbidden) {
        const answer = yield* send(method, to, { key: products, ...(sent === undefined ? {} : { body: sent }) })
        const { missing, required } = expectError(answer, 403, "MissingPermissionsError", `${method} ${to}`)
        assert.deepStrictEqual([missing, required], [["read:posts"], ["read:posts"]])
      }
      for (const sent of [{ description: "Mine" }, { active: false }, { url, types: ["post.*"] }]) {
        assert.strictEqual((yield* send("PATCH", at, { body: sent, key: products })).status, 200)
      }
    })
  )

  it.effect("revoking the key that created a webhook pauses it; expiry and rotation do not", () =>
    Effect.gen(function* () {
      const make = (permissions: ReadonlyArray<string>) =>
        Effect.map(send("POST", "/v1/api-keys", { body: { name: "Hooks", permissions } }), ({ body }) => body.data)
      const permissions = ["create:webhooks", "read:posts", "create:api-keys"]
      const [kept, revoked] = [yield* make(permissions), yield* make(permissions)]
      const hooks = yield* Effect.forEach([kept, revoked], ({ key }) => createWebhook({ url, types: ["post.*"] }, key))
      yield* send("POST", `/v1/api-keys/${kept.uuid}/rotate`, { body: { overlapSeconds: 0 } })
      yield* send("DELETE", `/v1/api-keys/${revoked.uuid}`)
      const states = yield* Effect.forEach(hooks, ({ uuid }) => readWebhook(uuid))
      assert.deepStrictEqual(
        states.map(({ createdBy, state }) => [createdBy, state]),
        [
          [kept.uuid, "active"],
          [revoked.uuid, "paused"]
        ]
      )
      const events = yield* eventsOf(hooks[1]!.uuid, 2)
      assert.deepStrictEqual(events[1].changes, [{ path: "state", before: "active", after: "paused" }])
      assert.strictEqual(events[1].actor.type, "apiKey")
    })
  )

  it.effect(
    "revoking the successor of a key pauses what the key created, and revoking the key nothing of its successor",
    () =>
      Effect.gen(function* () {
        const body = { name: "Hooks", permissions: ["create:webhooks", "read:posts", "create:api-keys"] }
        const { body: made } = yield* send("POST", "/v1/api-keys", { body })
        const created = yield* createWebhook({ url, types: ["post.*"] }, made.data.key)
        const { body: rotated } = yield* send("POST", `/v1/api-keys/${made.data.uuid}/rotate`, {
          body: { overlapSeconds: 0 }
        })
        const later = yield* createWebhook({ url, types: ["post.*"] }, rotated.data.key)
        const states = Effect.forEach([created, later], ({ uuid }) =>
          Effect.map(readWebhook(uuid), ({ state }) => state)
        )
        yield* send("DELETE", `/v1/api-keys/${made.data.uuid}`)
        assert.deepStrictEqual(yield* states, ["paused", "active"])
        yield* send("PATCH", `${path}/${created.uuid}`, { body: { active: true } })
        yield* send("DELETE", `/v1/api-keys/${rotated.data.uuid}`)
        assert.deepStrictEqual(yield* states, ["paused", "paused"])
      })
  )

  it.effect(
    "revoking the key that last changed where or whether a webhook delivers pauses it; its rotation does not",
    () =>
      Effect.gen(function* () {
        const permissions = ["update:webhooks", "read:posts", "create:api-keys"]
        const newKey = Effect.map(
          send("POST", "/v1/api-keys", { body: { name: "Hooks", permissions } }),
          ({ body }) => body.data
        )
        /** The state of a webhook that a key changes, and others after it, once the key is ended. */
        const stateAfter = Effect.fnUntraced(function* (
          changes: ReadonlyArray<object>,
          end: (uuid: string) => ReturnType<typeof send>,
          later: ReadonlyArray<object> = []
        ) {
          const { uuid } = yield* createWebhook({ url, types: ["post.*"] })
          const { key, uuid: changer } = yield* newKey
          for (const body of changes) {
            assert.strictEqual((yield* send("PATCH", `${path}/${uuid}`, { body, key })).status, 200)
          }
          for (const body of later) yield* send("PATCH", `${path}/${uuid}`, { body })
          assert.strictEqual((yield* end(changer)).status < 300, true)
          const { createdBy, state } = yield* readWebhook(uuid)
          assert.notStrictEqual(createdBy, changer)
          return state
        })
        const revoke = (uuid: string) => send("DELETE", `/v1/api-keys/${uuid}`)
        const rotate = (uuid: string) => send("POST", `/v1/api-keys/${uuid}/rotate`, { body: { overlapSeconds: 0 } })
        const moved = { url: `${url}/moved` }
        for (const changes of [[moved], [{ types: ["post.created"] }], [{ active: false }, { active: true }]]) {
          assert.strictEqual(yield* stateAfter(changes, revoke), "paused", JSON.stringify(changes))
        }
        assert.strictEqual(yield* stateAfter([moved], rotate), "active")
        assert.strictEqual(yield* stateAfter([moved], (uuid) => Effect.andThen(rotate(uuid), revoke(uuid))), "paused")
        /** Revokes the key that a key is replaced by after two rotations. */
        const revokeSuccessor = (uuid: string) =>
          rotate(uuid).pipe(
            Effect.flatMap(({ body }) => rotate(body.data.uuid)),
            Effect.flatMap(({ body }) => revoke(body.data.uuid))
          )
        assert.strictEqual(yield* stateAfter([moved], revokeSuccessor), "paused")
        assert.strictEqual(yield* stateAfter([{ description: "Mine" }, { url, active: true }], revoke), "active")
        assert.strictEqual(yield* stateAfter([moved], revoke, [{ url }]), "active")
        const others = [{ types: ["post.created"] }, { active: false }, { active: true }]
        assert.strictEqual(yield* stateAfter([moved], revoke, others), "paused", "the URL is still that of the key")
        assert.strictEqual(yield* stateAfter([moved], revokeSuccessor, others), "paused")
      })
  )

  it.effect("a key that is revoked while its requests wait changes no webhook and no secret", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const { uuid } = yield* createWebhook({ url, types: ["post.*"] })
      const before = yield* readWebhook(uuid)
      const permissions = ["update:webhooks", "read:posts"]
      const { body: made } = yield* send("POST", "/v1/api-keys", { body: { name: "Hooks", permissions } })
      const [updated, commit] = yield* Effect.all([Deferred.make<void>(), Deferred.make<void>()])
      const revoking = pooled`update api_keys set revoked_at = now() where uuid = ${made.data.uuid}`.pipe(
        Effect.andThen(Deferred.succeed(updated, undefined)),
        Effect.andThen(Deferred.await(commit)),
        pooled.withTransaction
      )
      const revoked = yield* Effect.forkChild(revoking)
      yield* Deferred.await(updated)
      const requests = [
        ["PATCH", `${path}/${uuid}`, { url: `${url}/moved` }],
        ["POST", `${path}/${uuid}/rotate-secret`, {}]
      ] as const
      const changes = yield* Effect.forEach(requests, ([method, to, body]) =>
        Effect.forkChild(send(method, to, { body, key: made.data.key }))
      )
      const waits = pooled<{ readonly count: number }>`select count(*)::int as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%from api_keys where uuid =%'`
      yield* eventually("the requests wait", waits, ([row]) => row!.count === requests.length)
      yield* Deferred.succeed(commit, undefined)
      yield* Fiber.join(revoked)
      for (const change of changes) {
        assert.strictEqual(expectError(yield* Fiber.join(change), 401, "UnauthorizedError").reason, "revoked")
      }
      const read = yield* readWebhook(uuid)
      assert.deepStrictEqual([read.url, read.state, read.secretRotatedAt], [url, "active", before.secretRotatedAt])
    })
  )

  it.effect("secrets are in no other table, and no row of the log has one", () =>
    Effect.gen(function* () {
      const { secret } = yield* createWebhook(body)
      const { pooled } = yield* Sql
      const hex = Buffer.from(secret.slice(6), "base64").toString("hex")
      const rows = yield* pooled<{ readonly found: boolean }>`
        select exists (select from webhook_secrets where encode(secret, 'hex') = ${hex}) as found
        union all select exists (select from webhooks w where w::text like ${`%${hex}%`})
        union all select exists (select from events e where e::text like ${`%${hex}%`})`
      assert.deepStrictEqual(
        rows.map(({ found }) => found),
        [true, false, false]
      )
    })
  )

  it.effect("a webhook receives the events of its types, from its creation on", () =>
    Effect.gen(function* () {
      const before = yield* create()
      yield* eventsOf(before, 1)
      const { received, url } = yield* receiver
      const { uuid } = yield* createWebhook({ url: `${url}/hook`, types: ["location.updated", "*.deleted"] })
      const made = yield* create()
      yield* send("PATCH", `/v1/locations/${made}`, { body: { name: "Renamed" } })
      yield* send("DELETE", `/v1/locations/${made}`)
      yield* eventually(
        "two deliveries",
        Effect.sync(() => received.length),
        (count) => count >= 2
      )
      const [updated, deleted] = received
      assert.deepStrictEqual([updated!.json.type, deleted!.json.type], ["location.updated", "location.deleted"])
      const events = yield* eventsOf(made, 3)
      assert.deepStrictEqual(updated!.json, {
        type: "location.updated",
        timestamp: events[1].occurredAt,
        data: events[1]
      })
      const { "content-type": type, host: _, "user-agent": agent, "webhook-id": id } = updated!.headers
      assert.deepStrictEqual([type, id, updated!.path], ["application/json", events[1].id, "/hook"])
      assert.match(agent!, /^Waypost\/\d+\.\d+\.\d+$/)
      const found = yield* eventually("two attempts", deliveriesOf(uuid), (list) =>
        list.every(({ state }: { state: string }) => state === "delivered")
      )
      assert.deepStrictEqual(
        found.map(({ attempt, eventId, eventType, state, status }: Record<string, unknown>) => ({
          eventId,
          eventType,
          attempt,
          state,
          status
        })),
        [
          { eventId: events[2].id, eventType: "location.deleted", attempt: 1, state: "delivered", status: 204 },
          { eventId: events[1].id, eventType: "location.updated", attempt: 1, state: "delivered", status: 204 }
        ]
      )
      const { failuresInARow, lastFailureAt, lastSuccessAt } = yield* readWebhook(uuid)
      assert.deepStrictEqual([failuresInARow, lastFailureAt, typeof lastSuccessAt], [0, undefined, "string"])
    })
  )
})
