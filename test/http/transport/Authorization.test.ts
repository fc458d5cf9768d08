import { assert, layer } from "@effect/vitest"
import { Context, Effect } from "effect"
import { HttpApi } from "effect/http-api"
import { SecureRandom } from "effect/crypto"
import { readFileSync } from "node:fs"
import { Api } from "../../../src/api/Api.ts"
import { AlternativePermissions } from "../../../src/api/Authorization.ts"
import * as Permission from "../../../src/domain/keys/Permission.ts"
import * as TestServer from "../../support/TestServer.ts"
import { send, unknownKey } from "../../support/requests/Requests.ts"

interface Operation {
  readonly "x-required-permissions": ReadonlyArray<Permission.Permission>
}

/** Required permissions come from the committed openapi.json, the list of operations from the definition. */
const document = JSON.parse(readFileSync(new URL("../../../openapi.json", import.meta.url), "utf8")) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
}
const operations = Object.values(document.paths).flatMap((path) => Object.values(path))

interface Endpoint {
  readonly method: string
  readonly template: string
  readonly required: ReadonlyArray<Permission.Permission>
  /** Permissions of which it requires at least one. */
  readonly alternatives: ReadonlyArray<Permission.Permission>
}

const endpoints: ReadonlyArray<Endpoint> = (() => {
  const found: Array<Endpoint> = []
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint: { annotations, method, path } }) => {
      const template = path.replaceAll(/:([A-Za-z]+)/g, "{$1}").replace(/(.)\/$/, "$1")
      const operation = document.paths[template]?.[method.toLowerCase()]
      if (operation === undefined) throw new Error(`${method} ${template} is not in openapi.json`)
      const required = operation["x-required-permissions"]
      const alternatives = Context.getOrElse(annotations, AlternativePermissions, () => [])
      found.push({ method, template, required, alternatives })
      // Every GET is also available as HEAD.
      if (method === "GET") found.push({ method: "HEAD", template, required, alternatives })
    }
  })
  return found
})()

/** Requests an unknown record with an undecodable body; the result must not depend on either. */
const at = ({ method, template }: Pick<Endpoint, "method" | "template">, key: string | null) =>
  send(
    method,
    template.replaceAll(/\{\w+\}/g, () => SecureRandom.uuidV7Unsafe()),
    {
      key,
      ...(method === "GET" || method === "HEAD" ? {} : { raw: "{" })
    }
  )

layer(TestServer.layer(), { excludeTestServices: true })("Authorization", (it) => {
  it.effect("the test covers every operation of openapi.json", () =>
    Effect.sync(() => {
      assert.isAbove(operations.length, 0)
      assert.strictEqual(endpoints.filter(({ method }) => method !== "HEAD").length, operations.length)
    })
  )

  const rejectedKeys = [
    ["no key", null, "missing"],
    ["an unknown key", unknownKey, "unknown"],
    ["something that is no key", "let me in", "malformed"]
  ] as const

  it.effect.each(endpoints)(
    "$method $template is a 401 without a key, with an unknown key and with a malformed key",
    (endpoint) =>
      Effect.gen(function* () {
        for (const [label, key, reason] of rejectedKeys) {
          const { body, headers, status } = yield* at(endpoint, key)
          assert.strictEqual(status, 401, label)
          assert.strictEqual(headers.get("www-authenticate"), "ApiKey", label)
          if (endpoint.method !== "HEAD") assert.deepInclude(body, { _tag: "UnauthorizedError", reason }, label)
        }
      })
  )

  const guarded = endpoints.flatMap(({ alternatives, required, ...endpoint }) =>
    [
      { ...endpoint, required, says: "lacks" },
      { ...endpoint, required: alternatives, says: "has none of" }
    ].filter((needed) => needed.required.length > 0)
  )

  it.effect.each(guarded)("$method $template is a 403 for a key with all permissions but $required", (endpoint) =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const { required, says } = endpoint
      const without = yield* key(Permission.all.filter((permission) => !required.includes(permission)))
      const { body, status } = yield* at(endpoint, without)
      assert.strictEqual(status, 403)
      if (endpoint.method !== "HEAD") {
        assert.deepInclude(body, { _tag: "MissingPermissionsError", required, missing: required })
        assert.include(body.message, `This API key ${says} ${required.join(", ")}`)
      }
    })
  )

  const sufficient = endpoints.flatMap(({ alternatives, required, ...endpoint }) =>
    alternatives.length === 0
      ? [{ ...endpoint, required }]
      : alternatives.map((permission) => ({
          ...endpoint,
          // The query of an audience decides which of them it is.
          template: endpoint.template.replace(/\/audience$/, `$&?of=${permission.replace("read:", "")}`),
          required: [...required, permission]
        }))
  )

  it.effect.each(sufficient)("$method $template is authorized for a key with only $required", (endpoint) =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const required = endpoint.required.length > 0 ? endpoint.required : (["create:jobs"] as const)
      const { status } = yield* at(endpoint, yield* key(required))
      assert.include([200, 400, 404], status)
    })
  )
})
