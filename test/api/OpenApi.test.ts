import { assert, describe, it } from "@effect/vitest"
import * as Permission from "../../src/domain/keys/Permission.ts"
import { committed, derived, document, media, operations, schemas, statusesOf } from "./Derived.ts"
import { type JsonSchema, problemsOf } from "./JsonSchema.ts"

describe("OpenAPI document", () => {
  it("the generated document equals the committed openapi.json", () => {
    assert.deepStrictEqual(derived, committed)
    assert.match(document.openapi, /^3\.1\./)
  })

  it("the operations on locations have exactly the statuses of the interface specification", () => {
    assert.sameMembers(statusesOf("patch", "/v1/locations/{uuid}"), ["200", "400", "401", "403", "404", "500"])
    assert.sameMembers(statusesOf("get", "/v1/locations"), ["200", "400", "401", "403", "500"])
    assert.sameMembers(statusesOf("post", "/v1/locations"), ["201", "400", "401", "403", "500"])
    assert.sameMembers(statusesOf("delete", "/v1/locations/{uuid}"), ["200", "400", "401", "403", "404", "500"])
  })

  it("a read of a location has one status more, for a time before its history", () => {
    const statuses = statusesOf("get", "/v1/locations/{uuid}")
    assert.sameMembers(statuses, ["200", "400", "401", "403", "404", "410", "500"])
  })

  it("every operation declares 401 and 500, and 403 if it requires a permission", () => {
    for (const { name, operation } of operations) {
      const statuses = Object.keys(operation.responses)
      assert.includeMembers(statuses, ["401", "500"], name)
      assert.strictEqual(statuses.includes("403"), name !== "get /v1/me", name)
    }
  })

  it("the document has the operations on locations and keys of the contract", () => {
    assert.includeMembers(
      operations.map(({ name }) => name),
      [
        ["get /v1/locations", "post /v1/locations"],
        ["get", "patch", "delete"].map((method) => `${method} /v1/locations/{uuid}`),
        ["get /v1/api-keys", "post /v1/api-keys", "get /v1/me", "post /v1/api-keys/{uuid}/rotate"],
        ["get", "delete"].map((method) => `${method} /v1/api-keys/{uuid}`)
      ].flat()
    )
  })

  it("the errors have the names of the interface specification", () => {
    const errors = [
      ["MissingPermissionsError", "UnauthorizedError", "InternalServerError", "LocationNotFoundError"],
      ["InvalidLocaleError", "DuplicateIdentifierError", "InvalidRequestError", "InvalidFilterError"],
      ["PayloadTooLargeError", "UnsupportedMediaTypeError", "RouteNotFoundError", "UriTooLongError"],
      ["MethodNotAllowedError", "RateLimitExceededError", "PreconditionFailedError", "ServiceUnavailableError"]
    ].flat()
    assert.includeMembers(Object.keys(schemas), [
      ...errors.map((error) => `${error}Encoded`),
      "Location",
      "PartialLocation"
    ])
    for (const error of errors) {
      const { properties } = schemas[`${error}Encoded`] as { properties: Record<string, JsonSchema> }
      assert.deepStrictEqual(properties["_tag"]!["enum"], [error])
      assert.deepStrictEqual(properties["message"]!["type"], "string")
    }
    assert.deepStrictEqual(
      Object.keys(schemas).filter((name) => name.includes("Error") && !name.endsWith("Encoded")),
      []
    )
  })

  it("every error has the id of its request", () => {
    const errors = Object.entries(schemas).filter(([name]) => name.endsWith("ErrorEncoded"))
    assert.isAbove(errors.length, 30)
    for (const [name, { required }] of errors) assert.include(required as Array<string>, "requestId", name)
  })

  it("the document has one response for each error that any operation can answer with, which every operation has as its default", () => {
    const { responses } = document.components
    const expected =
      "RouteNotFound MethodNotAllowed RequestTimeout PreconditionFailed PayloadTooLarge UriTooLong UnsupportedMediaType RateLimitExceeded HeadersTooLarge IdempotencyKeyReused IdempotencyInProgress ServiceUnavailable"
    const names = expected.split(" ").map((name) => `${name}Error`)
    for (const name of names) {
      const { content, description } = responses[name]!
      const { example, schema } = content!["application/json"]!
      assert.deepStrictEqual(schema, { $ref: `#/components/schemas/${name}Encoded` })
      assert.deepStrictEqual(problemsOf(example, schema, schemas), [])
      assert.isAbove(description.length, 10, name)
    }
    for (const { name, operation } of operations) {
      const { default: any, ...listed } = operation.responses
      assert.deepStrictEqual(any, responses["TransportError"], name)
      // Where an operation has 409 for other errors, that of a repeated request is among them. The outcomes of a bulk
      // request name the errors of its operations.
      const { 200: success, 409: conflict, ...failures } = listed
      const others = name.endsWith("/bulk") ? failures : { ...failures, success }
      for (const error of names) assert.notInclude(JSON.stringify(others), error)
      if (conflict !== undefined) {
        assert.match(JSON.stringify(conflict), /(?:NotUnique|PlanOutdated)Error.*IdempotencyInProgressError/, name)
        assert.property(conflict.headers, "Retry-After", name)
      }
    }
    const { oneOf } = responses["TransportError"]!.content!["application/json"]!.schema
    assert.deepStrictEqual(
      oneOf,
      names.map((name) => ({ $ref: `#/components/schemas/${name}Encoded` }))
    )
  })

  it("the location update accepts a PartialLocation without required members", () => {
    const { requestBody } = document.paths["/v1/locations/{uuid}"]!["patch"]!
    assert.strictEqual(requestBody!.required, true)
    assert.deepStrictEqual(requestBody!.content!["application/json"]!.schema, {
      $ref: "#/components/schemas/PartialLocation"
    })
    assert.deepStrictEqual((schemas["PartialLocation"]!["required"] as Array<string> | undefined) ?? [], [])
    assert.includeMembers(
      Object.keys(schemas["PartialLocation"]!["properties"] as object),
      "name identifier postalCodes address legal invoice contact coordinates locale other createdAt editedAt".split(" ")
    )
  })

  it("every operation has a summary, a description and its required permissions", () => {
    for (const { name, operation } of operations) {
      assert.isAbove(operation.summary?.length ?? 0, 0, name)
      assert.isAbove(operation.description?.length ?? 0, 0, name)
      const permissions = operation["x-required-permissions"]
      assert.isArray(permissions, name)
      for (const permission of permissions as Array<Permission.Permission>) assert.include(Permission.all, permission)
      const isFree = /^get \/v1\/(me|access|translations\/coverage)$|\/bulk$| \/v1\/plans/.test(name)
      assert.strictEqual((permissions as Array<unknown>).length === 0, isFree, name)
    }
    const ids = operations.map(({ operation }) => operation.operationId)
    assert.strictEqual(new Set(ids).size, ids.length)
  })

  it("the permissions that an operation requires or describes are named, and others stay valid", () => {
    const { anyOf } = schemas["Permission"] as { anyOf: ReadonlyArray<{ type: string; enum?: ReadonlyArray<string> }> }
    assert.deepStrictEqual(anyOf[1], { type: "string" })
    const named = anyOf[0]!.enum ?? []
    assert.sameMembers(
      [...named],
      Permission.all.filter((name) => JSON.stringify(document.paths).match(`["\`]${name}["\`]`) !== null)
    )
    assert.includeMembers([...named], ["read:users", "update:user-roles", "create:api-keys"])
    assert.notIncludeMembers([...named], ["read:audit", "read:jobs", "create:jobs"])
  })

  it("every parameter has a description and its actual type", () => {
    const needed = new Set([
      "post /v1/plans resource",
      "get /v1/translations/coverage locales",
      "get /v1/locations/resolve postalCode",
      "get /v1/locations/territories kind"
    ])
    const parameters = operations.flatMap(({ name: of, operation }) =>
      operation.parameters.map((parameter) => ({ ...parameter, of }))
    )
    assert.isAbove(parameters.length, 0)
    for (const { of, description, in: place, name, required, schema } of parameters) {
      assert.isAbove(description?.length ?? 0, 0, name)
      if (name === "category") assert.lengthOf(schema["anyOf"] as Array<unknown>, 2)
      else assert.include(["string", "integer", "number", "boolean"], schema["type"], name)
      assert.strictEqual(required, place === "path" || needed.has(`${of} ${name}`), name)
      if (name === "uuid") assert.strictEqual(schema["format"], "uuid")
    }
    for (const { name, operation, path } of operations) {
      const templated = [...path.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter!)
      const declared = operation.parameters.filter((parameter) => parameter.in === "path").map((p) => p.name)
      assert.sameMembers(declared, templated, name)
    }
  })

  it("every write of a record documents If-Match, also a POST, and no other operation does", () => {
    const takesPrecondition = operations.filter(({ operation }) =>
      operation.parameters.some(({ in: place, name }) => place === "header" && name === "If-Match")
    )
    assert.sameMembers(
      takesPrecondition.map(({ name }) => name),
      operations.filter(({ method, path }) => method !== "get" && path.includes("{uuid}")).map(({ name }) => name)
    )
  })

  it("limit, page and sort order of a list have their bounds and defaults", () => {
    for (const path of ["/v1/locations", "/v1/api-keys"]) {
      const { parameters } = document.paths[path]!["get"]!
      const schemaOf = (name: string) => parameters.find((parameter) => parameter.name === name)!.schema
      assert.deepInclude(schemaOf("limit"), { type: "integer", minimum: 1, maximum: 500, default: 25 })
      assert.deepInclude(schemaOf("page"), { type: "integer", minimum: 1, default: 1 })
      assert.deepInclude(schemaOf("sortOrder"), { enum: ["asc", "desc"], default: "desc" })
      assert.deepInclude(schemaOf("sortBy"), { default: "createdAt" })
      assert.strictEqual(schemaOf("filter")["type"], "string")
    }
  })

  it.each(media)("the example of $at matches its schema", ({ at, body, type }) => {
    const others: Readonly<Record<string, ReadonlyArray<string>>> = {
      "get /v1/events/stream 200": ["text/event-stream"],
      "post /v1/plans request": ["application/x-ndjson", "text/csv"]
    }
    assert.include(["application/json", ...(others[at] ?? [])], type)
    assert.isDefined(body.example)
    assert.deepStrictEqual(problemsOf(body.example, body.schema, schemas), [])
  })

  it("no two paths of a record differ only by case", () => {
    const pathsOf = (schema: JsonSchema, prefix = ""): ReadonlyArray<string> => {
      const ref = schema["$ref"] as string | undefined
      if (ref !== undefined) return pathsOf(schemas[ref.slice(ref.lastIndexOf("/") + 1)]!, prefix)
      const members = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>)
      return members.flatMap(([name, member]) => [prefix + name, ...pathsOf(member, `${prefix}${name}.`)])
    }
    for (const record of ["Location", "ApiKey"]) {
      const paths = pathsOf(schemas[record]!)
      assert.isAbove(paths.length, 9)
      assert.strictEqual(new Set(paths.map((path) => path.toLowerCase())).size, paths.length, record)
    }
  })

  it("every component has a definition and is used", () => {
    const text = JSON.stringify({ paths: document.paths, schemas })
    for (const [name, schema] of Object.entries(schemas)) {
      assert.notDeepEqual(Object.keys(schema), ["$ref"], name)
      const shared = name.endsWith("ErrorEncoded")
      assert.isTrue(shared || text.includes(`"#/components/schemas/${name}"`), name)
    }
    for (const [, target] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) assert.property(schemas, target!)
  })
})
