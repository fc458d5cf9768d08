import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Webhook from "../../../src/domain/changes/Webhook.ts"
import * as Product from "../../../src/domain/catalog/Product.ts"
import * as ApiKey from "../../../src/domain/keys/ApiKey.ts"
import * as Group from "../../../src/domain/people/Group.ts"
import * as User from "../../../src/domain/people/User.ts"
import * as Asset from "../../../src/domain/assets/Asset.ts"
import * as AssetCategory from "../../../src/domain/assets/AssetCategory.ts"
import * as MetaTag from "../../../src/domain/assets/metaTags/MetaTag.ts"
import * as Post from "../../../src/domain/posts/Post.ts"
import { createAsset, createCategory, createMetaTag } from "../../support/requests/AssetRequests.ts"
import { createPost } from "../../support/requests/PostRequests.ts"
import { createGroup, createProduct, createUser } from "../../support/requests/ProductRequests.ts"
import { create, problemsOf, send, unique } from "../../support/requests/Requests.ts"
import { createWebhook } from "../../support/requests/WebhookRequests.ts"
import * as TestServer from "../../support/TestServer.ts"

interface Row {
  readonly uuid: string
}

interface Page {
  readonly data: ReadonlyArray<Row>
  readonly pagination: { readonly next?: string }
}

const get = (path: string, query: string) => send("GET", `${path}${path.includes("?") ? "&" : "?"}${query}`)

const walk = Effect.fnUntraced(function* (path: string, query: string, limit: number) {
  const uuids: Array<string> = []
  for (let after: string | undefined = ""; after !== undefined;) {
    const answer: Effect.Success<ReturnType<typeof get>> = yield* get(path, `${query}&limit=${limit}&after=${after}`)
    assert.strictEqual(answer.status, 200, answer.text)
    const { data, pagination } = answer.body as Page
    uuids.push(...data.map(({ uuid }) => uuid))
    after = pagination.next
  }
  return uuids
})

const count = 7
const each = <A, E, R>(make: (index: number) => Effect.Effect<A, E, R>) =>
  Effect.forEach(
    Array.from({ length: count }, (_, index) => index),
    make
  )

/** Some records of every kind, with equal and missing values, and the paths of their lists. */
const seed = Effect.gen(function* () {
  const users = (yield* each((index) =>
    createUser(index % 3 === 0 ? {} : { firstName: `F${index % 2}`, lastName: "Same" })
  )) as ReadonlyArray<string>
  const groups = yield* each(() => createGroup())
  const group = String(groups[0])
  const replaced = yield* send("PUT", `/v1/groups/${group}/users`, { body: { users: users.slice(0, 5) } })
  assert.strictEqual(replaced.status, 200, replaced.text)
  yield* each((index) => createProduct({ position: index % 3 }))
  yield* each((index) =>
    createAsset({ translations: [{ locale: index % 2 === 0 ? "nl" : "en", name: `Poster ${index % 3}` }] })
  )
  yield* each((index) => createCategory({ key: `category${index}`, position: index % 2, translations: [] }))
  yield* each((index) => createMetaTag({ key: `tag${index}`, type: "text", position: index % 2 }))
  yield* each((index) => createPost(index % 2 === 0 ? {} : { publishAt: "2090-01-01T00:00:00.000Z" }))
  const { key } = yield* TestServer.TestServer
  yield* each(() => key(["read:locations"]))
  yield* each(() => createWebhook({ url: "https://example.com/hook", types: ["*"] }))
  return group
})

layer(TestServer.layer(), { excludeTestServices: true })("pages behind a cursor", (it) => {
  it.effect("every list in every order has the records of its numbered pages, in their order", () =>
    Effect.gen(function* () {
      const group = yield* seed
      const lists: ReadonlyArray<readonly [path: string, sortable: ReadonlyArray<string>]> = [
        ["/v1/users", User.sortable],
        ["/v1/groups", Group.sortable],
        [`/v1/groups/${group}/users`, User.sortable],
        ["/v1/products", Product.sortable],
        ["/v1/assets", Asset.sortable],
        ["/v1/assets/search?locale=nl", Asset.sortable],
        ["/v1/assets/search?search=poster", Asset.sortable],
        ["/v1/assets/search?search=postr", Asset.sortable],
        ["/v1/asset-categories", AssetCategory.sortable],
        ["/v1/meta-tags", MetaTag.sortable],
        ["/v1/posts", Post.sortable],
        ["/v1/posts?locale=nl", Post.sortable],
        ["/v1/webhooks", Webhook.sortable],
        ["/v1/api-keys", ApiKey.sortable]
      ]
      for (const [path, sortable] of lists) {
        for (const sortBy of sortable) {
          for (const sortOrder of ["asc", "desc"]) {
            const query = `sortBy=${sortBy}&sortOrder=${sortOrder}`
            const { body, text } = yield* get(path, `${query}&limit=500`)
            const whole = (body as Page).data.map(({ uuid }) => uuid)
            assert.isAtLeast(whole.length, 2, `${path} ${text}`)
            assert.deepStrictEqual(yield* walk(path, query, 3), whole, `${path} ${query}`)
          }
        }
      }
    })
  )

  it.effect("total=true counts the records, and total=false leaves the count of a numbered page out", () =>
    Effect.gen(function* () {
      const prefix = unique("counted")
      for (const name of ["a", "b", "c"]) yield* create({ name, identifier: `${prefix}-${name}` })
      const list = (query: string) =>
        Effect.map(get(`/v1/locations?filter=identifier:startsWith:${prefix}`, query), ({ body }) => body)
      const { data, pagination } = yield* list("limit=2&after=&total=true&sortBy=name&sortOrder=asc")
      assert.lengthOf(data, 2)
      const { next, ...counted } = pagination
      assert.isString(next)
      assert.deepStrictEqual(counted, { limit: 2, total: 3, pageCount: 2 })
      const last = yield* list(`limit=2&after=${next}&total=true&sortBy=name&sortOrder=asc`)
      assert.deepStrictEqual(last.pagination, { limit: 2, total: 3, pageCount: 2 })
      assert.lengthOf(last.data, 1)
      const uncounted = yield* list("limit=2&total=false&sortBy=name&sortOrder=asc")
      assert.deepStrictEqual(uncounted.pagination, { limit: 2, page: 1, more: true })
      assert.deepStrictEqual(uncounted.data, data)
      const end = yield* list("limit=2&page=2&total=false&sortBy=name&sortOrder=asc")
      assert.deepStrictEqual(end.pagination, { limit: 2, page: 2, more: false })
      assert.deepStrictEqual(end.data, last.data)
      const all = yield* send("GET", "/v1/locations?limit=1&after=&total=true")
      const { body: plain } = yield* send("GET", "/v1/locations?limit=1")
      assert.strictEqual(all.body.pagination.total, plain.pagination.total)
      const whole = yield* send("GET", "/v1/locations?limit=500&total=false")
      assert.deepStrictEqual(whole.body.pagination, { limit: 500, page: 1, more: false })
    })
  )

  it.effect("a cursor continues only the list, the order and the filter that it is of", () =>
    Effect.gen(function* () {
      for (let index = 0; index < 3; index++) yield* create()
      const { body } = yield* send("GET", "/v1/locations?limit=1&after=&sortBy=name")
      const { next } = body.pagination
      for (const query of ["limit=2&sortBy=name", "sortBy=name&total=true", "sortBy=name&sortOrder=DESC"]) {
        assert.strictEqual((yield* send("GET", `/v1/locations?after=${next}&${query}`)).status, 200, query)
      }
      const foreign = [
        "/v1/locations?sortBy=identifier",
        "/v1/locations?sortBy=name&sortOrder=asc",
        "/v1/locations?sortBy=name&filter=name:contains:a",
        "/v1/groups?sortBy=name",
        "/v1/products?sortBy=name"
      ]
      for (const path of foreign) {
        const answer = yield* get(path, `after=${next}`)
        assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", "after invalidFormat"], path)
        assert.match(answer.body.message, /another list, order or filter/)
      }
    })
  )

  it.effect("a search within a category goes on when a category below it is added or removed", () =>
    Effect.gen(function* () {
      const key = unique("tree")
      const parentUuid = yield* createCategory({ key, translations: [] })
      for (const name of ["a", "b", "c"]) {
        yield* createAsset({ categories: [key], translations: [{ locale: "en", name }] })
      }
      const list = (after: string) =>
        get(`/v1/assets/search?category=${key}`, `sortBy=name&sortOrder=asc&limit=1&after=${after}`)
      const namesOf = ({ body, text }: Effect.Success<ReturnType<typeof list>>) => {
        assert.strictEqual(body._tag, "Success", text)
        return body.data.map((asset: { readonly translations: ReadonlyArray<object> }) => asset.translations[0])
      }
      const first = yield* list("")
      const below = yield* createCategory({ key: `${key}-below`, parentUuid, translations: [] })
      const second = yield* list(first.body.pagination.next)
      assert.deepStrictEqual(namesOf(second), [{ locale: "en", name: "b" }])
      yield* send("DELETE", `/v1/asset-categories/${below}`)
      const third = yield* list(second.body.pagination.next)
      assert.deepStrictEqual(namesOf(third), [{ locale: "en", name: "c" }])
    })
  )

  it.effect("a text that is no cursor is rejected, also one made like a cursor", () =>
    Effect.gen(function* () {
      const made = (content: unknown) => Buffer.from(JSON.stringify(content)).toString("base64url")
      const { body } = yield* send("GET", "/v1/locations?limit=1&after=")
      const [tag, key, uuid] = JSON.parse(Buffer.from(body.pagination.next, "base64url").toString())
      const texts = [
        "x",
        "%00",
        made([]),
        made({}),
        made([tag]),
        made([tag, key, "x"]),
        made([tag, "x", uuid]),
        made([tag, "2026-13-01T00:00:00.000Z", uuid]),
        made([tag, 1, uuid]),
        made([1, key, uuid])
      ]
      for (const text of texts) {
        const answer = yield* send("GET", `/v1/locations?after=${text}`)
        assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", "after invalidFormat"], text)
      }
      assert.strictEqual((yield* send("GET", `/v1/locations?after=${made([tag, key, uuid])}`)).status, 200)
    })
  )

  it.effect("after goes with neither page nor relevance", () =>
    Effect.gen(function* () {
      const numbered = yield* send("GET", "/v1/locations?after=&page=1")
      assert.deepStrictEqual(problemsOf(numbered), [400, "InvalidRequestError", "page invalidFormat"])
      for (const query of ["search=a&sortBy=relevance", "search=a", "sortBy=relevance", "search=&sortBy=relevance"]) {
        const ranked = yield* send("GET", `/v1/assets/search?after=&${query}`)
        assert.deepStrictEqual(problemsOf(ranked), [400, "InvalidRequestError", "sortBy invalidFormat"], query)
      }
    })
  )

  it.effect("a page behind a record that was deleted or moved since continues at its place", () =>
    Effect.gen(function* () {
      const prefix = unique("moved")
      const uuids: Array<string> = []
      for (const name of ["a", "b", "c", "d"]) uuids.push(yield* create({ name, identifier: `${prefix}-${name}` }))
      const list = (after: string) =>
        Effect.map(
          get(
            `/v1/locations?filter=identifier:startsWith:${prefix}`,
            `sortBy=name&sortOrder=asc&limit=2&after=${after}`
          ),
          ({ body }) => body
        )
      const { pagination } = yield* list("")
      yield* send("DELETE", `/v1/locations/${uuids[1]}`)
      yield* create({ name: "aa", identifier: `${prefix}-aa` })
      const rest = yield* list(pagination.next)
      assert.deepStrictEqual(
        rest.data.map(({ uuid }: Row) => uuid),
        uuids.slice(2)
      )
    })
  )
})
