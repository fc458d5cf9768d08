import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { expectError, send, unique } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"

const post = (key: string, fields: object = {}) => {
  const username = unique("user")
  return send("POST", "/v1/users", { key, body: { username, email: `${username}@example.com`, ...fields } })
}

const plain = ["create:users", "update:users"] as const

layer(TestServer.layer({ GUARD_USER_ROLES: "true" }), { excludeTestServices: true })("guarded roles", (it) => {
  it.effect("a key without update:user-roles cannot set or change a role, and can do everything else", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const limited = yield* key(plain)
      const created = yield* post(limited, { role: "ROLE_USER" })
      assert.strictEqual(created.status, 201)
      const path = `/v1/users/${created.body.data.uuid}`
      const rejected = [
        yield* post(limited, { role: "ROLE_MANAGER" }),
        yield* post(limited, { role: "ROLE_SUPER_ADMIN" }),
        yield* send("PATCH", path, { key: limited, body: { firstName: "A", role: "ROLE_ADMIN" } }),
        yield* send("PATCH", path, { key: limited, body: { role: "ROLE_USER" } })
      ]
      for (const answer of rejected) {
        const { missing } = expectError(answer, 403, "MissingPermissionsError")
        assert.deepStrictEqual(missing, ["update:user-roles"])
      }
      assert.strictEqual((yield* send("PATCH", path, { key: limited, body: { firstName: "B" } })).status, 200)
      expectError(yield* send("PATCH", path, { key: limited, body: { role: "ROLE_KING" } }), 400, "InvalidRequestError")
    })
  )

  it.effect("a key with update:user-roles sets and changes roles", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const trusted = yield* key([...plain, "update:user-roles", "read:users"])
      const created = yield* post(trusted, { role: "ROLE_ADMIN" })
      const path = `/v1/users/${created.body.data.uuid}`
      assert.strictEqual((yield* send("PATCH", path, { key: trusted, body: { role: "ROLE_MANAGER" } })).status, 200)
      assert.strictEqual((yield* send("GET", path, { key: trusted })).body.data.role, "ROLE_MANAGER")
    })
  )
})

layer(TestServer.layer(), { excludeTestServices: true })("roles without the guard", (it) => {
  it.effect("a key sets roles without update:user-roles", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const limited = yield* key(plain)
      const created = yield* post(limited, { role: "ROLE_SUPER_ADMIN" })
      const path = `/v1/users/${created.body.data.uuid}`
      assert.strictEqual((yield* send("PATCH", path, { key: limited, body: { role: "ROLE_USER" } })).status, 200)
    })
  )
})
