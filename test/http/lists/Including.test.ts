import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Sql } from "../../../src/sql/Sql.ts"
import { fileRow } from "../../support/requests/AssetRequests.ts"
import { randomOf } from "../../support/Random.ts"
import { withoutNulls } from "../../support/requests/StoredNulls.ts"
import * as TestServer from "../../support/TestServer.ts"
import { create, expectError, problemsOf, send, unique } from "../../support/requests/Requests.ts"
import {
  activate,
  createGroup,
  minimalSettings,
  createProduct,
  createUser
} from "../../support/requests/ProductRequests.ts"
import { worldOf } from "../../support/changes/World.ts"

type Json = Readonly<Record<string, unknown>>

const related: ReadonlyArray<readonly [resource: string, members: ReadonlyArray<string>]> = [
  ["users", ["locations", "groups"]],
  ["locations", ["users", "groups"]],
  ["groups", ["users", "locations"]]
]

/** Addresses are signed anew by every answer. */
const unsigned = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, inner) =>
    typeof inner === "string" && inner.startsWith("http://waypost.test/") ? new URL(inner).pathname : inner
  )

const recordsOf = (path: string) =>
  Effect.map(send("GET", path), ({ body, status, text }) => {
    assert.strictEqual(status, 200, text)
    return body.data as ReadonlyArray<Json>
  })

layer(TestServer.layer(), { excludeTestServices: true })("include", (it) => {
  it.effect("answers of lists and reads include the records that the lists of relations have, and their number", () =>
    Effect.gen(function* () {
      const world = worldOf(randomOf(Number(process.env["TEST_SEED"] ?? 18)), "i")
      for (let step = 0; step < 200; step++) yield* world.step()
      assert.isAtLeast(yield* withoutNulls, 50)
      let included = 0
      for (const [resource, members] of related) {
        const query = `include=${members.join(",")}`
        const records = yield* recordsOf(`/v1/${resource}?limit=500&${query}`)
        assert.isAbove(records.length, 0, resource)
        assert.deepStrictEqual(yield* recordsOf(`/v1/${resource}?limit=500&after=&${query}`), records)
        for (const record of records) {
          const path = `/v1/${resource}/${String(record["uuid"])}`
          const { body: single } = yield* send("GET", `${path}?${query}`)
          assert.deepStrictEqual(unsigned(single.data), unsigned(record))
          const { body: plain } = yield* send("GET", path)
          const expected: Record<string, unknown> = { ...plain.data }
          for (const member of members) {
            const { body } = yield* send("GET", `${path}/${member}?limit=100`)
            expected[member] = body.data
            expected[`${member.slice(0, -1)}Count`] = body.pagination.total
            included += body.data.length
          }
          assert.deepStrictEqual(unsigned(record), unsigned(expected), path)
        }
      }
      assert.isAbove(included, 20)
      const parent = yield* createProduct({ type: "variantParent" })
      for (const value of ["red", "blue"]) {
        const optionValues = [{ option: "ink", value }]
        yield* createProduct({ type: "variant", parentUuid: parent, optionValues })
      }
      const products = yield* recordsOf("/v1/products?limit=500&include=variants")
      for (const { uuid, type, variantCount, variants } of products) {
        if (type !== "variantParent") assert.isUndefined(variants)
        else {
          const expected = yield* recordsOf(`/v1/products?limit=100&filter=parentUuid:equals:${String(uuid)}`)
          assert.deepStrictEqual(unsigned(variants), unsigned(expected))
          assert.strictEqual(variantCount, expected.length)
        }
      }
      assert.isTrue(products.some(({ variantCount }) => variantCount === 2))
    })
  )

  it.effect("of more than a hundred related records the newest hundred are included, and all are counted", () =>
    Effect.gen(function* () {
      const groups = yield* Effect.forEach(Array.from({ length: 103 }), () => createGroup())
      const user = yield* createUser({ groups })
      const { body } = yield* send("GET", `/v1/users/${user}?include=groups`)
      assert.deepStrictEqual(
        body.data.groups.map(({ uuid }: Json) => uuid),
        groups.slice(3).toReversed()
      )
      assert.strictEqual(body.data.groupCount, 103)
    })
  )

  it.effect("active modules of products are included as their own operations answer them", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const narrow = yield* key(["read:products"])
      const world = worldOf(randomOf(Number(process.env["TEST_SEED"] ?? 7)), "m")
      for (let step = 0; step < 60; step++) yield* world.step()
      for (let index = 0; index < 6; index++) yield* world.create("products")
      for (let step = 0; step < 30; step++) {
        for (const uuid of world.uuids.products.slice(-6)) yield* world.partOf("products", uuid)
      }
      let active = 0
      for (const reader of [undefined, narrow]) {
        const as = reader === undefined ? {} : { key: reader }
        const { body: page } = yield* send("GET", "/v1/products?limit=500&include=modules,variants", as)
        const { body: plain } = yield* send("GET", "/v1/products?limit=500", as)
        for (const [index, product] of (page.data as ReadonlyArray<Json>).entries()) {
          const path = `/v1/products/${String(product["uuid"])}`
          const expected: Array<unknown> = []
          for (const module of plain.data[index].modules as ReadonlyArray<Json>) {
            const { body } = yield* send("GET", `${path}/modules/${String(module["module"])}`, as)
            if (module["active"] === true) active++
            expected.push(module["active"] === true ? { ...module, ...body.data } : module)
          }
          assert.deepStrictEqual(unsigned(product["modules"]), unsigned(expected), path)
          const { body: single } = yield* send("GET", `${path}?include=modules,variants`, as)
          assert.deepStrictEqual(unsigned(single.data), unsigned(product))
          const { body: part } = yield* send(
            "GET",
            `${path}?include=modules&fields=modules.module,modules.editedAt`,
            as
          )
          assert.deepStrictEqual(part.data, {
            uuid: product["uuid"],
            modules: expected.map((module) => {
              const { editedAt, module: name } = module as Json
              return editedAt === undefined ? { module: name } : { module: name, editedAt }
            })
          })
        }
      }
      assert.isAbove(active, 20)
    })
  )

  it.effect("a selection without modules reads none, and a page behind a cursor has them", () =>
    Effect.gen(function* () {
      const uuid = yield* createProduct({ name: "Flyer" })
      yield* activate(uuid, "price", minimalSettings["price"])
      const named = yield* send("GET", `/v1/products/${uuid}?include=modules&fields=name`)
      assert.deepStrictEqual(named.body.data, { uuid, name: "Flyer" })
      const { body } = yield* send("GET", "/v1/products?limit=1&after=&include=modules&fields=modules.productUuid")
      assert.deepInclude(body.data[0].modules, { productUuid: uuid })
      assert.isString(body.pagination.next ?? "")
    })
  )

  it.effect("lists of relations include the relations of their records", () =>
    Effect.gen(function* () {
      const location = yield* create()
      const group = yield* createGroup({ locations: [location] })
      const user = yield* createUser({ locations: [location] })
      const [listed] = yield* recordsOf(`/v1/locations/${location}/users?include=locations&fields=locations.name`)
      assert.deepStrictEqual(listed, { uuid: user, locations: [{ name: "Branch" }] })
      const [branch] = yield* recordsOf(`/v1/groups/${group}/locations?include=groups&fields=groupCount,groups`)
      assert.strictEqual(branch!["groupCount"], 1)
    })
  )

  it.effect("fields name included members and do not include them", () =>
    Effect.gen(function* () {
      const location = yield* create({ name: "Bakery" })
      const user = yield* createUser({ locations: [location], firstName: "Anna" })
      const path = `/v1/locations/${location}`
      const { body: named } = yield* send("GET", `${path}?include=users&fields=name,users.firstName,users.uuid`)
      assert.deepStrictEqual(named.data, {
        uuid: location,
        name: "Bakery",
        users: [{ uuid: user, firstName: "Anna" }]
      })
      const { body: counted } = yield* send("GET", `${path}?include=users&fields=userCount`)
      assert.deepStrictEqual(counted.data, { uuid: location, userCount: 1 })
      const { body: left } = yield* send("GET", `${path}?fields=users.firstName,userCount`)
      assert.deepStrictEqual(left.data, { uuid: location })
    })
  )

  it.effect("included records need the permission to read them", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const location = yield* create()
      const narrow = yield* key(["read:locations", "read:groups"])
      for (const path of ["/v1/locations", `/v1/locations/${location}`]) {
        const answer = yield* send("GET", `${path}?include=groups,users`, { key: narrow })
        const { missing } = expectError(answer, 403, "MissingPermissionsError", path)
        assert.deepStrictEqual(missing, ["read:users"])
        assert.strictEqual((yield* send("GET", `${path}?include=groups`, { key: narrow })).status, 200)
      }
    })
  )

  it.effect("a query that contradicts itself is a 400 also where the key may not read the included records", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const narrow = yield* key(["read:locations"])
      for (const [path, problem] of [
        ["locations?include=users&radius=5km", "radius notAllowed"],
        ["locations?include=users&sortBy=distance", "sortBy notAllowed"],
        ["locations?include=users&near=52,5&sortOrder=desc", "sortOrder notAllowed"],
        ["locations?include=users&page=1&after=", "page invalidFormat"],
        ["locations?include=users&after=garbage", "after invalidFormat"]
      ] as const) {
        const answer = yield* send("GET", `/v1/${path}`, { key: narrow })
        assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", problem], path)
      }
    })
  )

  it.effect("a write does not take included records", () =>
    Effect.gen(function* () {
      const location = yield* create()
      const user = yield* createUser({ locations: [location] })
      const group = yield* createGroup({ users: [user], locations: [location] })
      const parent = yield* createProduct({ type: "variantParent" })
      const cases = [
        [`/v1/locations/${location}`, "users"],
        [`/v1/locations/${location}`, "groups"],
        [`/v1/users/${user}`, "locations"],
        [`/v1/groups/${group}`, "users"],
        [`/v1/groups/${group}`, "locations"],
        [`/v1/products/${parent}`, "variants"]
      ] as const
      for (const [path, member] of cases) {
        const { body, headers } = yield* send("GET", `${path}?include=${member}`)
        const sent = { [member]: member === "variants" ? [{ uuid: parent }] : body.data[member] }
        expectError(yield* send("PATCH", path, { body: sent }), 400, "InvalidRequestError", `${path} ${member}`)
        const etag = String(headers.get("etag"))
        const written = yield* send("PATCH", path, { body: { name: unique() }, headers: { "if-match": etag } })
        if (!path.startsWith("/v1/users")) expectError(written, 412, "PreconditionFailedError", path)
        assert.deepStrictEqual((yield* send("GET", `${path}?include=${member}`)).body, body)
      }
      const replaced = yield* send("PUT", `/v1/users/${user}/locations`, {
        body: { locations: [{ uuid: location }] }
      })
      expectError(replaced, 400, "InvalidRequestError")
    })
  )

  it.effect("unknown names and reads of the past are rejected", () =>
    Effect.gen(function* () {
      const location = yield* create()
      const past = `/v1/locations/${location}?include=users&at=2026-01-01T00:00:00.000Z`
      assert.deepStrictEqual(problemsOf(yield* send("GET", past)), [400, "InvalidRequestError", "include notInPast"])
      const unknown = yield* send("GET", "/v1/locations?include=user")
      assert.deepStrictEqual(problemsOf(unknown), [400, "InvalidRequestError", "include.0 notAllowed"])
      assert.deepStrictEqual(unknown.body.issues[0].suggestions, ["users"])
    })
  )

  it.effect(
    "a page whose modules have little stored and more than 15 MiB in the answer is a 400 that asks for fewer products",
    () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const file = yield* fileRow(`${"n".repeat(250)}.txt`)
        const files = Array.from({ length: 200 }, (_, position) => ({
          uuid: randomUUID(),
          fileUuid: file,
          role: "download",
          position
        }))
        yield* pooled`
          with made as (
            insert into products (uuid, type, identifier, name, status, position)
              select gen_random_uuid(), 'default', 'many-files-' || i, 'Many files', 'draft', i
              from generate_series(1, 40) i returning uuid
          ) insert into product_modules (product_uuid, module, settings)
            select uuid, 'files', ${JSON.stringify({ files })}::jsonb from made`
        const path = "/v1/products?filter=name:equals:Many files&include=modules"
        const rejected = yield* send("GET", `${path}&limit=40`)
        assert.deepStrictEqual(problemsOf(rejected), [400, "InvalidRequestError", "limit tooMuch"])
        const message = "A page of 40 of these records has more than 15 MiB; ask for fewer at a time"
        assert.strictEqual(rejected.body.issues[0].message, message)
        const { body, text } = yield* send("GET", `${path}&limit=20`)
        assert.isAbove(text.length, 6_000_000)
        const filesOf = ({ modules }: any) => modules.find((one: any) => one.module === "files").files
        assert.deepStrictEqual(
          body.data.map((product: unknown) => filesOf(product).length),
          Array.from({ length: 20 }, () => 200)
        )
        const part = yield* send("GET", `${path}&limit=40&fields=modules.downloadAllowed`)
        assert.lengthOf(part.body.data, 40)
      })
  )

  it.effect("one product whose modules have more than 4 MiB is a 400 on include that names the operation to use", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const uuid = yield* createProduct()
      yield* pooled`insert into product_modules (product_uuid, module, settings)
        values (${uuid}::uuid, 'internal-comment', jsonb_build_object('comment', repeat('a', ${4 * 1024 ** 2}::int)))`
      const one = yield* send("GET", `/v1/products/${uuid}?include=modules`)
      assert.deepStrictEqual(problemsOf(one), [400, "InvalidRequestError", "include tooMuch"])
      assert.strictEqual(
        one.body.issues[0].message,
        "The modules of this product have more than 4 MiB; read them with GET /v1/products/{uuid}/modules/{module}"
      )
      const listed = yield* send("GET", `/v1/products?filter=uuid:equals:${uuid}&include=modules`)
      assert.deepStrictEqual(problemsOf(listed), [400, "InvalidRequestError", "limit tooMuch"])
      const named = yield* send("GET", `/v1/products/${uuid}?include=modules&fields=name`)
      assert.strictEqual(named.status, 200)
    })
  )
})
