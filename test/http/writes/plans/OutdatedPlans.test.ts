import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../../src/sql/Sql.ts"
import { create } from "../../../support/changes/Feed.ts"
import { apply, branches, collection, type Fields, listOf, plan, zero } from "../../../support/requests/PlanRequests.ts"
import { createProduct, deleteModule, putModule } from "../../../support/requests/ProductRequests.ts"
import { expectError, send, unique } from "../../../support/requests/Requests.ts"
import * as TestServer from "../../../support/TestServer.ts"

layer(TestServer.layer(), { excludeTestServices: true })("plans whose records changed", (it) => {
  it.effect(
    "a record of the plan that changed, or was created or deleted since, makes the plan outdated; nothing is written",
    () =>
      Effect.gen(function* () {
        const { id, prefix, query } = collection()
        const [one, two] = yield* branches([{ identifier: id("1") }, { identifier: id("2") }, { identifier: id("3") }])
        const { body } = yield* plan(query, [
          ...["1", "2"].map((number) => ({ identifier: id(number), name: "New" })),
          { identifier: id("3"), name: "Branch" },
          { identifier: id("4"), name: "New" }
        ])
        yield* send("PATCH", `/v1/locations/${one}`, { body: { address: { city: "Zeist" } } })
        yield* send("DELETE", `/v1/locations/${two}`)
        yield* branches([{ identifier: id("4") }])
        const before = yield* listOf(prefix)
        const outdated = expectError(yield* apply(body.data.uuid, { force: true }), 409, "PlanOutdatedError")
        assert.sameMembers(outdated.changed, [id("1"), id("2"), id("4")])
        assert.deepStrictEqual(yield* listOf(prefix), before)
      })
  )

  it.effect("a changed module of a product, and changed members of a group, make a plan outdated", () =>
    Effect.gen(function* () {
      const [prefix, user] = [unique("outdated"), unique("member")]
      const product = yield* createProduct({ identifier: prefix })
      const { body: group } = yield* send("POST", "/v1/groups", { body: { name: prefix } })
      const { body: member } = yield* send("POST", "/v1/users", {
        body: { username: user, email: `${user}@example.com` }
      })
      const planned = (query: string) =>
        Effect.map(plan(`${query}&mode=full&maxDeletes=100`, []), ({ body }) => {
          assert.deepStrictEqual(body.data.counts, { ...zero, delete: 1 })
          return body.data.uuid as string
        })
      const products = `resource=products&filter=identifier:equals:${prefix}`
      const groups = `resource=groups&filter=name:equals:${prefix}`
      for (const [query, change] of [
        [products, putModule(product, "price", { model: "fixed", amountMinor: 5 })],
        [products, deleteModule(product, "price")],
        [groups, send("PUT", `/v1/groups/${group.data.uuid}/users`, { body: { users: [member.data.uuid] } })]
      ] as const) {
        const before = yield* planned(query)
        assert.strictEqual((yield* change).status, 200)
        const outdated = expectError(yield* apply(before, { force: true }), 409, "PlanOutdatedError")
        assert.deepStrictEqual(outdated.changed, [prefix])
      }
      assert.strictEqual((yield* apply(yield* planned(products), { force: true })).status, 200)
    })
  )

  /** A plan of one row that changes a record. */
  const planned = (resource: string, row: Fields) =>
    Effect.map(plan(`resource=${resource}`, [row]), ({ body }) => {
      assert.deepStrictEqual(body.data.counts, { ...zero, update: 1 })
      return body.data.uuid as string
    })

  /** Applies a plan after another request, whose change is sealed or not. */
  const appliedAfter = (other: ReturnType<typeof send>, uuid: string, isSealed: boolean) =>
    Effect.flatMap(Sql, ({ pooled }) => {
      const change = Effect.map(other, ({ status, text }) => assert.strictEqual(status, 200, text))
      const applied = Effect.suspend(() => apply(uuid))
      if (isSealed) return Effect.andThen(Effect.andThen(change, pooled`select waypost_seal_all()`), applied)
      // Nothing is sealed while this transaction has the lock.
      const lock = pooled`select from event_log for update`
      return pooled.withTransaction(Effect.andThen(Effect.andThen(lock, change), applied))
    })

  it.effect.each([
    ["users", true],
    ["users", false],
    ["groups", true],
    ["groups", false]
  ] as const)(
    "members of %s that were replaced from the other side make a plan outdated (sealed: %s)",
    ([side, isSealed]) =>
      Effect.gen(function* () {
        const [user, group] = [unique("member"), unique("group")]
        const email = (name: string) => `${name}@example.com`
        const userUuid = yield* create("users", { username: user, email: email(user) })
        const groupUuid = yield* create("groups", { name: group })
        const other = unique("other")
        const [resource, row, path, body] =
          side === "users"
            ? ([
                "groups",
                { name: group, users: [userUuid] },
                `users/${yield* create("users", { username: other, email: email(other) })}/groups`,
                { groups: [groupUuid] }
              ] as const)
            : ([
                "users",
                { username: user, groups: [groupUuid] },
                `groups/${yield* create("groups", { name: other })}/users`,
                { users: [userUuid] }
              ] as const)
        const answer = yield* appliedAfter(
          send("PUT", `/v1/${path}`, { body }),
          yield* planned(resource, row),
          isSealed
        )
        assert.deepStrictEqual(expectError(answer, 409, "PlanOutdatedError").changed, [side === "users" ? group : user])
      })
  )

  it.effect.each([true, false])("a login does not make a plan outdated (sealed: %s)", (isSealed) =>
    Effect.gen(function* () {
      const username = unique("login")
      const uuid = yield* create("users", { username, email: `${username}@example.com` })
      const login = send("POST", `/v1/users/${uuid}/logins`, { body: {} })
      const answer = yield* appliedAfter(login, yield* planned("users", { username, firstName: "Anna" }), isSealed)
      assert.strictEqual(answer.status, 200, answer.text)
    })
  )

  it.effect("a changed record among the unchanged does not make a plan outdated", () =>
    Effect.gen(function* () {
      const { id, query } = collection()
      const [one] = yield* branches([{ identifier: id("1") }])
      const { body } = yield* plan(query, [
        { identifier: id("1"), name: "Branch" },
        { identifier: id("2"), name: "New" }
      ])
      yield* send("PATCH", `/v1/locations/${one}`, { body: { name: "Other" } })
      assert.strictEqual((yield* apply(body.data.uuid)).status, 200)
    })
  )
})
