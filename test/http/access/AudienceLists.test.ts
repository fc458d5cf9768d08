import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createPost, patchPost } from "../../support/requests/PostRequests.ts"
import {
  activate,
  createGroup,
  createLocation,
  createProduct,
  createUser,
  deleteModule,
  patchProduct,
  putModule
} from "../../support/requests/ProductRequests.ts"
import { expectError, problemsOf, send, unique, unknownUuid } from "../../support/requests/Requests.ts"
import * as Postgres from "../../support/Postgres.ts"
import * as TestServer from "../../support/TestServer.ts"

/** A published product with a permissions module. */
const offered = Effect.fnUntraced(function* (permissions: object) {
  const product = yield* createProduct()
  yield* activate(product, "permissions", permissions)
  yield* patchProduct(product, { status: "published" })
  return product
})

const uuidsIn = Effect.fnUntraced(function* (path: string) {
  const { body, status, text } = yield* send("GET", path)
  assert.strictEqual(status, 200, text)
  return body.data.map(({ uuid }: { readonly uuid: string }) => uuid)
})

const withoutAccess = { authorizationType: "groups", groups: [], locations: [] }

layer(TestServer.layer(), { excludeTestServices: true })("Lists of who sees what", (it) => {
  it.effect("an audience is filtered, sorted and paged like the list of its records", () =>
    Effect.gen(function* () {
      const group = yield* createGroup()
      const names = ["carla", "anna", "bob"].map((name) => `${name}-${unique("u")}`)
      for (const username of names) yield* createUser({ username, email: `${username}@example.com`, groups: [group] })
      const product = yield* offered({ groups: [{ uuid: group, actions: ["view"] }] })
      const path = `/v1/products/${product}/audience`
      const usernames = Effect.fnUntraced(function* (query: string) {
        const { body } = yield* send("GET", `${path}?${query}`)
        return [body.data.map(({ username }: { readonly username: string }) => username), body.pagination]
      })
      const sorted = names.toSorted()
      assert.deepStrictEqual(yield* usernames("sortBy=username&sortOrder=asc&limit=2"), [
        sorted.slice(0, 2),
        { limit: 2, page: 1, total: 3, pageCount: 2 }
      ])
      assert.deepStrictEqual((yield* usernames("sortBy=username&sortOrder=asc&limit=2&page=2"))[0], sorted.slice(2))
      assert.deepStrictEqual((yield* usernames("filter=username:startsWith:bob"))[0], [names[2]])
      const first = yield* send("GET", `${path}?sortBy=username&sortOrder=asc&limit=2&after=`)
      const { next } = first.body.pagination
      assert.deepStrictEqual(
        (yield* usernames(`sortBy=username&sortOrder=asc&limit=2&after=${next}`))[0],
        sorted.slice(2)
      )
      // The cursor belongs to this audience.
      const other = yield* offered({ groups: [{ uuid: group, actions: ["view"] }] })
      const foreign = yield* send("GET", `/v1/products/${other}/audience?sortBy=username&sortOrder=asc&after=${next}`)
      expectError(foreign, 400, "InvalidRequestError")
    })
  )

  it.effect("the fields of a filter and an order are those of the records that `of` chooses", () =>
    Effect.gen(function* () {
      const location = yield* createLocation({ identifier: unique("place") })
      const product = yield* offered({
        authorizationType: "locations",
        locations: [{ uuid: location, actions: ["view"] }]
      })
      const path = `/v1/products/${product}/audience`
      assert.deepStrictEqual(
        yield* uuidsIn(`${path}?of=locations&filter=identifier:startsWith:place&sortBy=identifier`),
        [location]
      )
      expectError(yield* send("GET", `${path}?filter=identifier:equals:a`), 400, "InvalidFilterError")
      expectError(yield* send("GET", `${path}?of=locations&filter=username:equals:a`), 400, "InvalidFilterError")
      const named = yield* send("GET", `${path}?of=locations&fields=identifier`)
      assert.deepStrictEqual(Object.keys(named.body.data[0]), ["uuid", "identifier"])
      assert.deepStrictEqual(problemsOf(yield* send("GET", `${path}?fields=identifier`)), [
        400,
        "InvalidRequestError",
        "fields unknownMember"
      ])
      assert.deepStrictEqual(problemsOf(yield* send("GET", `${path}?of=locations&sortBy=username`)), [
        400,
        "InvalidRequestError",
        "sortBy notAllowed"
      ])
    })
  )

  it.effect("the records of audiences and of what is seen include others, which the key has to be able to read", () =>
    Effect.gen(function* () {
      const location = yield* createLocation()
      const group = yield* createGroup({ locations: [location] })
      const user = yield* createUser({ groups: [group], locations: [location] })
      const product = yield* offered({ groups: [{ uuid: group, actions: ["view"] }] })
      const first = Effect.fnUntraced(function* (path: string) {
        const { body, status, text } = yield* send("GET", path)
        assert.strictEqual(status, 200, text)
        return body.data[0]
      })
      const [seen] = [yield* first(`/v1/products/${product}/audience?include=groups,locations`)]
      assert.deepStrictEqual([seen.uuid, seen.groups[0].uuid, seen.groupCount], [user, group, 1])
      assert.deepStrictEqual([seen.locations[0].uuid, seen.locationCount], [location, 1])
      const branch = yield* first(`/v1/products/${product}/audience?of=locations&include=users&fields=users.username`)
      assert.deepStrictEqual(Object.keys(branch), ["uuid", "users"])
      assert.deepStrictEqual(branch.users.map(Object.keys), [["username"]])
      const [whole] = [yield* send("GET", `/v1/products/${product}/modules/permissions`)]
      for (const path of [`/v1/users/${user}/products`, `/v1/locations/${location}/products`]) {
        const { modules } = yield* first(`${path}?include=modules`)
        const permissions = modules.find(({ module }: { readonly module: string }) => module === "permissions")
        assert.deepStrictEqual(permissions.groups, whole.body.data.groups, path)
      }
      assert.deepStrictEqual(problemsOf(yield* send("GET", `/v1/products/${product}/audience?include=users`)), [
        400,
        "InvalidRequestError",
        "include notAllowed"
      ])
      const { key } = yield* TestServer.TestServer
      const reader = yield* key(["read:products", "read:users"])
      expectError(
        yield* send("GET", `/v1/products/${product}/audience?include=groups`, { key: reader }),
        403,
        "MissingPermissionsError"
      )
    })
  )

  it.effect("what is given and withdrawn counts at once, from both sides", () =>
    Effect.gen(function* () {
      const [group, user] = [yield* createGroup(), yield* createUser()]
      const product = yield* offered(withoutAccess)
      const sees = Effect.gen(function* () {
        const audience: ReadonlyArray<string> = yield* uuidsIn(`/v1/products/${product}/audience`)
        const products: ReadonlyArray<string> = yield* uuidsIn(`/v1/users/${user}/products`)
        assert.strictEqual(audience.includes(user), products.includes(product))
        return audience.includes(user)
      })
      const after = (write: ReturnType<typeof send>) => Effect.andThen(write, sees)
      const groups = [{ uuid: group, actions: ["view"] }]
      assert.isFalse(yield* sees)
      assert.isFalse(yield* after(putModule(product, "permissions", { groups })))
      assert.isTrue(yield* after(send("PUT", `/v1/users/${user}/groups`, { body: { groups: [group] } })))
      assert.isFalse(yield* after(putModule(product, "permissions", { groups: [{ uuid: group, actions: ["order"] }] })))
      assert.isTrue(yield* after(putModule(product, "permissions", { authorizationType: "everyone" })))
      assert.isFalse(yield* after(deleteModule(product, "permissions")))
      assert.isTrue(yield* after(putModule(product, "permissions", { groups })))
      assert.isFalse(yield* after(send("PATCH", `/v1/users/${user}`, { body: { status: "suspended" } })))
      assert.isTrue(yield* after(send("PATCH", `/v1/users/${user}`, { body: { status: "active" } })))
      // A user without a location has none that may use the product.
      assert.isFalse(yield* after(putModule(product, "locations", {})))
      assert.isTrue(yield* after(deleteModule(product, "locations")))
      assert.isFalse(yield* after(putModule(product, "locations", {})))
      const locations = [yield* createLocation()]
      assert.isTrue(yield* after(send("PUT", `/v1/users/${user}/locations`, { body: { locations } })))
      assert.isFalse(
        yield* after(putModule(product, "locations", { mode: "exclude", locations: [{ uuid: locations[0] }] }))
      )
      assert.isTrue(yield* after(deleteModule(product, "locations")))
      assert.isFalse(yield* after(patchProduct(product, { status: "archived" })))
    })
  )

  it.effect("a list of 10,000 locations is replaced by one that differs in one of them", () =>
    Effect.gen(function* () {
      const rows = yield* Postgres.execute<{ readonly uuid: string }>(`
        insert into locations (uuid, name, identifier, created_at, edited_at)
          select gen_random_uuid(), 'Branch', 'many-' || gen_random_uuid(), now(), now() from generate_series(1, 10001) number
          returning uuid`)
      const uuids = rows.map(({ uuid }) => uuid)
      const product = yield* offered(withoutAccess)
      const give = Effect.fnUntraced(function* (to: ReadonlyArray<string>, actions: ReadonlyArray<string>) {
        const locations = to.map((uuid) => ({ uuid, actions }))
        yield* putModule(product, "permissions", { authorizationType: "locations", locations })
        const seen = yield* Effect.forEach([uuids[0]!, uuids[1]!, uuids[10_000]!], (uuid) =>
          uuidsIn(`/v1/locations/${uuid}/products?filter=uuid:equals:${product}`)
        )
        return seen.map((products) => products.length)
      })
      assert.deepStrictEqual(yield* give(uuids.slice(1), ["view"]), [0, 1, 1])
      assert.deepStrictEqual(yield* give(uuids.slice(0, 10_000), ["view", "order"]), [1, 1, 0])
      assert.deepStrictEqual(yield* give(uuids.slice(0, 10_000), ["order"]), [0, 0, 0])
    })
  )

  it.effect("the audience of a post follows its audience and its state, and names in its posts follow the key", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const group = yield* createGroup({ name: unique("Readers") })
      const user = yield* createUser({ groups: [group] })
      const post = yield* createPost({
        audience: { groups: [{ uuid: group }] },
        status: "scheduled",
        publishAt: "2099-01-31T09:30:00.000Z"
      })
      assert.deepStrictEqual(yield* uuidsIn(`/v1/users/${user}/posts`), [])
      yield* patchPost(post, { status: "published", publishAt: "2026-01-31T09:30:00.000Z" })
      assert.deepStrictEqual(yield* uuidsIn(`/v1/posts/${post}/audience`), [user])
      const posts = yield* send("GET", `/v1/users/${user}/posts`, { key: yield* key(["read:users", "read:posts"]) })
      assert.deepStrictEqual(
        posts.body.data.map(
          ({ audience, uuid }: { readonly audience: { readonly groups: unknown }; readonly uuid: string }) => [
            uuid,
            audience.groups
          ]
        ),
        [[post, [{ uuid: group }]]]
      )
      yield* patchPost(post, { audience: { groups: [] } })
      assert.deepStrictEqual(yield* uuidsIn(`/v1/posts/${post}/audience`), [])
      yield* patchPost(post, { audience: { authorizationType: "everyone" } })
      assert.deepStrictEqual(yield* uuidsIn(`/v1/users/${user}/posts`), [post])
      yield* send("DELETE", `/v1/posts/${post}`)
      assert.deepStrictEqual(yield* uuidsIn(`/v1/users/${user}/posts`), [])
    })
  )

  it.effect("a key needs read: of the product or post and of the records in the list", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const product = yield* offered(withoutAccess)
      const path = `/v1/products/${product}/audience`
      const products = yield* key(["read:products", "read:users"])
      assert.strictEqual((yield* send("GET", path, { key: products })).status, 200)
      const rejected = yield* send("GET", `${path}?of=locations`, { key: products })
      assert.deepStrictEqual(expectError(rejected, 403, "MissingPermissionsError").missing, ["read:locations"])
      // The request is decoded first.
      expectError(yield* send("GET", `${path}?of=locations&filter=a`, { key: products }), 400, "InvalidFilterError")
      const user = yield* createUser()
      for (const list of ["products", "posts"])
        expectError(
          yield* send("GET", `/v1/users/${user}/${list}`, { key: yield* key(["read:users"]) }),
          403,
          "MissingPermissionsError"
        )
    })
  )

  it.effect("an unknown record in the path is not found", () =>
    Effect.gen(function* () {
      for (const [path, tag] of [
        [`/v1/products/${unknownUuid}/audience`, "ProductNotFoundError"],
        [`/v1/products/${unknownUuid}/audience?of=locations`, "ProductNotFoundError"],
        [`/v1/posts/${unknownUuid}/audience`, "PostNotFoundError"],
        [`/v1/users/${unknownUuid}/products`, "UserNotFoundError"],
        [`/v1/users/${unknownUuid}/posts`, "UserNotFoundError"],
        [`/v1/locations/${unknownUuid}/products`, "LocationNotFoundError"]
      ] as const)
        expectError(yield* send("GET", path), 404, tag)
    })
  )
})
