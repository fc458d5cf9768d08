import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { send, unknownUuid } from "../support/requests/Requests.ts"
import * as TestServer from "../support/TestServer.ts"

/** The 53 operations of contract.md, section 4: number, name, method, path, permissions. */
const table = `
1  | Get a user                            | GET /v1/users/{uuid}                              | read:users
2  | Delete a user                         | DELETE /v1/users/{uuid}                           | delete:users
3  | Update a user                         | PATCH /v1/users/{uuid}                            | update:users
4  | List users                            | GET /v1/users                                     | read:users
5  | Create a new user                     | POST /v1/users                                    | create:users
6  | List user locations                   | GET /v1/users/{uuid}/locations                    | read:users + read:locations
7  | Update user locations                 | PUT /v1/users/{uuid}/locations                    | update:users + update:locations
8  | List user groups                      | GET /v1/users/{uuid}/groups                       | read:users + read:groups
9  | Update user groups                    | PUT /v1/users/{uuid}/groups                       | update:users + update:groups
10 | List products                         | GET /v1/products                                  | read:products
11 | Get a product                         | GET /v1/products/{uuid}                           | read:products
12 | Get product API module                | GET /v1/products/{uuid}/modules/api               | read:products
13 | Get product delivery module           | GET /v1/products/{uuid}/modules/delivery          | read:products
14 | Get product distribution module       | GET /v1/products/{uuid}/modules/distribution      | read:products
15 | Get product locations module          | GET /v1/products/{uuid}/modules/locations         | read:products
16 | Get product files module              | GET /v1/products/{uuid}/modules/files             | read:products
17 | Get product stock module              | GET /v1/products/{uuid}/modules/stock             | read:products
18 | Get product price module              | GET /v1/products/{uuid}/modules/price             | read:products
19 | Get product workflow module           | GET /v1/products/{uuid}/modules/workflow          | read:products
20 | Get product socials module            | GET /v1/products/{uuid}/modules/socials           | read:products
21 | Get product internal comment module   | GET /v1/products/{uuid}/modules/internal-comment  | read:products
22 | Get product campaigns module          | GET /v1/products/{uuid}/modules/campaigns         | read:products
23 | Get product permissions module        | GET /v1/products/{uuid}/modules/permissions       | read:products
24 | Get product reservations module       | GET /v1/products/{uuid}/modules/reservations      | read:products
25 | Get product template module           | GET /v1/products/{uuid}/modules/template          | read:products
26 | Get product form builder module       | GET /v1/products/{uuid}/modules/form-builder      | read:products
27 | Get product variants module           | GET /v1/products/{uuid}/modules/variants          | read:products
28 | Update a location                     | PATCH /v1/locations/{uuid}                        | update:locations
29 | Get a location                        | GET /v1/locations/{uuid}                          | read:locations
30 | Delete a location                     | DELETE /v1/locations/{uuid}                       | delete:locations
31 | List locations                        | GET /v1/locations                                 | read:locations
32 | Create a new location                 | POST /v1/locations                                | create:locations
33 | List location users                   | GET /v1/locations/{uuid}/users                    | read:locations + read:users
34 | List location groups                  | GET /v1/locations/{uuid}/groups                   | read:locations + read:groups
35 | Get a group                           | GET /v1/groups/{uuid}                             | read:groups
36 | Update a group                        | PATCH /v1/groups/{uuid}                           | update:groups
37 | Delete a group                        | DELETE /v1/groups/{uuid}                          | delete:groups
38 | List groups                           | GET /v1/groups                                    | read:groups
39 | Create a new group                    | POST /v1/groups                                   | create:groups
40 | List group users                      | GET /v1/groups/{uuid}/users                       | read:groups + read:users
41 | List group locations                  | GET /v1/groups/{uuid}/locations                   | read:groups + read:locations
42 | Initialize multipart upload           | POST /v1/uploads/init-multi-part                  | create:uploads
43 | Complete multipart upload             | PUT /v1/uploads/complete-multi-part               | create:uploads
44 | List assets                           | GET /v1/assets                                    | read:assets
45 | Create a new asset                    | POST /v1/assets                                   | create:assets
46 | Get asset                             | GET /v1/assets/{uuid}                             | read:assets
47 | Update an asset                       | PATCH /v1/assets/{uuid}                           | update:assets
48 | Search assets                         | GET /v1/assets/search                             | read:assets
49 | Get all meta tags                     | GET /v1/assets/meta-tags                          | read:assets
50 | Get asset meta tags                   | GET /v1/assets/{uuid}/meta-tags                   | read:assets
51 | Update asset meta tags                | PATCH /v1/assets/{uuid}/meta-tags                 | update:assets
52 | List posts                            | GET /v1/posts                                     | read:posts
53 | Get a post                            | GET /v1/posts/{uuid}                              | read:posts`

const operations = table
  .trim()
  .split("\n")
  .map((row) => {
    const [number, name, place, permissions] = row.split("|").map((cell) => cell.trim())
    const [method, path] = place!.split(" ")
    return { number: Number(number), name: name!, method: method!, path: path!, permissions: permissions!.split(" + ") }
  })

interface Operation {
  readonly summary: string
  readonly "x-required-permissions": ReadonlyArray<string>
}

const { paths } = JSON.parse(readFileSync(new URL("../../openapi.json", import.meta.url), "utf8")) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation | undefined>>>>
}

layer(TestServer.layer(), { excludeTestServices: true })("Operations of the contract", (it) => {
  it.effect("the operations are numbered from 1 to 53 and distinct", () =>
    Effect.sync(() => {
      assert.deepStrictEqual(
        operations.map(({ number }) => number),
        Array.from({ length: 53 }, (_, index) => index + 1)
      )
      assert.strictEqual(new Set(operations.map(({ method, path }) => `${method} ${path}`)).size, 53)
    })
  )

  it.effect.each(operations)(
    "$number $name is in the OpenAPI document with its permissions",
    ({ method, name, path, permissions }) =>
      Effect.sync(() => {
        const operation = paths[path]?.[method.toLowerCase()]
        assert.isDefined(operation)
        assert.strictEqual(operation.summary, name)
        assert.sameMembers([...operation["x-required-permissions"]], permissions)
      })
  )

  it.effect.each(operations)("$number $name requires exactly its permissions", (operation) =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const { method, permissions } = operation
      const path = operation.path.replace("{uuid}", unknownUuid)
      const sent = method === "GET" || method === "DELETE" ? {} : { body: {} }
      const { body, status } = yield* send(method, path, sent)
      assert.include([200, 400, 404], status)
      assert.notInclude(["RouteNotFoundError", "MethodNotAllowedError"], body._tag)
      // GET returns a 404 for an unknown record and an empty page for a list; other bodies are incomplete.
      if (method === "GET") assert.strictEqual(status, operation.path.includes("{uuid}") ? 404 : 200)
      const held = yield* key([...permissions] as Parameters<typeof key>[0])
      assert.strictEqual((yield* send(method, path, { ...sent, key: held })).status, status)
      for (const missing of permissions) {
        const others = permissions.filter((permission) => permission !== missing)
        const rejected = yield* send(method, path, {
          ...sent,
          key: yield* key(others as unknown as Parameters<typeof key>[0])
        })
        assert.deepStrictEqual([rejected.status, rejected.body.missing], [403, [missing]])
      }
    })
  )
})
