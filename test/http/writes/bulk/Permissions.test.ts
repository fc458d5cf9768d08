import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Permission } from "../../../../src/domain/keys/Permission.ts"
import { bulk, create, creation, outcomesOf, remove, update, upsert } from "../../../support/requests/BulkRequests.ts"
import { createGroup, createUser } from "../../../support/requests/ProductRequests.ts"
import * as Requests from "../../../support/requests/Requests.ts"
import * as TestServer from "../../../support/TestServer.ts"

const { expectError, problemsOf, send, unique, unknownUuid } = Requests
const { TestServer: Server } = TestServer

/** A new key with these permissions. */
const keyWith = (...permissions: ReadonlyArray<Permission>) => Effect.flatMap(Server, ({ key }) => key(permissions))

const newUser = (fields: object = {}) => {
  const username = unique("bulk")
  return { username, email: `${username}@example.com`, ...fields }
}

const missingOf = ({ body, status }: { readonly status: number; readonly body: { readonly missing?: unknown } }) => [
  status,
  body.missing
]

layer(TestServer.layer({ GUARD_USER_ROLES: "true" }), { excludeTestServices: true })("a bulk request", (it) => {
  it.effect("of a key with none of its permissions is a 403 before its body is read", () =>
    Effect.gen(function* () {
      const key = yield* keyWith("read:locations", "create:users", "update:users", "delete:users")
      const all = ["create:locations", "update:locations", "delete:locations"]
      for (const raw of ["{", JSON.stringify({ operations: [] })]) {
        const answer = yield* send("POST", "/v1/locations/bulk", { raw, key })
        const { missing, required } = expectError(answer, 403, "MissingPermissionsError")
        assert.deepStrictEqual([required, missing], [all, all])
      }
    })
  )

  it.effect.each([
    ["create", [], "create:locations"],
    ["update", [], "update:locations"],
    ["delete", [], "delete:locations"],
    ["upsert", ["create:locations"], "update:locations"],
    ["upsert", ["update:locations"], "create:locations"]
  ] as const)(
    "with an operation %s, a key with %s, and without one permission, writes nothing: %s",
    ([op, held, missing]) =>
      Effect.gen(function* () {
        const uuid = yield* Requests.create()
        const identifier = unique("denied")
        const others = (["create:locations", "update:locations", "delete:locations"] as const).filter(
          (permission) => permission !== missing && (held.length === 0 || permission !== held[0])
        )
        const operation = {
          create: create({ name: "Denied", identifier }),
          update: update(uuid, { name: "Denied" }),
          delete: remove(uuid),
          upsert: upsert(identifier, { name: "Denied" })
        }[op]
        const permitted = {
          create: remove(uuid),
          update: remove(uuid),
          delete: creation({ identifier }),
          upsert: remove(uuid)
        }
        const key = yield* keyWith(...others, ...held)
        assert.deepStrictEqual(missingOf(yield* bulk("locations", [permitted[op], operation], { key })), [
          403,
          [missing]
        ])
        assert.strictEqual((yield* Requests.read(uuid)).name, "Branch")
        const full = yield* keyWith(...others, ...held, missing)
        assert.strictEqual((yield* bulk("locations", [operation], { key: full })).status, 200)
      })
  )

  it.effect("needs the permissions of its operations only", () =>
    Effect.gen(function* () {
      const uuid = yield* Requests.create()
      for (const [operation, permission] of [
        [creation(), "create:locations"],
        [update(uuid, { name: "Other" }), "update:locations"],
        [remove(uuid), "delete:locations"]
      ] as const) {
        const answer = yield* bulk("locations", [operation], { key: yield* keyWith(permission) })
        assert.include(["200", "201"], outcomesOf(answer)[0])
      }
    })
  )

  it.effect("that is malformed is a 400 also without the permission of an operation", () =>
    Effect.gen(function* () {
      const key = yield* keyWith("create:locations")
      const answer = yield* bulk("locations", [remove(unknownUuid), { op: "update" }], { key })
      assert.deepStrictEqual(answer.status, 400)
      const whole = yield* bulk("locations", [remove(unknownUuid)], { key, headers: { "if-match": '"a"' } })
      assert.deepStrictEqual(problemsOf(whole), [400, "InvalidRequestError", "if-match notAllowed"])
      expectError(yield* bulk("locations", [remove(unknownUuid)], { key }), 403, "MissingPermissionsError")
    })
  )

  it.effect("with members that name records needs the permissions of these too", () =>
    Effect.gen(function* () {
      const [location, group, user] = [yield* Requests.create(), yield* createGroup(), yield* createUser()]
      const cases = [
        ["users", create(newUser({ locations: [location] })), ["create:users"], "update:locations"],
        ["users", create(newUser({ groups: [group] })), ["create:users"], "update:groups"],
        [
          "users",
          upsert(unique("bulk"), { email: `${unique("e")}@example.com`, groups: [group] }),
          ["create:users", "update:users"],
          "update:groups"
        ],
        ["groups", create({ name: unique("Group"), users: [user] }), ["create:groups"], "update:users"],
        ["groups", update(group, { locations: [location] }), ["update:groups"], "update:locations"],
        [
          "groups",
          upsert(unique("Group"), { locations: [location] }),
          ["create:groups", "update:groups"],
          "update:locations"
        ]
      ] as const
      for (const [resource, operation, held, missing] of cases) {
        assert.deepStrictEqual(
          missingOf(yield* bulk(resource, [operation], { key: yield* keyWith(...held) })),
          [403, [missing]],
          JSON.stringify(operation)
        )
        const answer = yield* bulk(resource, [operation], { key: yield* keyWith(...held, missing) })
        assert.isBelow(answer.body.data[0].status, 300, answer.text)
      }
    })
  )

  it.effect("that sets a role needs update:user-roles, if the service guards roles", () =>
    Effect.gen(function* () {
      const user = yield* createUser()
      const held = ["create:users", "update:users", "delete:users"] as const
      const [key, full] = [yield* keyWith(...held), yield* keyWith(...held, "update:user-roles")]
      const role = "ROLE_MANAGER"
      for (const operation of [
        create(newUser({ role })),
        update(user, { role }),
        upsert(unique("bulk"), { email: `${unique("e")}@example.com`, role })
      ]) {
        const operations = [create(newUser()), operation]
        assert.deepStrictEqual(missingOf(yield* bulk("users", operations, { key })), [403, ["update:user-roles"]])
        const answer = yield* bulk("users", operations, { key: full })
        assert.isBelow(answer.body.data[1].status, 300, answer.text)
      }
      assert.deepStrictEqual(outcomesOf(yield* bulk("users", [create(newUser({ role: "ROLE_USER" }))], { key })), [
        "201"
      ])
    })
  )

  it.effect("on asset categories and meta tags needs the permissions of meta-tags", () =>
    Effect.gen(function* () {
      const key = yield* keyWith("create:meta-tags")
      for (const [resource, data] of [
        ["asset-categories", { key: unique("category") }],
        ["meta-tags", { key: "bulk_tag", type: "text" }]
      ] as const) {
        assert.deepStrictEqual(outcomesOf(yield* bulk(resource, [create(data)], { key })), ["201"])
        assert.deepStrictEqual(missingOf(yield* bulk(resource, [remove(unknownUuid)], { key })), [
          403,
          ["delete:meta-tags"]
        ])
      }
    })
  )
})
