import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Permission } from "../../../../src/domain/keys/Permission.ts"
import { Plans } from "../../../../src/repositories/plans/Plans.ts"
import { Sql } from "../../../../src/sql/Sql.ts"
import {
  apply,
  branches,
  changesOf,
  collection,
  type Fields,
  keyWith,
  listOf,
  plan,
  zero
} from "../../../support/requests/PlanRequests.ts"
import { expectError, problemsOf, send, unique, unknownUuid } from "../../../support/requests/Requests.ts"
import * as TestServer from "../../../support/TestServer.ts"
import { waitsForLargePages } from "../../../support/Turns.ts"

layer(TestServer.layer(), { excludeTestServices: true })("plans", (it) => {
  it.effect("a plan shows what a file would change, to the leaves, and writes nothing", () =>
    Effect.gen(function* () {
      const { id, prefix, query } = collection()
      const [one] = yield* branches([
        { identifier: id("1"), contact: { phone: "+31301234567" } },
        { identifier: id("2") }
      ])
      const before = yield* listOf(prefix)
      const made = yield* plan(query, [
        { identifier: id("1"), address: { city: "Utrecht" }, contact: { phone: null } },
        { identifier: id("2"), name: "Branch" },
        { identifier: id("3"), name: "New", postalCodes: ["3511 AB"] }
      ])
      assert.strictEqual(made.status, 201, made.text)
      const { uuid, ...shown } = made.body.data
      assert.deepStrictEqual(
        { ...shown, expiresAt: "" },
        {
          resource: "locations",
          mode: "partial",
          state: "ready",
          counts: { ...zero, create: 1, update: 1, unchanged: 1 },
          guards: [],
          expiresAt: ""
        }
      )
      assert.deepStrictEqual(yield* changesOf(uuid), [
        {
          key: id("1"),
          kind: "update",
          uuid: one,
          row: 1,
          changes: [
            { path: "address.city", after: "Utrecht" },
            { path: "contact.phone", before: "+31301234567" }
          ]
        },
        {
          key: id("3"),
          kind: "create",
          row: 3,
          changes: [
            { path: "name", after: "New" },
            { path: "identifier", after: id("3") },
            { path: "postalCodes", after: ["3511 AB"] }
          ]
        }
      ])
      assert.deepStrictEqual(yield* listOf(prefix), before)
      assert.deepStrictEqual((yield* send("GET", `/v1/plans/${uuid}`)).body.data, made.body.data)
    })
  )

  it.effect("a plan that is applied does what it shows, once, and the same file then has only unchanged rows", () =>
    Effect.gen(function* () {
      const { id, prefix, query } = collection()
      yield* branches([{ identifier: id("1") }, { identifier: id("gone") }])
      const file = [
        { identifier: id("1"), name: "Renamed" },
        { identifier: id("2"), name: "New" }
      ]
      const full = `${query}&mode=full&maxDeletes=50`
      const { body } = yield* plan(full, file)
      const { counts, uuid } = body.data
      assert.deepStrictEqual(counts, { ...zero, create: 1, update: 1, delete: 1 })
      const applied = yield* apply(uuid)
      assert.deepStrictEqual([applied.status, applied.body.data], [200, { uuid, counts }])
      const records = yield* listOf(prefix)
      assert.deepStrictEqual(
        records.map(({ identifier, name }) => [identifier, name]),
        [
          [id("1"), "Renamed"],
          [id("2"), "New"]
        ]
      )
      assert.deepStrictEqual((yield* apply(uuid)).body.data, { uuid, counts })
      assert.deepStrictEqual(yield* listOf(prefix), records)
      const { appliedAt, state } = (yield* send("GET", `/v1/plans/${uuid}`)).body.data
      assert.deepStrictEqual([state, typeof appliedAt], ["applied", "string"])
      assert.deepStrictEqual((yield* plan(full, file)).body.data.counts, { ...zero, unchanged: 2 })
    })
  )

  it.effect("a page of changes of more than 15 MiB is an error of its limit", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const { id, query } = collection()
      const rows = ["1", "2", "3"].map((name) => ({ identifier: id(name), name: "Branch" }))
      const { uuid } = (yield* plan(query, rows)).body.data
      yield* pooled`update plan_rows set changes = jsonb_build_array(jsonb_build_object('path', 'name', 'after',
        repeat('a', ${6 * 1024 ** 2}::int))) where plan = ${uuid}::uuid`
      const answer = yield* send("GET", `/v1/plans/${uuid}/changes`)
      assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", "limit tooMuch"])
      const small = send("GET", `/v1/plans/${uuid}/changes?limit=2&page=2`)
      const { body } = yield* small
      assert.deepStrictEqual([body.data.length, body.pagination.total], [1, 3])
      assert.isTrue(yield* waitsForLargePages(small))
    })
  )

  it.effect("an hourly job removes unchanged rows of applied plans, which their changes do not show", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const { id, query } = collection()
      yield* branches([{ identifier: id("1") }, { identifier: id("2") }])
      const file = [{ identifier: id("1") }, { identifier: id("2"), name: "Renamed" }, { identifier: id("3") }]
      const { uuid } = (yield* plan(query, file)).body.data
      const { prune } = yield* Effect.provide(Plans, Plans.layer)
      const kinds = Effect.map(
        pooled<{ readonly kind: string }>`select kind from plan_rows where plan = ${uuid}::uuid order by place`,
        (rows) => rows.map(({ kind }) => kind)
      )
      yield* prune
      assert.deepStrictEqual(yield* kinds, ["unchanged", "update", "refused"])
      const changes = yield* changesOf(uuid)
      const { counts } = (yield* apply(uuid, { force: true })).body.data
      yield* prune
      assert.deepStrictEqual(counts, { ...zero, update: 1, unchanged: 1, refused: 1 })
      assert.deepStrictEqual(yield* kinds, ["update", "refused"])
      assert.deepStrictEqual(yield* changesOf(uuid), changes)
      assert.deepStrictEqual((yield* send("GET", `/v1/plans/${uuid}`)).body.data.counts, counts)
    })
  )

  it.effect("each record that a plan writes has one event, with the key that applies it", () =>
    Effect.gen(function* () {
      const { id, prefix, query } = collection()
      const [one] = yield* branches([{ identifier: id("1") }])
      const { body } = yield* plan(query, [{ identifier: id("1"), name: "Renamed", address: { city: "Zeist" } }])
      yield* apply(body.data.uuid)
      const { pooled } = yield* Sql
      yield* pooled`select waypost_seal_all()`
      const history = yield* send("GET", `/v1/locations/${one}/history?order=asc`)
      assert.deepStrictEqual(
        history.body.data
          .map(({ actor, changes, type }: Fields) => [type, (actor as Fields)["type"], changes])
          .slice(1),
        [
          [
            "location.updated",
            "apiKey",
            [
              { path: "name", before: "Branch", after: "Renamed" },
              { path: "address.city", after: "Zeist" }
            ]
          ]
        ]
      )
      assert.lengthOf(yield* listOf(prefix), 1)
    })
  )

  it.effect(
    "a plan tries creations and changes out without writing the log, in a transaction of its own and of its request",
    () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        // Groups are tried out by writing them.
        const prefix = unique("plan")
        const group = (name: string) => send("POST", "/v1/groups", { body: { name } })
        yield* group(`${prefix} 1`)
        const query = `resource=groups&filter=name:startsWith:${prefix}`
        const key = yield* keyWith(...Permission.literals)
        const logged = Effect.map(
          pooled<{ readonly last: string }>`select last_value::text as last from pending_changes_id_seq`,
          ([row]) => row!.last
        )
        const before = yield* logged
        for (const headers of [{}, { "idempotency-key": unique("trial") }]) {
          const { body } = yield* send("POST", `/v1/plans?${query}`, {
            body: [{ name: `${prefix} 1`, description: "Changed" }, { name: `${prefix} 2` }],
            key,
            headers
          })
          assert.deepStrictEqual(body.data.counts, { ...zero, create: 1, update: 1 })
        }
        assert.strictEqual(yield* logged, before)
        // Writes of the same connections are logged.
        yield* Effect.forEach(Array.from({ length: 20 }), () => group(unique("logged")), { concurrency: 2 })
        assert.strictEqual(Number(yield* logged), Number(before) + 20)
      })
  )

  it.effect("a plan with a failed safety check is applied with force only, without the refused rows", () =>
    Effect.gen(function* () {
      const { id, prefix, query } = collection()
      yield* branches([1, 2, 3].map((number) => ({ identifier: id(String(number)) })))
      const made = yield* plan(`${query}&mode=full`, [{ identifier: id("1"), name: "A" }, { identifier: id("9") }])
      const { guards, uuid } = made.body.data
      assert.deepStrictEqual(
        guards.map(({ code }: Fields) => code),
        ["refusedRows", "tooManyDeletes"]
      )
      const guarded = expectError(yield* apply(uuid), 409, "PlanGuardedError")
      assert.deepStrictEqual(guarded.guards, guards)
      assert.lengthOf(yield* listOf(prefix), 3)
      assert.strictEqual((yield* apply(uuid, { force: true })).status, 200)
      assert.deepStrictEqual(
        (yield* listOf(prefix)).map(({ name }) => name),
        ["A"]
      )
      const empty = yield* plan(query, [])
      assert.deepStrictEqual(empty.body.data.guards, [{ code: "emptyFile", message: "The file has no rows" }])
    })
  )

  it.effect(
    "a plan needs read, create and update of its resource, delete with mode full, and update of what rows name",
    () =>
      Effect.gen(function* () {
        const all = ["read:locations", "create:locations", "update:locations"] as const
        const able = yield* keyWith(...all)
        assert.strictEqual((yield* plan("resource=locations", [], able)).status, 201)
        for (const missing of all) {
          const key = yield* keyWith(
            ...all.filter((permission) => permission !== missing),
            "create:users",
            "read:users"
          )
          const error = expectError(yield* plan("resource=locations", [], key), 403, "MissingPermissionsError", missing)
          assert.deepStrictEqual(error.missing, [missing])
        }
        expectError(yield* plan("resource=locations&mode=full", [], able), 403, "MissingPermissionsError")
        const grouping = yield* keyWith("read:groups", "create:groups", "update:groups")
        const group = { name: unique("Region"), users: [] }
        const named = expectError(yield* plan("resource=groups", [group], grouping), 403, "MissingPermissionsError")
        assert.deepStrictEqual(named.missing, ["update:users"])
        const { uuid } = (yield* plan("resource=locations", [])).body.data
        const reader = yield* keyWith("read:locations")
        assert.strictEqual((yield* send("GET", `/v1/plans/${uuid}`, { key: reader })).status, 200)
        for (const key of [reader, grouping]) {
          expectError(yield* send("POST", `/v1/plans/${uuid}/apply`, { key, body: {} }), 403, "MissingPermissionsError")
          expectError(yield* send("DELETE", `/v1/plans/${uuid}`, { key }), 403, "MissingPermissionsError")
        }
        expectError(yield* send("GET", `/v1/plans/${uuid}/changes`, { key: grouping }), 403, "MissingPermissionsError")
      })
  )

  it.effect("a plan that was deleted or has expired, and one that never was, is not found", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const { uuid } = (yield* plan("resource=locations", [])).body.data
      assert.deepStrictEqual((yield* send("DELETE", `/v1/plans/${uuid}`)).body.data, { uuid })
      const expired = (yield* plan("resource=locations", [])).body.data.uuid
      yield* pooled`update plans set created_at = now() - interval '24 hours' where uuid = ${expired}`
      for (const gone of [uuid, expired, unknownUuid]) {
        expectError(yield* send("GET", `/v1/plans/${gone}`), 404, "PlanNotFoundError")
        expectError(yield* send("GET", `/v1/plans/${gone}/changes`), 404, "PlanNotFoundError")
        expectError(yield* apply(gone), 404, "PlanNotFoundError")
        expectError(yield* send("DELETE", `/v1/plans/${gone}`), 404, "PlanNotFoundError")
      }
    })
  )

  it.effect("erasing a user removes the plans that name it, in any case, and no others", () =>
    Effect.gen(function* () {
      const erased = unique("erased")
      const other = `${erased}-other`
      const rowOf = (username: string) => ({ username, email: `${username}@example.com` })
      const { body } = yield* send("POST", "/v1/users", { body: rowOf(erased) })
      const plans = yield* Effect.forEach([erased, other], (username) =>
        Effect.map(
          plan("resource=users", [{ ...rowOf(username.toUpperCase()), firstName: "Anna" }]),
          ({ body }) => body.data.uuid
        )
      )
      yield* send("DELETE", `/v1/users/${body.data.uuid}?erase=true`)
      const answers = yield* Effect.forEach(plans, (uuid) => send("GET", `/v1/plans/${uuid}`))
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [404, 200]
      )
    })
  )
})
