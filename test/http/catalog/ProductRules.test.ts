import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import * as TestServer from "../../support/TestServer.ts"
import {
  activate,
  createProduct,
  createUser,
  createVariant,
  patchProduct,
  putModule,
  readProduct
} from "../../support/requests/ProductRequests.ts"
import { problemsOf, send } from "../../support/requests/Requests.ts"

layer(TestServer.layer(), { excludeTestServices: true })("Rules of modules", (it) => {
  it.effect("publishing reports all problems of the active modules at once", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const uuid = yield* createProduct()
      const user = yield* createUser()
      yield* activate(uuid, "workflow", { steps: [{ name: "a", approvers: { type: "users", uuids: [user] } }] })
      yield* activate(uuid, "template", { outputs: [{ key: "a", format: "pdf", widthMm: 1, heightMm: 1 }] })
      yield* activate(uuid, "delivery", {})
      yield* activate(uuid, "price", { model: "fixed", amountMinor: 1 })
      yield* send("DELETE", `/v1/users/${user}`)
      const spoil = (module: string, change: object) =>
        pooled.unsafe(
          "update product_modules set settings = settings || $3::jsonb where product_uuid = $1 and module = $2",
          [uuid, module, JSON.stringify(change)]
        )
      yield* spoil("template", { outputs: [{ key: "a", format: "png" }] })
      yield* spoil("price", { amountMinor: -1 })
      const rejected = yield* patchProduct(uuid, { status: "published", name: "Never" })
      assert.deepStrictEqual(problemsOf(rejected), [
        400,
        "InvalidRequestError",
        "modules.price invalid",
        "modules.template.outputs.0 missingDimensions",
        "modules.workflow.steps.0.approvers.uuids required"
      ])
      assert.deepInclude(yield* readProduct(uuid), { status: "draft", name: "Flyer" })
      for (const name of ["workflow", "template", "price"])
        yield* send("DELETE", `/v1/products/${uuid}/modules/${name}`)
      assert.strictEqual((yield* patchProduct(uuid, { status: "published" })).status, 200)
    })
  )

  it.effect("a variant is published only if the modules inherited from its parent are valid", () =>
    Effect.gen(function* () {
      const parent = yield* createProduct({ type: "variantParent" })
      const variant = yield* createVariant(parent)
      const user = yield* createUser()
      yield* activate(parent, "workflow", { steps: [{ name: "a", approvers: { type: "users", uuids: [user] } }] })
      yield* send("DELETE", `/v1/users/${user}`)
      assert.strictEqual((yield* patchProduct(variant, { status: "published" })).status, 400)
      yield* activate(variant, "workflow", { steps: [{ name: "a", approvers: { type: "locationManagers" } }] })
      assert.strictEqual((yield* patchProduct(variant, { status: "published" })).status, 200)
    })
  )

  it.effect("an invalid template module is rejected with all its issues, on write and on read", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const uuid = yield* createProduct()
      const outputs = [{ key: "a", format: "pdf", widthMm: 1, heightMm: 1 }]
      const variables = [
        { key: "a", type: "text", source: "location", sourcePath: "contact.fax" },
        { key: "b", type: "choice", source: "fixed" }
      ]
      const bad = { outputs: [], variables }
      const issues = [
        "outputs noOutputs",
        "variables.0.sourcePath unknownSourcePath",
        "variables.1.fixedValue fixedWithoutValue",
        "variables.1.choices noChoices"
      ]
      const error = [400, "InvalidTemplateModuleConfigurationError", ...issues]
      assert.deepStrictEqual(problemsOf(yield* putModule(uuid, "template", bad)), error)
      const good = [
        { ...variables[0], sourcePath: "contact.phone" },
        { ...variables[1], choices: ["x"], fixedValue: "x" }
      ]
      yield* activate(uuid, "template", { outputs, variables: good })
      yield* pooled.unsafe("update product_modules set settings = settings || $2::jsonb where product_uuid = $1", [
        uuid,
        JSON.stringify({
          outputs: [],
          variables: variables.map((one) => ({ ...one, assetCategories: [], choices: [] }))
        })
      ])
      assert.deepStrictEqual(problemsOf(yield* send("GET", `/v1/products/${uuid}/modules/template`)), error)
    })
  )
})
