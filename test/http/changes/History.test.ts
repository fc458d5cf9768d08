import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Permission } from "../../../src/domain/keys/Permission.ts"
import { create, having, page } from "../../support/changes/Feed.ts"
import { expectError, problemsOf, send, unique, unknownUuid } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"

const resources = [
  { resource: "users", body: () => ({ username: unique("u"), email: `${unique("u")}@example.com` }) },
  { resource: "locations", body: () => ({ name: "Branch", identifier: unique("l") }) },
  { resource: "groups", body: () => ({ name: unique("g") }) },
  { resource: "products", body: () => ({ type: "default", name: "Flyer", identifier: unique("p") }) },
  { resource: "posts", body: () => ({ type: "news", translations: [{ locale: "en", title: unique("n") }] }) },
  { resource: "meta-tags", body: () => ({ key: unique("m").replace("-", "_"), type: "text" }) },
  { resource: "asset-categories", body: () => ({ key: unique("c") }) }
]
const others = resources.map(({ resource }) => resource)

const location = (name: string) => create("locations", { name, identifier: unique("l") })
const user = Effect.suspend(() => create("users", { username: unique("u"), email: `${unique("u")}@example.com` }))

layer(TestServer.layer(), { excludeTestServices: true })("The history of a record", (it) => {
  it.effect.each(resources)("the history of one of $resource has its creation and deletion, the latest first", (kind) =>
    Effect.gen(function* () {
      const uuid = yield* create(kind.resource, kind.body())
      const path = `/v1/${kind.resource}/${uuid}/history`
      assert.strictEqual((yield* page(path)).data.length <= 1, true)
      yield* send("DELETE", `/v1/${kind.resource}/${uuid}`)
      const { data, more } = yield* having(2, path)
      assert.deepStrictEqual([data.map(({ type }) => type.split(".")[1]), more], [["deleted", "created"], false])
      assert.isTrue(data.every(({ record }) => record.uuid === uuid))
      assert.isTrue(data[1]!.changes.length > 0 && data[1]!.changes.every((change) => !("before" in change)))
      assert.isTrue(data[0]!.changes.every((change) => !("after" in change)))
    })
  )

  it.effect.each([...others, "assets"])("of %s answers 404 for a record that never existed", (resource) =>
    Effect.gen(function* () {
      const answer = yield* send("GET", `/v1/${resource}/${unknownUuid}/history`)
      assert.strictEqual(answer.status, 404, answer.text)
    })
  )

  it.effect("rejects a malformed cursor before it looks for the record", () =>
    Effect.gen(function* () {
      const answer = yield* send("GET", `/v1/users/${unknownUuid}/history?after=garbage`)
      assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", "after invalidFormat"])
    })
  )

  it.effect("answers 404 for a record of another resource", () =>
    Effect.gen(function* () {
      const uuid = yield* location("Branch")
      yield* having(1, `/v1/locations/${uuid}/history`)
      expectError(yield* send("GET", `/v1/users/${uuid}/history`), 404, "UserNotFoundError")
    })
  )

  it.effect("the history of a record has pages in both orders, whose cursors join without a gap", () =>
    Effect.gen(function* () {
      const uuid = yield* location("0")
      for (const name of ["1", "2", "3", "4"]) yield* send("PATCH", `/v1/locations/${uuid}`, { body: { name } })
      const path = `/v1/locations/${uuid}/history`
      const whole = yield* having(5, path)
      for (const order of ["asc", "desc"] as const) {
        const read: Array<string> = []
        let after = ""
        for (let more = true; more;) {
          const part = yield* page(`${path}?order=${order}&limit=2&after=${after}`)
          read.push(...part.data.map(({ id }) => id))
          ;[after, more] = [part.cursor, part.more]
        }
        const ids = whole.data.map(({ id }) => id)
        assert.deepStrictEqual(read, order === "desc" ? ids : ids.toReversed())
      }
      const invalid = yield* send("GET", `${path}?limit=501`)
      expectError(invalid, 400, "InvalidRequestError")
    })
  )

  it.effect("the history of a record has the uuids that a change of relations added", () =>
    Effect.gen(function* () {
      const uuid = yield* create("groups", { name: unique("g") })
      const users = yield* Effect.replicateEffect(user, 3)
      yield* send("PUT", `/v1/groups/${uuid}/users`, { body: { users } })
      const { data } = yield* having(2, `/v1/groups/${uuid}/history`)
      assert.deepStrictEqual(data[0]!.changes, [{ path: "users", added: users.toSorted(), removed: [] }])
    })
  )

  it.effect("shows a change of relations on both sides, to keys that may read both", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const branch = yield* location("Branch")
      const group = yield* create("groups", { name: unique("g") })
      yield* send("PUT", `/v1/groups/${group}/locations`, { body: { locations: [branch] } })
      const expected = [{ path: "locations", added: [branch], removed: [] }]
      const ofGroup = yield* having(2, `/v1/groups/${group}/history`)
      const ofBranch = yield* having(2, `/v1/locations/${branch}/history`)
      assert.deepStrictEqual([ofGroup.data[0]!.changes, ofBranch.data[0]!.changes], [expected, expected])
      assert.deepStrictEqual(ofBranch.data[0]!.record.uuid, group)
      const locationsOnly = yield* key(["read:locations"])
      const groupsOnly = yield* key(["read:groups"])
      const seen = yield* page(`/v1/locations/${branch}/history`, locationsOnly)
      assert.deepStrictEqual(
        seen.data.map(({ type }) => type),
        ["location.created"]
      )
      const seenGroup = yield* page(`/v1/groups/${group}/history`, groupsOnly)
      assert.deepStrictEqual(
        seenGroup.data.map(({ type }) => type),
        ["group.created"]
      )
      const forbidden = yield* send("GET", `/v1/locations/${branch}/history`, { key: groupsOnly })
      expectError(forbidden, 403, "MissingPermissionsError")
    })
  )

  it.effect(
    "leaves out a replacement of relations for a key that sees none of its entries, and has those it sees",
    () =>
      Effect.gen(function* () {
        const { key } = yield* TestServer.TestServer
        const [one, two, branch] = [yield* user, yield* user, yield* location("Branch")]
        const group = yield* create("groups", { name: unique("g"), users: [one] })
        yield* send("PUT", `/v1/groups/${group}/users`, { body: { users: [two] } })
        yield* send("PATCH", `/v1/groups/${group}`, { body: { users: [one], locations: [branch] } })
        yield* having(3, `/v1/groups/${group}/history`)
        const usersOut = { path: "users", added: [two], removed: [one] }
        const usersBack = { path: "users", added: [one], removed: [two] }
        const branchIn = { path: "locations", added: [branch], removed: [] }
        const expected: ReadonlyArray<{
          readonly permissions: ReadonlyArray<Permission>
          readonly updates: ReadonlyArray<unknown>
        }> = [
          { permissions: ["read:users", "read:locations"], updates: [[usersOut], [branchIn, usersBack]] },
          { permissions: ["read:users"], updates: [[usersOut], [usersBack]] },
          { permissions: ["read:locations"], updates: [[branchIn]] },
          { permissions: [], updates: [] }
        ]
        for (const { permissions, updates } of expected) {
          const reader = yield* key(["read:events", "read:groups", ...permissions])
          for (const path of [`/v1/groups/${group}/history?order=asc`, `/v1/events?record=${group}`]) {
            const { data } = yield* page(path, reader)
            const read = data.filter(({ type }) => type === "group.updated").map(({ changes }) => changes)
            assert.deepStrictEqual(read, updates, `${path} with ${permissions.join()}`)
          }
        }
      })
  )
})
