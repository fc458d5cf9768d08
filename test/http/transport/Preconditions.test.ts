import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { eventually } from "../../support/Until.ts"
import { sealed } from "../../support/requests/LogRequests.ts"
import { type Answer, create, expectError, read, send, unknownUuid } from "../../support/requests/Requests.ts"

const ofDeleted = "The record is deleted and has no ETag; send the request without `If-Match`"

layer(TestServer.layer(), { excludeTestServices: true })("Preconditions", (it) => {
  it.effect("GET with a matching If-None-Match is a 304 without a body until the record changes", () =>
    Effect.gen(function* () {
      const uuid = yield* create()
      const get = (tag?: string) =>
        send("GET", `/v1/locations/${uuid}`, { headers: tag === undefined ? {} : { "if-none-match": tag } })
      const etag = (yield* get()).headers.get("etag")!
      assert.match(etag, /^"[\x21\x23-\x7e]+"$/)
      for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const { headers, status, text } = yield* get(tag)
        assert.strictEqual(status, 304, tag)
        assert.strictEqual(text, "")
        assert.strictEqual(headers.get("etag"), etag)
        assert.isNull(headers.get("content-type"))
      }
      for (const tag of [`"other"`, etag.slice(1, -1), ""]) assert.strictEqual((yield* get(tag)).status, 200, tag)
      yield* send("PATCH", `/v1/locations/${uuid}`, { body: { name: "Branch" } })
      assert.strictEqual((yield* get(etag)).status, 304)
      yield* send("PATCH", `/v1/locations/${uuid}`, { body: { name: "Changed" } })
      const changed = yield* get(etag)
      assert.strictEqual(changed.status, 200)
      assert.notStrictEqual(changed.headers.get("etag"), etag)
    })
  )

  it.effect("a list has a weak ETag that changes with creations, updates and deletions", () =>
    Effect.gen(function* () {
      const list = (tag?: string) =>
        send("GET", "/v1/locations?limit=3", { headers: tag === undefined ? {} : { "if-none-match": tag } })
      const seen = new Set<string | null>()
      const step = Effect.gen(function* () {
        const { headers } = yield* list()
        const tag = headers.get("etag")!
        assert.match(tag, /^W\/"[\x21\x23-\x7e]+"$/)
        assert.isFalse(seen.has(tag))
        seen.add(tag)
        const again = yield* list(tag)
        assert.strictEqual(again.status, 304)
        assert.strictEqual(again.text, "")
      })
      yield* create()
      yield* step
      const uuid = yield* create()
      yield* step
      yield* send("PATCH", `/v1/locations/${uuid}`, { body: { name: "Changed" } })
      yield* step
      yield* send("DELETE", `/v1/locations/${uuid}`)
      const last = (yield* list()).headers.get("etag")
      assert.strictEqual(seen.size, 3)
      assert.strictEqual([...seen][0], last)
    })
  )

  it.effect("a location write with a matching If-Match succeeds, and with a stale one is a 412", () =>
    Effect.gen(function* () {
      const uuid = yield* create()
      const path = `/v1/locations/${uuid}`
      const tagOf = Effect.map(send("GET", path), ({ headers }) => headers.get("etag")!)
      const patch = (name: string, tag: string) => send("PATCH", path, { body: { name }, headers: { "if-match": tag } })
      const first = yield* tagOf
      assert.strictEqual((yield* patch("One", first)).status, 200)
      for (const stale of [first, `"other"`, `"other", ${first}`]) {
        expectError(yield* patch("Two", stale), 412, "PreconditionFailedError", stale)
      }
      assert.strictEqual((yield* read(uuid)).name, "One")
      const second = yield* tagOf
      assert.strictEqual((yield* patch("Two", `"other", ${second}`)).status, 200)
      assert.strictEqual((yield* patch("Three", "*")).status, 200)
      assert.strictEqual((yield* send("PATCH", path, { body: {}, headers: { "if-match": second } })).status, 412)
      const stale = yield* send("DELETE", path, { headers: { "if-match": second } })
      assert.strictEqual(stale.status, 412)
      assert.strictEqual((yield* read(uuid)).name, "Three")
      assert.strictEqual((yield* send("DELETE", path, { headers: { "if-match": yield* tagOf } })).status, 200)
      assert.strictEqual((yield* send("GET", path)).status, 404)
    })
  )

  it.effect("of concurrent writes with the same If-Match one succeeds and the others are a 412", () =>
    Effect.gen(function* () {
      const path = `/v1/locations/${yield* create()}`
      const tag = (yield* send("GET", path)).headers.get("etag")!
      const answers = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, index) => index),
        (index) => send("PATCH", path, { body: { name: `Writer ${index}` }, headers: { "if-match": tag } }),
        { concurrency: 20 }
      )
      assert.strictEqual(answers.filter(({ status }) => status === 200).length, 1)
      assert.strictEqual(answers.filter(({ status }) => status === 412).length, 19)
    })
  )

  it.effect("revoking an API key with a stale If-Match is a 412", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const victim = yield* key(["read:locations"])
      const { uuid } = (yield* send("GET", "/v1/me", { key: victim })).body.data
      const stale = yield* send("DELETE", `/v1/api-keys/${uuid}`, { headers: { "if-match": `"stale"` } })
      expectError(stale, 412, "PreconditionFailedError")
      assert.strictEqual((yield* send("GET", "/v1/me", { key: victim })).status, 200)
    })
  )

  it.effect("rotating an API key with a stale If-Match is a 412, and with the current one is done", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const old = yield* key(["read:locations"])
      const { uuid } = (yield* send("GET", "/v1/me", { key: old })).body.data
      const rotate = (tag: string) =>
        send("POST", `/v1/api-keys/${uuid}/rotate`, { body: {}, headers: { "if-match": tag } })
      expectError(yield* rotate('"stale"'), 412, "PreconditionFailedError")
      const read = yield* send("GET", `/v1/api-keys/${uuid}`)
      assert.notProperty(read.body.data, "replacedByUuid")
      assert.strictEqual((yield* rotate(read.headers.get("etag")!)).status, 201)
      // The precondition comes before the rule that a key is rotated once.
      expectError(yield* rotate('"stale"'), 412, "PreconditionFailedError")
    })
  )

  it.effect("the use of an API key leaves its ETag one that rotates and revokes it", () =>
    Effect.gen(function* () {
      const readBeforeUse = Effect.gen(function* () {
        const created = yield* send("POST", "/v1/api-keys", { body: { name: "Used", permissions: ["read:locations"] } })
        const { key, uuid } = created.body.data
        const path = `/v1/api-keys/${uuid}`
        const tag = (yield* send("GET", path)).headers.get("etag")!
        const own = yield* send("GET", "/v1/me", { key })
        const isUsed = ({ body }: Answer) => body.data.lastUsedAt !== undefined
        const later = yield* eventually("the use is noted", send("GET", path), isUsed)
        assert.notStrictEqual(later.headers.get("etag"), tag)
        return {
          path,
          sent: { headers: { "if-match": tag } },
          own: { headers: { "if-match": own.headers.get("etag")! } }
        }
      })
      const rotated = yield* readBeforeUse
      assert.strictEqual((yield* send("POST", `${rotated.path}/rotate`, { body: {}, ...rotated.sent })).status, 201)
      expectError(yield* send("DELETE", rotated.path, rotated.sent), 412, "PreconditionFailedError")
      const { path, sent } = yield* readBeforeUse
      assert.strictEqual((yield* send("DELETE", path, sent)).status, 200)
      const other = yield* readBeforeUse
      assert.strictEqual((yield* send("DELETE", `${other.path}?descendants=true`, other.own)).status, 200)
    })
  )

  it.effect(
    "erasing the history of a location with a stale If-Match is a 412, and of a deleted one says that it has no ETag",
    () =>
      Effect.gen(function* () {
        const uuid = yield* create()
        const path = `/v1/locations/${uuid}`
        const erase = (of: string, tag: string) =>
          send("POST", `${of}/erase-history`, { body: { paths: ["name"] }, headers: { "if-match": tag } })
        // A history has the events that are sealed.
        const history = Effect.andThen(sealed, send("GET", `${path}/history`))
        const hasName = Effect.map(history, ({ text }) => text.includes('"path":"name"'))
        expectError(yield* erase(path, '"stale"'), 412, "PreconditionFailedError")
        assert.isTrue(yield* hasName)
        const etag = (yield* send("GET", path)).headers.get("etag")!
        assert.strictEqual((yield* erase(path, etag)).status, 200)
        assert.isFalse(yield* hasName)
        yield* send("DELETE", path)
        const { message } = expectError(yield* erase(path, etag), 412, "PreconditionFailedError")
        assert.strictEqual(message, ofDeleted)
        expectError(yield* erase(`/v1/locations/${unknownUuid}`, etag), 404, "LocationNotFoundError")
      })
  )

  it.effect("erasing a user with an If-Match is a 412 that says that a deleted user has no ETag", () =>
    Effect.gen(function* () {
      const body = { username: "erased", email: "erased@example.com" }
      const { uuid } = (yield* send("POST", "/v1/users", { body })).body.data
      const path = `/v1/users/${uuid}`
      const erase = (of: string, tag: string) => send("POST", `${of}/erase`, { headers: { "if-match": tag } })
      const etag = (yield* send("GET", path)).headers.get("etag")!
      expectError(yield* erase(path, '"stale"'), 412, "PreconditionFailedError")
      expectError(yield* erase(path, etag), 400, "InvalidRequestError")
      yield* send("DELETE", path)
      const { message } = expectError(yield* erase(path, etag), 412, "PreconditionFailedError")
      assert.strictEqual(message, ofDeleted)
      yield* sealed
      assert.include((yield* send("GET", `${path}/history`)).text, body.email)
      expectError(yield* erase(`/v1/users/${unknownUuid}`, etag), 404, "UserNotFoundError")
      assert.strictEqual((yield* send("POST", `${path}/erase`)).status, 200)
    })
  )

  it.effect("new part URLs of an upload with a stale If-Match are a 412, and with the current one are made", () =>
    Effect.gen(function* () {
      const init = { fileName: "a.bin", fileSize: 8 }
      const { uuid } = (yield* send("POST", "/v1/uploads/init-multi-part", { body: init })).body.data
      const renew = (tag: string) =>
        send("POST", `/v1/uploads/${uuid}/parts`, { body: { partNumbers: [1] }, headers: { "if-match": tag } })
      expectError(yield* renew('"stale"'), 412, "PreconditionFailedError")
      const etag = (yield* send("GET", `/v1/uploads/${uuid}`)).headers.get("etag")!
      assert.strictEqual((yield* renew(etag)).status, 200)
    })
  )

  it.effect("one request changes a group and its members, and with a stale If-Match is a 412", () =>
    Effect.gen(function* () {
      const location = yield* create()
      const { uuid } = (yield* send("POST", "/v1/groups", { body: { name: "Both" } })).body.data
      const etag = (yield* send("GET", `/v1/groups/${uuid}`)).headers.get("etag")!
      const patch = (name: string) =>
        send("PATCH", `/v1/groups/${uuid}`, { body: { name, locations: [location] }, headers: { "if-match": etag } })
      assert.strictEqual((yield* patch("Both changed")).status, 200)
      assert.strictEqual((yield* patch("Both again")).status, 412)
      const { data } = (yield* send("GET", `/v1/groups/${uuid}`)).body
      assert.deepInclude(data, { name: "Both changed", locationCount: 1 })
    })
  )

  it.effect("HEAD returns the ETag of GET and honours If-None-Match", () =>
    Effect.gen(function* () {
      for (const path of [`/v1/locations/${yield* create()}`, "/v1/locations"]) {
        const etag = (yield* send("GET", path)).headers.get("etag")!
        const head = yield* send("HEAD", path)
        assert.strictEqual(head.headers.get("etag"), etag)
        assert.strictEqual((yield* send("HEAD", path, { headers: { "if-none-match": etag } })).status, 304)
      }
    })
  )
})

layer(TestServer.layer({ DATABASE_POOL_SIZE: "2" }), { excludeTestServices: true })(
  "Preconditions with a small pool",
  (it) => {
    it.effect("a precondition is checked once, before the request changes the record and its members", () =>
      Effect.gen(function* () {
        const { uuid } = (yield* send("POST", "/v1/groups", { body: { name: "Small" } })).body.data
        const etag = (yield* send("GET", `/v1/groups/${uuid}`)).headers.get("etag")!
        const body = { name: "Small changed", users: [] }
        const patched = yield* send("PATCH", `/v1/groups/${uuid}`, { body, headers: { "if-match": etag } })
        assert.strictEqual(patched.status, 200)
        const user = { username: "new", email: "new@example.com", groups: [uuid] }
        const created = yield* send("POST", "/v1/users", { body: user, headers: { "if-match": etag } })
        assert.strictEqual(created.status, 201)
      })
    )
  }
)
