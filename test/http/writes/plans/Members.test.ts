import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { Sql } from "../../../../src/sql/Sql.ts"
import { lockSoonSql } from "../../../../src/sql/Transactions.ts"
import { create, having } from "../../../support/changes/Feed.ts"
import { apply, branches, changesOf, type Fields, keyWith, plan, zero } from "../../../support/requests/PlanRequests.ts"
import { expectError, send, unique, unknownUuid } from "../../../support/requests/Requests.ts"
import * as TestServer from "../../../support/TestServer.ts"
import { eventually } from "../../../support/Until.ts"

layer(TestServer.layer(), { excludeTestServices: true })("plans of users and groups", (it) => {
  it.effect("users are found by their username in any case, and groups get the members that a row names", () =>
    Effect.gen(function* () {
      const name = unique("Anna")
      const [location] = yield* branches([{ identifier: unique("member") }])
      yield* send("POST", "/v1/users", { body: { username: name, email: `${name}@example.com` } })
      const users = yield* plan("resource=users", [
        { username: name.toUpperCase(), firstName: "Anna" },
        { username: unique("new"), email: `${name}@EXAMPLE.com` }
      ])
      assert.deepStrictEqual(users.body.data.counts, { ...zero, update: 1, refused: 1 })
      const group = unique("Region")
      const groups = yield* plan("resource=groups", [{ name: group, locations: [location] }])
      assert.deepStrictEqual(groups.body.data.counts, { ...zero, create: 1 })
      yield* apply(groups.body.data.uuid)
      const { body } = yield* send("GET", `/v1/groups?filter=name:equals:${group}`)
      assert.strictEqual(body.data[0].locationCount, 1)
      const again = yield* plan("resource=groups", [{ name: group, locations: [location] }])
      assert.deepStrictEqual(again.body.data.counts, { ...zero, unchanged: 1 })
    })
  )

  it.effect("rows replace the locations and groups of users that exist, and the sets are compared with theirs", () =>
    Effect.gen(function* () {
      const name = unique("member")
      const [first, second] = yield* branches([{ identifier: unique("first") }, { identifier: unique("second") }])
      const { body: group } = yield* send("POST", "/v1/groups", { body: { name: unique("Region") } })
      const { body: user } = yield* send("POST", "/v1/users", {
        body: { username: name, email: `${name}@example.com`, locations: [first] }
      })
      const row = { username: name, locations: [second], groups: [group.data.uuid] }
      const made = yield* plan("resource=users", [row, { username: unique("unknown"), locations: [unknownUuid] }])
      assert.deepStrictEqual(made.body.data.counts, { ...zero, update: 1, refused: 1 })
      const [change] = yield* changesOf(made.body.data.uuid)
      assert.deepStrictEqual(change.changes, [
        { path: "locations", added: [second], removed: [first] },
        { path: "groups", added: [group.data.uuid], removed: [] }
      ])
      const membersOf = (kind: string) =>
        Effect.map(send("GET", `/v1/users/${user.data.uuid}/${kind}`), ({ body }) =>
          body.data.map(({ uuid }: { readonly uuid: string }) => uuid)
        )
      assert.deepStrictEqual(yield* membersOf("locations"), [first])
      yield* apply(made.body.data.uuid, { force: true })
      assert.deepStrictEqual(yield* membersOf("locations"), [second])
      assert.deepStrictEqual(yield* membersOf("groups"), [group.data.uuid])
      const again = yield* plan("resource=users", [row])
      assert.deepStrictEqual(again.body.data.counts, { ...zero, unchanged: 1 })
      const key = yield* keyWith("read:users", "create:users", "update:users", "update:locations")
      const error = expectError(yield* plan("resource=users", [row], key), 403, "MissingPermissionsError")
      assert.deepStrictEqual(error.missing, ["update:groups"])
      expectError(
        yield* send("PATCH", `/v1/users/${user.data.uuid}`, { body: { locations: [first] } }),
        400,
        "InvalidRequestError"
      )
    })
  )

  it.effect("changes show the locations and groups of a record to keys that read these", () =>
    Effect.gen(function* () {
      const [location] = yield* branches([{ identifier: unique("seen") }])
      const group = yield* create("groups", { name: unique("Seen") })
      const usernames = [unique("seen"), unique("seen")]
      yield* Effect.forEach(usernames, (username) => create("users", { username, email: `${username}@example.com` }))
      const [both, related] = usernames
      const { uuid } = (yield* plan("resource=users", [
        { username: both, firstName: "Anna", locations: [location], groups: [group] },
        { username: related, locations: [location] }
      ])).body.data
      const name = { path: "firstName", after: "Anna" }
      const locations = { path: "locations", added: [location], removed: [] }
      const groups = { path: "groups", added: [group], removed: [] }
      for (const [permissions, shown] of [
        [
          ["read:users", "read:locations", "read:groups"],
          [[name, locations, groups], [locations]]
        ],
        [
          ["read:users", "read:groups"],
          [[name, groups], []]
        ],
        [["read:users"], [[name], []]]
      ] as const) {
        const key = yield* keyWith(...permissions)
        const { body } = yield* send("GET", `/v1/plans/${uuid}/changes`, { key })
        assert.deepStrictEqual(
          body.data.map(({ changes, key }: Fields) => [key, changes]),
          [
            [both, shown[0]],
            [related, shown[1]]
          ]
        )
      }
    })
  )

  it.effect(
    "a plan of users removes what a transaction added to their groups before it, and committed while it waited",
    () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const [username, added, kept] = [unique("member"), unique("added"), unique("kept")]
        const user = yield* create("users", { username, email: `${username}@example.com` })
        const [before, after] = [yield* create("groups", { name: added }), yield* create("groups", { name: kept })]
        const [isAdded, isMet] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const open = yield* Effect.forkChild(
          pooled.withTransaction(
            Effect.gen(function* () {
              yield* pooled`${lockSoonSql("user_groups")}`
              yield* pooled`insert into user_groups (user_uuid, group_uuid) values (${user}, ${before})`
              yield* Deferred.succeed(isAdded, undefined)
              yield* Deferred.await(isMet)
            })
          )
        )
        yield* Deferred.await(isAdded)
        const planning = yield* Effect.forkChild(plan("resource=users", [{ username, groups: [after] }]))
        yield* eventually(
          "the plan waits for the transaction",
          pooled`select from pg_locks where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`,
          (rows) => rows.length > 0
        )
        yield* Deferred.succeed(isMet, undefined)
        yield* Fiber.join(open)
        const { body } = yield* Fiber.join(planning)
        const [change] = yield* changesOf(body.data.uuid)
        assert.deepStrictEqual(change.changes, [{ path: "groups", added: [after], removed: [before] }])
        assert.strictEqual((yield* apply(body.data.uuid)).status, 200)
      })
  )

  it.effect(
    "a planned deletion of a group shows its name and not its memberships, which the event of the deletion has",
    () =>
      Effect.gen(function* () {
        const [name, username] = [unique("gone"), unique("member")]
        const user = yield* create("users", { username, email: `${username}@example.com` })
        const group = yield* create("groups", { name, users: [user] })
        const { body } = yield* plan(`resource=groups&mode=full&maxDeletes=100&filter=name:equals:${name}`, [])
        const [change] = yield* changesOf(body.data.uuid)
        assert.deepStrictEqual([change.kind, change.changes], ["delete", [{ path: "name", before: name }]])
        yield* apply(body.data.uuid, { force: true })
        const { data } = yield* having(2, `/v1/groups/${group}/history`)
        assert.deepStrictEqual(data[0]!.changes, [
          { path: "name", before: name },
          { path: "users", added: [], removed: [user] }
        ])
      })
  )
})
