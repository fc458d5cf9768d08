import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomOf } from "../../support/Random.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { createAsset, createMetaTag, fileRow, patchAsset } from "../../support/requests/AssetRequests.ts"
import { createPost, patchPost } from "../../support/requests/PostRequests.ts"
import { createGroup, createProduct } from "../../support/requests/ProductRequests.ts"
import { create, expectError, problemsOf, send, unknownUuid } from "../../support/requests/Requests.ts"
import {
  moment,
  pathOf,
  read,
  type Resource,
  resources,
  seal,
  withoutAddresses,
  worldOf
} from "../../support/changes/World.ts"
import * as TestServer from "../../support/TestServer.ts"

layer(TestServer.layer(), { excludeTestServices: true })("Reads of the past", (it) => {
  it.effect(
    "a read at a time answers what the read answered then, for records of every resource after random writes",
    () =>
      Effect.gen(function* () {
        const random = randomOf(Number(process.env["TEST_SEED"] ?? 1))
        const world = worldOf(random, "w")
        const seen: Array<{ resource: Resource; uuid: string; at: string; answer: unknown }> = []
        let rejected = 0
        for (let step = 0; step < 500; step++) {
          const answer = yield* world.step()
          assert.isBelow(answer.status, 500, answer.text)
          if (answer.status >= 400) rejected++
          if (random() < 0.1) yield* seal
          if (random() < 0.1) {
            const at = yield* moment
            for (const resource of resources) {
              const uuids = world.uuids[resource]
              for (const uuid of uuids.filter(() => random() < 1.5 / uuids.length)) {
                const { body, status } = yield* read(resource, uuid)
                seen.push({ resource, uuid, at, answer: status === 200 ? withoutAddresses(body.data) : status })
              }
            }
          }
        }
        assert.isBelow(rejected, 250)
        for (const { answer, at, resource, uuid } of seen) {
          const then = yield* read(resource, uuid, `at=${at}`)
          assert.deepStrictEqual(
            then.status === 200 ? withoutAddresses(then.body.data) : then.status,
            answer,
            `${resource} ${uuid} at ${at}`
          )
          assert.isNull(then.headers.get("etag"))
        }
      })
  )

  it.effect("a time before a record existed, after its deletion or of an unknown record answers 404", () =>
    Effect.gen(function* () {
      const before = yield* moment
      const uuid = yield* create()
      const between = yield* moment
      yield* send("DELETE", `/v1/locations/${uuid}`)
      const after = yield* moment
      expectError(yield* read("locations", uuid, `at=${before}`), 404, "LocationNotFoundError")
      assert.strictEqual((yield* read("locations", uuid, `at=${between}`)).status, 200)
      expectError(yield* read("locations", uuid, `at=${after}`), 404, "LocationNotFoundError")
      expectError(yield* read("locations", unknownUuid, `at=${after}`), 404, "LocationNotFoundError")
    })
  )

  it.effect("the uuid of a record of another resource answers 404, whether that was deleted or not", () =>
    Effect.gen(function* () {
      for (const [owner, uuid] of [
        ["groups", yield* createGroup()],
        ["locations", yield* create()],
        ["products", yield* createProduct()],
        ["meta-tags", yield* createMetaTag({ key: "ofAnother", type: "text" })]
      ] as const) {
        const existed = yield* moment
        for (const step of ["unsealed", "sealed", "deleted"]) {
          if (step === "sealed") yield* seal
          if (step === "deleted") yield* send("DELETE", pathOf(owner, uuid))
          for (const resource of resources.filter((resource) => resource !== owner)) {
            const { status } = yield* read(resource, uuid, `at=${existed}`)
            assert.strictEqual(status, 404, `${resource} with the uuid of one of ${owner}, ${step}`)
          }
        }
        assert.strictEqual((yield* read(owner, uuid, `at=${existed}`)).status, 200)
      }
    })
  )

  it.effect("a time in the future or that is no timestamp is rejected", () =>
    Effect.gen(function* () {
      const uuid = yield* create()
      const future = new Date(Date.now() + 3_600_000).toISOString()
      assert.deepStrictEqual(problemsOf(yield* read("locations", uuid, `at=${future}`)), [
        400,
        "InvalidRequestError",
        "at outOfRange"
      ])
      assert.strictEqual((yield* read("locations", uuid, "at=yesterday")).body.issues[0].path, "at")
    })
  )

  it.effect("a time before the history of a record that is older than the log answers 410", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const before = yield* moment
      const uuid = yield* create()
      yield* seal
      yield* pooled`update events set actor = '{"type": "system"}' where record_uuid = ${uuid}`
      expectError(yield* read("locations", uuid, `at=${before}`), 410, "HistoryExpiredError")
      assert.strictEqual((yield* read("locations", uuid, `at=${yield* moment}`)).status, 200)
    })
  )

  it.effect("a post of the past has one translation with `locale`, and names that the key may read", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const group = (yield* send("POST", "/v1/groups", { body: { name: "Then" } })).body.data.uuid
      const uuid = yield* createPost({
        translations: [
          { locale: "en", title: "English" },
          { locale: "nl", title: "Nederlands" }
        ],
        audience: { authorizationType: "groups", groups: [{ uuid: group }], locations: [] }
      })
      const at = yield* moment
      yield* send("PATCH", `/v1/groups/${group}`, { body: { name: "Now" } })
      yield* patchPost(uuid, { translations: [{ locale: "en", title: "Later" }] })
      const { body, headers } = yield* send("GET", `/v1/posts/${uuid}?at=${at}&locale=nl`)
      assert.deepStrictEqual(body.data.translations, [{ locale: "nl", title: "Nederlands" }])
      assert.strictEqual(headers.get("content-language"), "nl")
      assert.deepStrictEqual(body.data.audience.groups, [{ uuid: group, name: "Then" }])
      const reader = yield* key(["read:posts"])
      const seen = yield* send("GET", `/v1/posts/${uuid}?at=${at}`, { key: reader })
      assert.deepStrictEqual(seen.body.data.audience.groups, [{ uuid: group }])
    })
  )

  it.effect("a read of the past has the last login before it", () =>
    Effect.gen(function* () {
      const body = { username: "login", email: "login@example.com" }
      const { uuid } = (yield* send("POST", "/v1/users", { body })).body.data
      const login = (at: string) => send("POST", `/v1/users/${uuid}/logins`, { body: { at } })
      const lastLogin = (at: unknown) =>
        Effect.map(read("users", uuid, `at=${String(at)}`), ({ body }) => body.data.lastLoginAt)
      const before = yield* moment
      yield* login("2026-01-01T00:00:00.000Z")
      const between = yield* moment
      yield* login("2026-02-01T00:00:00.000Z")
      const after = yield* moment
      yield* send("DELETE", `/v1/users/${uuid}`)
      assert.deepStrictEqual(yield* Effect.forEach([before, between, after], lastLogin), [
        undefined,
        "2026-01-01T00:00:00.000Z",
        "2026-02-01T00:00:00.000Z"
      ])
    })
  )

  it.effect("an asset of the past has the facts of its file after the file was deleted", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const file = yield* fileRow("then.png", 7, "image/png")
      const uuid = yield* createAsset({ fileUuid: file })
      const at = yield* moment
      yield* patchAsset(uuid, { fileUuid: yield* fileRow("now.txt") })
      yield* pooled`delete from files where uuid = ${file}`
      const { body } = yield* read("assets", uuid, `at=${at}`)
      assert.deepInclude(body.data, { fileNameOriginal: "then.png", fileSize: 7, mimeType: "image/png" })
    })
  )
})
