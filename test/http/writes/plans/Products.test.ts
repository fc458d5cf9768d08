import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { apply, changesOf, type Fields, plan, zero } from "../../../support/requests/PlanRequests.ts"
import { createProduct, createVariant, patchProduct } from "../../../support/requests/ProductRequests.ts"
import { expectError, send, unique } from "../../../support/requests/Requests.ts"
import * as TestServer from "../../../support/TestServer.ts"

layer(TestServer.layer(), { excludeTestServices: true })("plans of products and posts", (it) => {
  it.effect("products and posts are planned by identifier and slug", () =>
    Effect.gen(function* () {
      const identifier = unique("product")
      const product = { type: "default", identifier, name: "Flyer" }
      const products = yield* plan("resource=products", [product])
      yield* apply(products.body.data.uuid)
      assert.deepStrictEqual((yield* plan("resource=products", [product])).body.data.counts, { ...zero, unchanged: 1 })
      const post = { slug: unique("post"), type: "news", translations: [{ locale: "nl-NL", title: "Nieuws" }] }
      const posts = yield* plan("resource=posts", [post, { type: "news", translations: post.translations }])
      assert.deepStrictEqual(posts.body.data.counts, { ...zero, create: 1, refused: 1 })
      yield* apply(posts.body.data.uuid, { force: true })
      assert.deepStrictEqual((yield* plan("resource=posts", [post])).body.data.counts, { ...zero, unchanged: 1 })
    })
  )

  it.effect("a full plan of products deletes variants before their parents, whichever is older", () =>
    Effect.gen(function* () {
      const prefix = unique("family")
      const query = `resource=products&mode=full&maxDeletes=100&filter=identifier:startsWith:${prefix}`
      const id = (name: string) => `${prefix}-${name}`
      const first = yield* createProduct({ type: "variantParent", identifier: id("first") })
      const variant = yield* createVariant(first, { identifier: id("variant") })
      const second = yield* createProduct({ type: "variantParent", identifier: id("second") })
      assert.strictEqual((yield* patchProduct(variant, { parentUuid: second })).status, 200)
      const { body } = yield* plan(query, [])
      assert.deepStrictEqual(body.data.counts, { ...zero, delete: 3 })
      const changes = yield* changesOf(body.data.uuid)
      assert.deepStrictEqual(
        changes.map(({ key }: { readonly key: string }) => key),
        [id("variant"), id("second"), id("first")]
      )
      assert.strictEqual((yield* apply(body.data.uuid, { force: true })).status, 200)
      assert.deepStrictEqual((yield* plan(query, [])).body.data.counts, zero)
    })
  )

  it.effect("a full plan of products refuses to delete a parent whose variants remain", () =>
    Effect.gen(function* () {
      const prefix = unique("family")
      const query = `resource=products&mode=full&maxDeletes=100&filter=identifier:startsWith:${prefix}`
      const id = (name: string) => `${prefix}-${name}`
      const parent = (name: string) => createProduct({ type: "variantParent", identifier: id(name) })
      const parents = yield* Effect.forEach(["kept", "refused", "left", "target", "new"], parent)
      const [kept, refused, left, target, fresh] = parents
      const options = (value: string) => [{ option: "size", value }]
      const variant = (name: string, parentUuid: string) =>
        createVariant(parentUuid, { identifier: id(name), name: "Flyer", optionValues: options(name) })
      yield* variant("kept-1", kept!)
      yield* variant("kept-2", kept!)
      yield* variant("kept-3", kept!)
      yield* variant("refused-1", refused!)
      yield* variant("left-1", left!)
      yield* variant("left-2", left!)
      const row = (name: string, parentUuid: string | undefined) => ({
        type: "variant",
        identifier: id(name),
        name: "Flyer",
        optionValues: options(name),
        parentUuid
      })
      const rows = [
        row("kept-1", kept),
        { ...row("kept-2", undefined), name: "Poster" },
        { identifier: id("refused-1"), name: "" },
        row("left-1", target?.toUpperCase()),
        row("new-1", fresh)
      ]
      const { body } = yield* plan(query, rows)
      assert.deepStrictEqual(body.data.counts, { create: 1, update: 2, unchanged: 1, delete: 3, refused: 5 })
      assert.deepStrictEqual(body.data.guards[0], {
        code: "refusedRows",
        message: "1 row cannot be written; 4 records cannot be deleted"
      })
      const issues = (yield* changesOf(body.data.uuid, "&kind=refused")).flatMap(
        ({
          issues,
          key,
          row
        }: {
          readonly issues: ReadonlyArray<Fields>
          readonly key: string
          readonly row?: number
        }) => (row === undefined ? [[key, issues]] : [])
      )
      const issue = (message: string) => [{ in: "path", path: "uuid", code: "hasVariants", message }]
      const one = issue("The product has 1 variant; delete them first")
      assert.deepStrictEqual(issues, [
        [id("new"), one],
        [id("target"), one],
        [id("refused"), one],
        [id("kept"), issue("The product has 2 variants; delete them first")]
      ])
      const applied = yield* apply(body.data.uuid, { force: true })
      assert.strictEqual(applied.status, 200, applied.text)
      const products = yield* send("GET", `/v1/products?filter=identifier:startsWith:${prefix}&limit=100`)
      assert.sameMembers(
        products.body.data.map(({ identifier }: Fields) => identifier),
        ["kept", "refused", "target", "new", "kept-1", "kept-2", "refused-1", "left-1", "new-1"].map(id)
      )
      // The parent alone is found by the filter; its variants remain.
      const alone = yield* plan(`${query},type:equals:variantParent`, [])
      assert.deepStrictEqual(alone.body.data.counts, { ...zero, refused: 4 })
      assert.deepStrictEqual(
        alone.body.data.guards.map(({ code }: Fields) => code),
        ["emptyFile", "refusedRows"]
      )
      assert.strictEqual((yield* apply(alone.body.data.uuid, { force: true })).status, 200)
    })
  )

  it.effect("a full plan of products reads a parentUuid with white space around it", () =>
    Effect.gen(function* () {
      const prefix = unique("family")
      const query = `resource=products&mode=full&maxDeletes=100&filter=identifier:startsWith:${prefix}`
      const id = (name: string) => `${prefix}-${name}`
      const parent = yield* createProduct({ type: "variantParent", identifier: id("parent") })
      const other = yield* createProduct({ type: "variantParent", identifier: id("other") })
      const variant = {
        type: "variant",
        identifier: id("variant"),
        name: "Flyer",
        optionValues: [{ option: "size", value: "a4" }],
        parentUuid: `\u00a0 ${parent}\n`
      }
      const { body } = yield* plan(query, [variant])
      assert.deepStrictEqual(body.data.counts, { ...zero, create: 1, delete: 1, refused: 1 })
      assert.strictEqual((yield* apply(body.data.uuid, { force: true })).status, 200)
      assert.strictEqual((yield* send("GET", `/v1/products/${parent}`)).status, 200)
      expectError(yield* send("GET", `/v1/products/${other}`), 404, "ProductNotFoundError")
    })
  )
})
