import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ModuleName } from "../../../src/domain/catalog/ModuleName.ts"
import { moduleOf } from "../../../src/domain/catalog/ProductModule.ts"
import { pathOf, type ReferencePath, referencePathsOf } from "../../../src/domain/write/ReferencePaths.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { createAsset, createCategory, createMetaTag } from "../../support/requests/AssetRequests.ts"
import { createPost, patchPost, translation } from "../../support/requests/PostRequests.ts"
import {
  activate,
  createGroup,
  createLocation,
  createProduct,
  createUser,
  createVariant
} from "../../support/requests/ProductRequests.ts"
import { expectError, send, unique, unknownUuid } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"

const usages = Effect.fnUntraced(function* (resource: string, uuid: string, query = "", key?: string) {
  const path = `/v1/${resource}/${uuid}/usages${query}`
  const { body, status, text } = yield* send("GET", path, key === undefined ? {} : { key })
  assert.strictEqual(status, 200, text)
  return body
})

/** The usages as `type path uuid`, sorted. */
const listed = (resource: string, uuid: string) =>
  Effect.map(usages(resource, uuid, "?limit=500"), ({ data }) =>
    data
      .map((usage: Readonly<Record<string, string>>) => `${usage["type"]} ${usage["path"]} ${usage["uuid"]}`)
      .toSorted()
  )

layer(TestServer.layer(), { excludeTestServices: true })("Usages", (it) => {
  it.effect("a user is used by its memberships, posts, and the modules of products that name it", () =>
    Effect.gen(function* () {
      const user = yield* createUser()
      const location = yield* createLocation()
      const group = yield* createGroup({ users: [user] })
      yield* send("PUT", `/v1/locations/${location}/users`, { body: { users: [user] } })
      const post = yield* createPost({ author: { uuid: user } })
      const product = yield* createProduct()
      yield* activate(product, "workflow", {
        name: "Approval",
        steps: [{ name: "Marketing", approvers: { type: "users", uuids: [user] }, escalateTo: user }]
      })
      assert.deepStrictEqual(yield* listed("users", user), [
        `group users ${group}`,
        `location users ${location}`,
        `post author ${post}`,
        `product modules.workflow.steps.approvers.uuids ${product}`,
        `product modules.workflow.steps.escalateTo ${product}`
      ])
    })
  )

  it.effect("a location is used by its members, the audience of posts and modules; the scope of a price decides", () =>
    Effect.gen(function* () {
      const location = yield* createLocation()
      const group = yield* createGroup({ locations: [location] })
      const user = yield* createUser({ locations: [location] })
      const post = yield* createPost({
        audience: { authorizationType: "locations", locations: [{ uuid: location }] }
      })
      const product = yield* createProduct()
      yield* activate(product, "permissions", { locations: [{ uuid: location, actions: ["view"] }] })
      yield* activate(product, "locations", { mode: "include", locations: [{ uuid: location }] })
      yield* activate(product, "price", {
        model: "fixed",
        amountMinor: 100,
        overrides: [{ scope: "location", uuid: location, amountMinor: 90 }]
      })
      assert.deepStrictEqual(yield* listed("locations", location), [
        `group locations ${group}`,
        `post audience.locations ${post}`,
        `product modules.locations.locations ${product}`,
        `product modules.permissions.locations ${product}`,
        `product modules.price.overrides ${product}`,
        `user locations ${user}`
      ])
    })
  )

  it.effect("an asset is used by the media of locations, by posts and by files of products, each once for a path", () =>
    Effect.gen(function* () {
      const assetUuid = yield* createAsset()
      const location = yield* createLocation()
      yield* send("PUT", `/v1/locations/${location}/media`, {
        body: {
          logo: { assetUuid },
          items: [
            { assetUuid, role: "team" },
            { assetUuid, role: "menu" }
          ]
        }
      })
      const post = yield* createPost({ coverAssetUuid: assetUuid, mediaAssetUuids: [assetUuid] })
      const product = yield* createProduct()
      yield* activate(product, "files", { files: [{ assetUuid, role: "preview" }] })
      assert.deepStrictEqual(yield* listed("assets", assetUuid), [
        `location media.items.assetUuid ${location}`,
        `location media.logo.assetUuid ${location}`,
        `post coverAssetUuid ${post}`,
        `post mediaAssetUuids ${post}`,
        `product modules.files.files.assetUuid ${product}`
      ])
    })
  )

  it.effect("a category is used by assets, meta tags, its children, and templates that name its key", () =>
    Effect.gen(function* () {
      const key = unique("category")
      const category = yield* createCategory({ key })
      const child = yield* createCategory({ key: unique("category"), parentUuid: category })
      const asset = yield* createAsset({ categories: [key] })
      const tag = yield* createMetaTag({ key: "season", type: "text", categories: [key] })
      const product = yield* createProduct()
      yield* activate(product, "template", {
        outputs: [{ key: "print", format: "pdf", widthMm: 148, heightMm: 210 }],
        variables: [{ key: "picture", type: "image", assetCategories: [key] }]
      })
      assert.deepStrictEqual(yield* listed("asset-categories", category), [
        `asset categories ${asset}`,
        `assetCategory parentUuid ${child}`,
        `metaTag categories ${tag}`,
        `product modules.template.variables.assetCategories ${product}`
      ])
      yield* send("PATCH", `/v1/assets/${asset}/meta-tags`, {
        body: { metaTags: [{ key: "season", value: "spring" }] }
      })
      assert.deepStrictEqual(yield* listed("meta-tags", tag), [`asset metaTags ${asset}`])
    })
  )

  it.effect("a product is used by its variants, and by the module that names one of them", () =>
    Effect.gen(function* () {
      const parent = yield* createProduct({ type: "variantParent" })
      const variant = yield* createVariant(parent, { optionValues: [{ option: "size", value: "a1" }] })
      yield* activate(parent, "variants", {
        options: [{ key: "size", values: [{ key: "a1" }] }],
        defaultVariantUuid: variant
      })
      assert.deepStrictEqual(yield* listed("products", parent), [`product parentUuid ${variant}`])
      assert.deepStrictEqual(yield* listed("products", variant), [
        `product modules.variants.defaultVariantUuid ${parent}`
      ])
    })
  )

  it.effect("every reference that a module declares is found, also one that is declared later", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const key = unique("category")
      const named: Readonly<Record<string, readonly [resource: string, uuid: string, name?: string]>> = {
        users: ["users", yield* createUser()],
        locations: ["locations", yield* createLocation()],
        groups: ["groups", yield* createGroup()],
        assets: ["assets", yield* createAsset()],
        products: ["products", yield* createProduct()],
        categories: ["asset-categories", yield* createCategory({ key }), key]
      }
      const settingsOf = ({ steps, where }: ReferencePath, name: string) =>
        steps.toReversed().reduce<unknown>((inner, step, depth) => {
          const selected = depth === 0 && where !== undefined ? { [where.member]: where.value } : {}
          return { ...selected, [step.name]: step.isList ? ["other", inner] : inner }
        }, name)
      const declared = ModuleName.literals.flatMap((module) =>
        referencePathsOf(moduleOf(module))
          .filter(({ kind }) => kind !== "locales" && kind !== "files")
          .map((reference) => ({ module, reference }))
      )
      assert.isAtLeast(declared.length, 15)
      for (const { module, reference } of declared) {
        const [resource, uuid, name = uuid] = named[reference.kind]!
        const product = yield* createProduct()
        const settings = JSON.stringify(settingsOf(reference, name))
        yield* pooled`insert into product_modules (product_uuid, module, settings)
          values (${product}::uuid, ${module}::text, ${settings}::jsonb)`
        const expected = `product modules.${module}.${pathOf(reference)} ${product}`
        assert.include(yield* listed(resource, uuid), expected)
        yield* send("DELETE", `/v1/products/${product}`)
        assert.notInclude(yield* listed(resource, uuid), expected)
      }
    })
  )

  it.effect("the usages of a record that refers with several elements of one list are one", () =>
    Effect.gen(function* () {
      const user = yield* createUser()
      const product = yield* createProduct()
      const step = { name: "Marketing", approvers: { type: "users", uuids: [user] } }
      yield* activate(product, "workflow", { name: "Twice", steps: [step, { ...step, name: "Legal" }] })
      const { counts, data } = yield* usages("users", user)
      assert.deepStrictEqual([data.length, counts], [1, { product: 1 }])
    })
  )

  it.effect("usages have the labels of their records, and are paged by type and uuid", () =>
    Effect.gen(function* () {
      const group = yield* createGroup()
      const usernames = [unique("member"), unique("member"), unique("member")]
      for (const username of usernames)
        yield* createUser({ username, email: `${username}@example.com`, groups: [group] })
      const post = yield* createPost({
        translations: [translation({ title: "Spring" })],
        audience: { groups: [{ uuid: group }] }
      })
      const pages = yield* Effect.forEach([1, 2, 3], (page) => usages("groups", group, `?limit=2&page=${page}`))
      assert.deepStrictEqual(
        pages.map(({ data }) => data.map(({ label, path }: Readonly<Record<string, string>>) => `${path} ${label}`)),
        [["audience.groups Spring", `groups ${usernames[0]}`], usernames.slice(1).map((name) => `groups ${name}`), []]
      )
      assert.strictEqual(pages[0].data[0].uuid, post)
      for (const [index, { counts, pagination }] of pages.entries()) {
        assert.deepStrictEqual(counts, { post: 1, user: 3 })
        assert.deepStrictEqual(pagination, { limit: 2, page: index + 1, total: 4, pageCount: 2 })
      }
    })
  )

  it.effect("the label of an asset is its name in the default locale", () =>
    Effect.gen(function* () {
      const key = unique("category")
      const category = yield* createCategory({ key })
      yield* createAsset({
        categories: [key],
        translations: [
          { locale: "de", name: "Frühling" },
          { locale: "en", name: "Spring" }
        ]
      })
      assert.strictEqual((yield* usages("asset-categories", category)).data[0].label, "Spring")
    })
  )

  it.effect("records whose read permission the key lacks are only counted", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const user = yield* createUser()
      const group = yield* createGroup({ users: [user] })
      yield* createPost({ author: { uuid: user } })
      const answer = yield* usages("users", user, "", yield* key(["read:users", "read:groups"]))
      assert.deepStrictEqual(
        answer.data.map(({ uuid }: { readonly uuid: string }) => uuid),
        [group]
      )
      assert.deepStrictEqual(answer.counts, { group: 1, post: 1 })
      assert.strictEqual(answer.pagination.total, 1)
      expectError(
        yield* send("GET", `/v1/users/${user}/usages`, { key: yield* key(["read:groups"]) }),
        403,
        "MissingPermissionsError"
      )
    })
  )

  it.effect("what no record refers to has no usages, and an unknown record is not found", () =>
    Effect.gen(function* () {
      const answer = yield* usages("locations", yield* createLocation())
      assert.deepStrictEqual(answer, {
        _tag: "Success",
        data: [],
        counts: {},
        pagination: { limit: 25, page: 1, total: 0, pageCount: 0 }
      })
      for (const [resource, tag] of [
        ["users", "User"],
        ["locations", "Location"],
        ["groups", "Group"],
        ["assets", "Asset"],
        ["products", "Product"],
        ["meta-tags", "MetaTag"],
        ["asset-categories", "AssetCategory"]
      ])
        expectError(yield* send("GET", `/v1/${resource}/${unknownUuid}/usages`), 404, `${tag}NotFoundError`)
    })
  )

  it.effect("a reference that is removed is no usage any more", () =>
    Effect.gen(function* () {
      const user = yield* createUser()
      const post = yield* createPost({ author: { uuid: user } })
      assert.lengthOf(yield* listed("users", user), 1)
      yield* patchPost(post, { author: null })
      assert.lengthOf(yield* listed("users", user), 0)
    })
  )
})
