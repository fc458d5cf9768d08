import { assert, describe, it } from "@effect/vitest"
import { Context } from "effect"
import { HttpApi } from "effect/http-api"
import { readFileSync } from "node:fs"
import { Api } from "../../src/api/Api.ts"
import { AlternativePermissions, Authorization, RequiredPermissions } from "../../src/api/Authorization.ts"
import * as Permission from "../../src/domain/keys/Permission.ts"

interface Operation {
  readonly operationId: string
  readonly description: string
  readonly "x-required-permissions": ReadonlyArray<Permission.Permission>
}

const document = JSON.parse(readFileSync(new URL("../../openapi.json", import.meta.url), "utf8")) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}
const operations = Object.values(document.paths).flatMap((path) => Object.values(path))

interface Endpoint {
  readonly name: string
  readonly declared: ReadonlyArray<Permission.Permission> | undefined
  /** Of which it requires at least one. */
  readonly alternatives: ReadonlyArray<Permission.Permission> | undefined
  readonly guarded: boolean
}

const endpoints: ReadonlyArray<Endpoint> = (() => {
  const found: Array<Endpoint> = []
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, group, middleware }) =>
      void found.push({
        name: `${group.identifier}.${endpoint.identifier}`,
        declared: Context.getOrUndefined(endpoint.annotations, RequiredPermissions),
        alternatives: Context.getOrUndefined(endpoint.annotations, AlternativePermissions),
        guarded: [...middleware].some((service) => (service as unknown) === Authorization)
      })
  })
  return found
})()

describe("Permissions", () => {
  it("the test covers every operation of openapi.json", () => {
    assert.isAbove(operations.length, 0)
    assert.strictEqual(endpoints.length, operations.length)
  })

  it("every endpoint declares its permissions", () => {
    assert.deepStrictEqual(
      endpoints.filter(({ declared }) => declared === undefined).map(({ name }) => name),
      []
    )
  })

  it("no endpoint lists a permission twice", () => {
    for (const { alternatives = [], declared = [], name } of endpoints) {
      for (const permissions of [declared, alternatives])
        assert.lengthOf(new Set(permissions), permissions.length, name)
    }
  })

  it("every endpoint is behind the authorization middleware", () => {
    assert.deepStrictEqual(
      endpoints.filter(({ guarded }) => !guarded).map(({ name }) => name),
      []
    )
  })

  it("only GET /v1/me requires no permission", () => {
    const open = endpoints.filter(({ alternatives, declared }) => declared?.length === 0 && alternatives === undefined)
    assert.deepStrictEqual(
      open.map(({ name }) => name),
      ["apiKeys.me"]
    )
  })

  it("the description of an operation names the permissions that depend on the request", () => {
    for (const { alternatives = [], name } of endpoints) {
      const { description } = operations.find(({ operationId }) => operationId === name)!
      for (const permission of alternatives) assert.include(description, `\`${permission}\``, name)
    }
  })

  it("a bulk operation requires one of create, update and delete of its resource", () => {
    const bulk = endpoints.filter(({ name }) => name.endsWith(".bulk"))
    assert.sameMembers(
      bulk.map(({ name }) => name),
      ["users", "locations", "groups", "products", "posts", "assets", "metaTags", "assetCategories"].map(
        (group) => `${group}.bulk`
      )
    )
    for (const { alternatives = [], declared, name } of bulk) {
      const entity = name === "assetCategories.bulk" ? "meta-tags" : name.replace(".bulk", "").replace("T", "-t")
      assert.deepStrictEqual(declared, [])
      assert.deepStrictEqual(
        [...alternatives],
        ["create", "update", "delete"].map((verb) => `${verb}:${entity}`)
      )
    }
  })

  it("an operation on plans requires one of the permissions of the resources that have plans", () => {
    const plans = endpoints.filter(({ name }) => name.startsWith("plans."))
    assert.lengthOf(plans, 5)
    for (const { alternatives, name } of plans) {
      const verb = ["plans.get", "plans.changes"].includes(name) ? "read" : "create"
      assert.deepStrictEqual(
        [...(alternatives ?? [])],
        ["locations", "users", "groups", "products", "posts"].map((resource) => `${verb}:${resource}`)
      )
    }
  })

  it("openapi.json documents the permissions that the middleware enforces", () => {
    const documented = Object.fromEntries(
      operations.map((operation) => [operation.operationId, operation["x-required-permissions"]])
    )
    assert.deepStrictEqual(documented, Object.fromEntries(endpoints.map(({ declared, name }) => [name, declared])))
  })

  it("the permissions are those of the contract", () => {
    const all = [
      ...["users", "locations", "groups", "products", "posts", "meta-tags", "webhooks"].flatMap((entity) =>
        ["read", "create", "update", "delete"].map((action) => `${action}:${entity}`)
      ),
      ...["read", "create", "update", "delete"].map((action) => `${action}:assets`),
      "create:uploads",
      ...["read", "create", "delete"].map((action) => `${action}:api-keys`),
      "read:events",
      "delete:events",
      "update:user-roles",
      "read:audit",
      "read:jobs",
      "create:jobs"
    ]
    assert.sameMembers([...Permission.all], all)
    assert.strictEqual(new Set(Permission.all).size, all.length)
  })
})
