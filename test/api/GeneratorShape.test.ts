import { assert, describe, it } from "@effect/vitest"
import { bodiesOf, document, everySchema, media, operations, reached, schemas } from "./Derived.ts"
import { isStream } from "../../src/api/openapi/Streams.ts"
import { nameOf } from "../../src/api/openapi/JsonSchema.ts"
import type { JsonSchema } from "./JsonSchema.ts"

describe("what generators make of the OpenAPI document", () => {
  it("a response with one of several errors has their tags as discriminator", () => {
    const unions = media.map(({ body }) => body.schema).filter(({ oneOf }) => oneOf !== undefined)
    assert.isAbove(unions.length, 200)
    for (const { discriminator, oneOf } of unions) {
      const { mapping, propertyName } = discriminator as { mapping: Record<string, string>; propertyName: string }
      assert.strictEqual(propertyName, "_tag")
      assert.deepStrictEqual(
        Object.values(mapping),
        (oneOf as ReadonlyArray<JsonSchema>).map(({ $ref }) => $ref)
      )
      for (const [tag, ref] of Object.entries(mapping)) assert.strictEqual(ref, `#/components/schemas/${tag}Encoded`)
    }
  })

  it("the errors of an outcome of a bulk request have their tags as discriminator", () => {
    const outcomes = Object.entries(schemas).filter(([name]) => name.endsWith("Outcome"))
    assert.lengthOf(outcomes, 8)
    for (const [name, schema] of outcomes) {
      const { error } = schema["properties"] as Record<string, JsonSchema>
      const { mapping } = error!["discriminator"] as { mapping: Record<string, string> }
      assert.includeMembers(Object.keys(mapping), ["InvalidRequestError", "PreconditionFailedError", "NotAppliedError"])
      assert.lengthOf(error!["oneOf"] as ReadonlyArray<JsonSchema>, Object.keys(mapping).length, name)
    }
  })

  it("every member has a type, and no component is a copy of another one", () => {
    const typed = ["type", "$ref", "anyOf", "oneOf", "enum", "const"]
    const untyped = everySchema.filter(({ schema }) => !typed.some((keyword) => keyword in schema))
    assert.deepStrictEqual(untyped, [])
    assert.deepStrictEqual(
      Object.keys(schemas).filter((name) => /_\d+$/.test(name)),
      []
    )
  })

  it("requests are closed and responses are open", () => {
    const requests = new Set(operations.flatMap(({ operation }) => bodiesOf(operation.requestBody)).flatMap(reached))
    const responses = new Set(
      operations.flatMap(({ operation }) => Object.values(operation.responses).flatMap(bodiesOf)).flatMap(reached)
    )
    const isObject = ({ properties }: JsonSchema) => properties !== undefined
    const isClosed = ({ additionalProperties }: JsonSchema) => additionalProperties === false
    assert.deepStrictEqual(
      [...requests].filter(isObject).filter((schema) => !isClosed(schema)),
      []
    )
    assert.deepStrictEqual([...responses].filter(isClosed), [])
    assert.isAbove(responses.size, 200)
  })

  it("no member of a body has a default, which generators would take for a member that is always present", () => {
    assert.deepStrictEqual(
      everySchema.filter(({ schema }) => "default" in schema),
      []
    )
    const { properties } = schemas["PriceModuleUpdate"] as { properties: Record<string, JsonSchema> }
    assert.match(String(properties["currency"]!["description"]), /The default is `EUR`\.$/)
  })

  it("the results of writes and lists are components", () => {
    const schemaOf = (method: string, path: string, status: string) =>
      document.paths[path]![method]!.responses[status]!.content!["application/json"]!.schema
    const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
    assert.deepStrictEqual(schemaOf("patch", "/v1/locations/{uuid}", "200"), ref("UuidAnswer"))
    assert.deepStrictEqual(schemaOf("get", "/v1/groups/{uuid}/locations", "200"), ref("LocationPage"))
    assert.deepStrictEqual(schemaOf("get", "/v1/locations/{uuid}", "200"), ref("LocationAnswer"))
    assert.deepStrictEqual(schemaOf("get", "/v1/assets/meta-tags", "200"), ref("MetaTagDefinitionList"))
    assert.deepStrictEqual(schemaOf("post", "/v1/locations/bulk", "200"), ref("LocationBulkAnswer"))
  })

  it("every response has its headers, and reads and writes have their conditions", () => {
    for (const { method, name, operation } of operations) {
      const headers = operation.parameters.filter((parameter) => parameter.in === "header").map((each) => each.name)
      // Which operations take a precondition is a test of its own.
      const conditional = headers.filter((header) => header === "If-Match")
      const read = isStream(operation) ? ["last-event-id"] : ["If-None-Match", "Waypost-Position"]
      const safe = headers.filter((header) => ["Idempotency-Key", "Prefer"].includes(header))
      assert.deepStrictEqual(headers, method === "get" ? read : [...conditional, ...safe], name)
      for (const [status, response] of Object.entries(operation.responses)) {
        assert.property(response.headers, "X-Request-Id", `${name} ${status}`)
        if (status.startsWith("2") && method === "get" && !isStream(operation))
          assert.property(response.headers, "ETag", name)
        if (status === "401") assert.property(response.headers, "WWW-Authenticate", name)
      }
    }
    const responses = document.paths["/v1/locations"]!["post"]!.responses
    assert.property(responses["201"]!.headers, "Warning")
  })

  it("the search for assets documents no default order, because it depends on the search", () => {
    const { parameters } = document.paths["/v1/assets/search"]!["get"]!
    const { description, schema } = parameters.find(({ name }) => name === "sortBy")!
    assert.notProperty(schema, "default")
    assert.match(description!, /default is `relevance` with `search`/)
  })

  it("members with a form have its pattern or format, and large integers their size", () => {
    const memberOf = (component: string, ...path: ReadonlyArray<string>) =>
      path.reduce<JsonSchema>((schema, name) => {
        const [first = schema] = (schema["anyOf"] ?? []) as ReadonlyArray<JsonSchema>
        const { properties } = first["$ref"] === undefined ? first : schemas[nameOf(first["$ref"])]!
        return (properties as Record<string, JsonSchema>)[name]!
      }, schemas[component]!)
    assert.strictEqual(memberOf("UserCreate", "email")["format"], "email")
    assert.strictEqual(memberOf("AssetCategoryCreate", "key")["pattern"], "^[a-z0-9-]{1,64}$")
    assert.deepInclude(memberOf("UploadInit", "fileSize"), { format: "int64", minimum: 1 })
    assert.deepInclude(memberOf("Pagination", "total"), { format: "int64", minimum: 0 })
  })
})
