import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ModuleName } from "../../../src/domain/catalog/ModuleName.ts"
import * as TestServer from "../../support/TestServer.ts"
import {
  activate,
  createProduct,
  createVariant,
  deleteModule,
  getModule,
  minimalSettings,
  patchProduct,
  putModule,
  readModule,
  readProduct
} from "../../support/requests/ProductRequests.ts"
import { expectError, send, unknownUuid } from "../../support/requests/Requests.ts"

const types = ["default", "variantParent", "variant"] as const

/** The table of model.md: whose module applies to a default product, a parent and a variant. */
const ownElseParent = ["own", "own", "either"] as const
const parentOnly = ["own", "own", "parent"] as const
const table = {
  api: ownElseParent,
  delivery: ownElseParent,
  distribution: parentOnly,
  locations: parentOnly,
  files: ownElseParent,
  stock: ["own", "none", "own"],
  price: ownElseParent,
  workflow: ownElseParent,
  socials: parentOnly,
  "internal-comment": parentOnly,
  campaigns: parentOnly,
  permissions: parentOnly,
  reservations: ["own", "none", "own"],
  template: ownElseParent,
  "form-builder": ownElseParent,
  variants: ["none", "own", "none"]
} as const

const cases = Object.entries(table).flatMap(([name, origins]) =>
  types.map((type, index) => ({ name, type, origin: origins[index]! }))
)

layer(TestServer.layer(), { excludeTestServices: true })("Product modules", (it) => {
  const product = Effect.fnUntraced(function* (type: string) {
    const parent = yield* createProduct({ type: "variantParent" })
    if (type === "variantParent") return { uuid: parent, parent }
    return { uuid: type === "variant" ? yield* createVariant(parent) : yield* createProduct(), parent }
  })
  const summaryOf = (uuid: string, name: string) =>
    Effect.map(readProduct(uuid), ({ modules }) =>
      modules.find(({ module }: { readonly module: string }) => module === name)
    )

  it.effect("the table of the test has every module", () =>
    Effect.sync(() => assert.deepStrictEqual(Object.keys(table), [...ModuleName.literals]))
  )

  it.effect.each(cases)(
    "the $name module of a $type follows the table of the model: $origin",
    ({ name, origin, type }) =>
      Effect.gen(function* () {
        const { parent, uuid } = yield* product(type)
        const isPossible = origin !== "none"
        const isOwn = origin === "own" || origin === "either"
        const typesWith = (holds: (origin: string) => boolean) =>
          types.filter((_, index) => holds(table[name as keyof typeof table][index]!))

        const before = yield* getModule(uuid, name)
        assert.strictEqual(before.status, 400)
        if (isPossible)
          assert.deepInclude(before.body, { _tag: "ModuleNotActiveError", module: name, productUuid: uuid })
        else {
          const compatibleTypes = typesWith((other) => other !== "none")
          const error = { _tag: "ModuleIncompatibleWithProductTypeError", module: name, productType: type }
          assert.deepInclude(before.body, { ...error, compatibleTypes })
        }
        const inactive = { module: name, active: false, inherited: false }
        assert.deepStrictEqual(yield* summaryOf(uuid, name), isPossible ? inactive : undefined)

        const put = yield* putModule(uuid, name, minimalSettings[name])
        if (!isOwn) {
          const error = { _tag: "ModuleIncompatibleWithProductTypeError", module: name, productType: type }
          const compatibleTypes = typesWith((other) => other === "own" || other === "either")
          assert.strictEqual(put.status, 400)
          assert.deepInclude(put.body, { ...error, compatibleTypes })
          expectError(yield* deleteModule(uuid, name), 400, "ModuleIncompatibleWithProductTypeError")
        } else {
          assert.deepStrictEqual([put.status, put.body], [200, { _tag: "Success", data: { uuid } }])
          const own = yield* readModule(uuid, name)
          assert.deepInclude(own, { productUuid: uuid, module: name, active: true })
          assert.notProperty(own, "inheritedFrom")
          assert.deepStrictEqual(yield* summaryOf(uuid, name), { ...inactive, active: true })
          assert.deepStrictEqual((yield* deleteModule(uuid, name)).body, { _tag: "Success", data: { uuid } })
          for (const gone of [yield* getModule(uuid, name), yield* deleteModule(uuid, name)]) {
            expectError(gone, 400, "ModuleNotActiveError")
          }
        }

        if (type !== "variant") return
        const inherits = origin === "either" || origin === "parent"
        if (inherits) {
          yield* activate(parent, name, minimalSettings[name])
          assert.deepInclude(yield* readModule(uuid, name), { productUuid: uuid, inheritedFrom: parent, active: true })
          assert.deepStrictEqual(yield* summaryOf(uuid, name), { module: name, active: true, inherited: true })
        }
        if (origin === "either") {
          assert.notProperty(yield* activate(uuid, name, minimalSettings[name]), "inheritedFrom")
          assert.deepStrictEqual(yield* summaryOf(uuid, name), { module: name, active: true, inherited: false })
          yield* deleteModule(uuid, name)
          assert.strictEqual((yield* readModule(uuid, name)).inheritedFrom, parent)
        }
      })
  )

  it.effect("deleting a module that a variant only inherits says that it has none of its own", () =>
    Effect.gen(function* () {
      const parent = yield* createProduct({ type: "variantParent" })
      const variant = yield* createVariant(parent)
      const messageOf = Effect.map(
        deleteModule(variant, "price"),
        (answer) => expectError(answer, 400, "ModuleNotActiveError").message
      )
      assert.strictEqual(yield* messageOf, `The product ${variant} has no active module price`)
      yield* activate(parent, "price", {})
      const inherited = `The product ${variant} has no module price of its own; it inherits that of its parent`
      assert.strictEqual(yield* messageOf, inherited)
      assert.strictEqual((yield* readModule(variant, "price")).inheritedFrom, parent)
    })
  )

  it.effect.each(ModuleName.literals)("a %s module sent back as read changes nothing", (name) =>
    Effect.gen(function* () {
      const uuid = yield* createProduct({ type: name === "variants" ? "variantParent" : "default" })
      const before = yield* activate(uuid, name, minimalSettings[name])
      assert.deepStrictEqual(yield* activate(uuid, name, before), before)
    })
  )

  it.effect.each(ModuleName.literals)(
    "a %s module of an unknown product is a 404, and an unknown member is a 400",
    (name) =>
      Effect.gen(function* () {
        const answers = [
          yield* getModule(unknownUuid, name),
          yield* putModule(unknownUuid, name, minimalSettings[name]),
          yield* deleteModule(unknownUuid, name)
        ]
        for (const response of answers) {
          const body = expectError(response, 404, "ProductNotFoundError")
          assert.strictEqual(body.uuid, unknownUuid)
        }
        const { body, status } = yield* putModule(unknownUuid, name, { ...minimalSettings[name], nonsense: 1 })
        assert.deepStrictEqual([status, body.issues[0].path, body.issues[0].code], [400, "nonsense", "unknownMember"])
      })
  )

  it.effect("an unknown module name is a 404 RouteNotFoundError", () =>
    Effect.gen(function* () {
      const uuid = yield* createProduct()
      for (const answer of [yield* getModule(uuid, "shipping"), yield* putModule(uuid, "internalComment", {})]) {
        expectError(answer, 404, "RouteNotFoundError")
      }
    })
  )

  it.effect("a PUT replaces the module: members left out get their defaults", () =>
    Effect.gen(function* () {
      const uuid = yield* createProduct()
      const first = yield* activate(uuid, "api", { provider: "erp", externalId: "7", timeoutSeconds: 5 })
      assert.deepInclude(first, { provider: "erp", externalId: "7", timeoutSeconds: 5, method: "POST" })
      const second = yield* activate(uuid, "api", { externalId: null, headerNames: null, endpoint: null })
      assert.deepInclude(second, { provider: "custom", timeoutSeconds: 10, headerNames: [], fieldMapping: [] })
      assert.notProperty(second, "externalId")
      assert.isTrue(second.editedAt > first.editedAt)
      const order = "productUuid module active editedAt provider method trigger headerNames fieldMapping timeoutSeconds"
      assert.deepStrictEqual(Object.keys(second), order.split(" "))
    })
  )

  it.effect("a module write with If-Match is rejected with 412 unless the tag matches", () =>
    Effect.gen(function* () {
      const uuid = yield* createProduct()
      const path = `/v1/products/${uuid}/modules/price`
      const put = (tag: string) => send("PUT", path, { body: { taxIncluded: true }, headers: { "if-match": tag } })
      assert.strictEqual((yield* put(`"none"`)).status, 412)
      yield* activate(uuid, "price", {})
      const tag = (yield* getModule(uuid, "price")).headers.get("etag")!
      assert.strictEqual((yield* put(`"other"`)).status, 412)
      assert.strictEqual((yield* put(tag)).status, 200)
      assert.strictEqual((yield* put(tag)).status, 412)
      assert.strictEqual((yield* send("DELETE", path, { headers: { "if-match": tag } })).status, 412)
      assert.strictEqual((yield* send("GET", path, { headers: { "if-none-match": tag } })).status, 200)
    })
  )

  it.effect("a product whose modules are all valid can be published", () =>
    Effect.gen(function* () {
      const uuid = yield* createProduct()
      for (const name of ModuleName.literals)
        if (name !== "variants") yield* activate(uuid, name, minimalSettings[name])
      assert.strictEqual((yield* patchProduct(uuid, { status: "published" })).status, 200)
    })
  )
})
