import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Permission } from "../../src/domain/keys/Permission.ts"
import * as Calls from "../support/contract/Calls.ts"
import { call as request, pathOf, permissionsOf } from "../support/contract/Provoking.ts"
import { createPost } from "../support/requests/PostRequests.ts"
import { read, send, unknownUuid } from "../support/requests/Requests.ts"
import { begin, complete, put, putPart } from "../support/requests/UploadRequests.ts"
import { report } from "../support/proofs/Figures.ts"
import * as TestServer from "../support/TestServer.ts"
import { accepted, databaseHash, refused } from "./Corpus.ts"

/** A record of every kind, by the first segment of its path. */
const records = Effect.gen(function* () {
  const made = {
    users: yield* Calls.user,
    locations: yield* Calls.location,
    groups: yield* Calls.group,
    products: yield* Calls.product,
    assets: yield* Calls.asset,
    posts: yield* createPost(),
    uploads: (yield* begin(5)).uuid,
    "asset-categories": yield* Calls.category,
    "meta-tags": yield* Calls.metaTag,
    "api-keys": (yield* send("GET", "/v1/api-keys?limit=1")).body.data[0].uuid as string,
    // No operation reads a file by its uuid.
    files: yield* Calls.file
  }
  return Object.entries(made)
})

const kindOf = (path: string) => path.split("/")[2]!

/** Uuids that no record has. */
const unknownUuids = ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", unknownUuid]

const withUuid = accepted.filter(({ operation }) => operation.path.includes("{uuid}"))

layer(TestServer.layer(), { excludeTestServices: true })("ids and members that a key may not use", (it) => {
  describe("ids in paths", () => {
    it.effect(
      "a uuid of another kind, an unknown, nil or max uuid is a 404 for every operation and changes nothing",
      (ctx) =>
        Effect.gen(function* () {
          const { fullKey, key } = yield* TestServer.TestServer
          const made = yield* records
          const bodies = yield* Effect.forEach(withUuid, ({ operation, prepared }) =>
            Effect.map(prepared, ({ body }) => ({ operation, body }))
          )
          const keys = new Map<string, string>()
          const requests = yield* Effect.forEach(
            bodies,
            Effect.fnUntraced(function* ({ body, operation }, place) {
              const permissions = permissionsOf(operation) as ReadonlyArray<Permission>
              const least = keys.get(permissions.join()) ?? (yield* key(permissions))
              keys.set(permissions.join(), least)
              const foreign = made.filter(([kind]) => kind !== kindOf(operation.path))
              // The kinds take turns, so that the operations of one kind get all of them; no operation is of files.
              const others = foreign.filter(([kind], index) => kind === "files" || (index + place) % 3 === 0)
              const uuids = [...others.map(([, uuid]) => uuid), ...unknownUuids]
              const ids = uuids.map((id, index) => (index % 2 === 0 ? id : id.toUpperCase()))
              const asked = { [least]: ids, [fullKey]: ids.slice(-5, -2) }
              return Object.entries(asked).flatMap(([key, ids]) => ids.map((uuid) => ({ operation, body, uuid, key })))
            })
          )
          const before = yield* databaseHash
          const wrong = yield* Effect.forEach(
            requests.flat(),
            Effect.fnUntraced(function* ({ body, key, operation, uuid }) {
              const sent = { key, ...(body === undefined ? {} : { body }) }
              const answer = yield* send(operation.method, pathOf(operation, { uuid }), sent)
              const isRight = answer.status === 404 && answer.body._tag.endsWith("NotFoundError")
              return isRight ? [] : [`${operation.id} ${uuid}: ${answer.status} ${answer.text}`]
            }),
            { concurrency: 8 }
          )
          const after = yield* databaseHash
          yield* Effect.promise(() =>
            report(ctx, {
              operations: withUuid.length,
              "foreign ids": requests.flat().length,
              "not 404": wrong.flat().length
            })
          )
          assert.isAbove(withUuid.length, 90)
          assert.deepStrictEqual(wrong.flat(), [])
          assert.deepStrictEqual(after, before)
        })
    )

    it.effect("uuids in paths are case-insensitive", () =>
      Effect.gen(function* () {
        for (const [kind, uuid] of yield* records) {
          if (kind === "files") continue
          const [lower, upper] = [uuid, uuid.toUpperCase()].map((id) => send("GET", `/v1/${kind}/${id}`))
          assert.deepStrictEqual((yield* upper!).body, (yield* lower!).body, kind)
          assert.strictEqual((yield* lower!).status, 200, kind)
        }
      })
    )

    const forms = [
      "x",
      "%00",
      "0",
      "1 or 1=1",
      "{}",
      `${unknownUuid}0`,
      unknownUuid.replaceAll("-", ""),
      `{${unknownUuid}}`,
      `urn:uuid:${unknownUuid}`
    ]
    it.effect.each(forms)("a malformed uuid (%s) is a 400", (form) =>
      Effect.forEach(
        withUuid.map(({ operation }) => operation).filter(({ method }) => method === "GET" || method === "DELETE"),
        Effect.fnUntraced(function* (operation) {
          const { status, text } = yield* send(operation.method, pathOf(operation, { uuid: encodeURIComponent(form) }))
          assert.strictEqual(status, 400, `${operation.id} ${text}`)
        }),
        { concurrency: 8, discard: true }
      )
    )
  })

  describe("ids in bodies and below records", () => {
    it.effect(
      "a uuid of another kind in a body or below a record is a 404 like an unknown one, and changes nothing",
      (ctx) =>
        Effect.gen(function* () {
          // A group or a user is never the referenced kind.
          const group = yield* Calls.group
          const user = yield* Calls.user
          const naming = yield* Effect.forEach(
            refused.filter(({ tag }) => tag.endsWith("NotFoundError")),
            (found) => Effect.map(found.prepared, (call) => ({ ...found, call }))
          )
          const before = yield* databaseHash
          for (const { call, operation, tag } of naming) {
            const foreign = tag === "GroupNotFoundError" ? user : group
            const aimed: Calls.Call = JSON.parse(JSON.stringify(call).replaceAll(unknownUuid, foreign))
            const answer = yield* request(operation, aimed)
            assert.deepStrictEqual([answer.status, answer.body._tag], [404, tag], `${operation.id} ${answer.text}`)
          }
          yield* Effect.promise(() => report(ctx, { "foreign references": naming.length }))
          assert.isAbove(naming.length, 20)
          assert.deepStrictEqual(yield* databaseHash, before)
        })
    )
  })

  describe("uploads of another key", () => {
    it.effect("an upload of another key is a 404 for every operation on uploads and stays unchanged", () =>
      Effect.gen(function* () {
        const { fullKey, key } = yield* TestServer.TestServer
        const [owner, other] = [yield* key(["create:uploads"]), yield* key(["create:uploads"])]
        const session = yield* begin(3, {}, { key: owner })
        const parts = [yield* putPart(session, 1, Buffer.from("abc"))]
        const before = yield* databaseHash
        const operations = accepted
          .map(({ operation }) => operation)
          .filter(({ id }) => /^uploads\.(?!initialize)/.test(id))
        assert.strictEqual(operations.length, 4)
        for (const otherKey of [fullKey, other]) {
          for (const operation of operations) {
            const body = operation.id === "uploads.complete" ? { uuid: session.uuid, parts } : { partNumbers: [1] }
            const sent = { key: otherKey, ...(operation.hasBody ? { body } : {}) }
            const answer = yield* send(operation.method, pathOf(operation, { uuid: session.uuid }), sent)
            assert.deepStrictEqual([answer.status, answer.body._tag], [404, "FileNotFoundError"], operation.id)
          }
        }
        assert.deepStrictEqual(yield* databaseHash, before)
        assert.strictEqual((yield* complete(session.uuid, parts, { key: owner })).status, 200)
      })
    )

    it.effect("an upload cannot be written with the altered part URL of another upload", () =>
      Effect.gen(function* () {
        const [theirs, mine] = [yield* begin(3), yield* begin(3)]
        const part = yield* putPart(theirs, 1, Buffer.from("abc"))
        const url = mine.parts[0]!.url
        const idIn = (address: string) => /uploads\/([^/]+)/.exec(address)![1]!
        for (const forged of [
          url.replace(idIn(url), idIn(theirs.parts[0]!.url)),
          url.replace("/1?", "/2?"),
          url.replace(/max=\d+/, "max=4"),
          url.replace(/expires=\d/, "expires=9")
        ]) {
          assert.notStrictEqual(forged, url)
          assert.strictEqual((yield* put(forged, Buffer.from("xyz"))).status, 403, forged)
        }
        assert.strictEqual((yield* complete(theirs.uuid, [part])).status, 200)
      })
    )
  })

  describe("read-only members", () => {
    it.effect("a patch with uuid and createdAt does not change them", () =>
      Effect.gen(function* () {
        const uuid = yield* Calls.location
        const { createdAt } = yield* read(uuid)
        const body = { uuid: unknownUuid, createdAt: "2001-01-01T00:00:00.000Z", name: "Other" }
        assert.strictEqual((yield* send("PATCH", `/v1/locations/${uuid}`, { body })).status, 200)
        assert.deepInclude(yield* read(uuid), { uuid, createdAt, name: "Other" })
      })
    )
  })
})
