import { NodeServices } from "@effect/platform-node"
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Statement } from "effect/sql"
import * as Repositories from "../../../src/app/layers/Repositories.ts"
import { ProductId } from "../../../src/domain/catalog/ProductId.ts"
import { Readiness } from "../../../src/repositories/quality/Readiness.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import {
  activate,
  createGroup,
  createLocation,
  createProduct,
  createVariant
} from "../../support/requests/ProductRequests.ts"
import { createAsset, fileRow } from "../../support/requests/AssetRequests.ts"
import { expectError, send, unique, unknownUuid } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"

type Fields = Readonly<Record<string, unknown>>

const outputs = [{ key: "print", format: "pdf", widthMm: 210, heightMm: 297 }]

/** A product that one branch may use, with a template of these variables. */
const productFor = Effect.fnUntraced(function* (
  branches: ReadonlyArray<string>,
  variables: ReadonlyArray<Fields>,
  more = {},
  fields: Fields = {}
) {
  const product = yield* createProduct({ description: "A flyer", ...fields })
  const listed = branches.map((uuid) => ({ uuid }))
  yield* activate(product, "locations", { mode: "include", locations: listed })
  yield* activate(product, "template", { outputs, locales: ["en"], variables, ...more })
  return product
})

const readiness = Effect.fnUntraced(function* (resource: string, uuid: string, query = "") {
  const { body, status, text } = yield* send("GET", `/v1/${resource}/${uuid}/readiness${query}`)
  assert.strictEqual(status, 200, text)
  return body
})

const variable = (fields: Fields) => ({ key: "value", type: "text", source: "location", sourcePath: "name", ...fields })

/** The problems of one branch with one variable, as `code path`. */
const problemsOf = Effect.fnUntraced(function* (branch: Fields, fields: Fields, more = {}, ofProduct: Fields = {}) {
  const location = yield* createLocation(branch)
  const product = yield* productFor([location], [variable(fields)], more, ofProduct)
  const { counts, data } = yield* readiness("products", product)
  const inverse = yield* readiness("locations", location, `?filter=uuid:equals:${product}`)
  assert.deepStrictEqual(inverse.data[0].problems, data[0].problems, "the product and the branch agree")
  assert.strictEqual(data[0].ready, data[0].problems.length === 0)
  assert.deepStrictEqual(counts, data[0].ready ? { ready: 1, notReady: 0 } : { ready: 0, notReady: 1 })
  return data[0].problems.map(({ code, path }: Readonly<Record<string, string>>) => `${code} ${path}`)
})

const needed = { required: true, editable: false }
const dna = (text: string) => ({ other: { extraDna1: text } })
const ofDna = (type: string, fields: Fields = {}) => ({ type, sourcePath: "other.extraDna1", ...fields })

/** Of each type, texts that it takes and texts that it does not. */
const typed: Readonly<Record<string, readonly [good: ReadonlyArray<string>, bad: ReadonlyArray<string>]>> = {
  number: [
    ["12", "-3.5", "3,5"],
    ["twelve", "1.2.3", "1e5"]
  ],
  date: [
    ["2024-02-29", "2026-12-31", "2026-05-01T10:00:00Z"],
    ["2026-02-29", "2026-13-01", "2026-04-31", "1-5-2026", "today"]
  ],
  boolean: [["true", "false"], ["yes"]],
  color: [
    ["#fff", "#12489c"],
    ["red", "#12489"]
  ],
  money: [
    ["12.50", "EUR 12,50", "€12", "100 EUR"],
    ["free", "12.345"]
  ]
}

layer(TestServer.layer(), { excludeTestServices: true })("Readiness", (it) => {
  it.effect("a required variable without a value is missing, unless the person can enter it", () =>
    Effect.gen(function* () {
      const phone = { sourcePath: "contact.phone" }
      assert.deepStrictEqual(yield* problemsOf({}, { ...phone, ...needed }), ["missing contact.phone"])
      assert.deepStrictEqual(yield* problemsOf({}, { ...phone, required: true }), [])
      assert.deepStrictEqual(yield* problemsOf({}, { ...phone, editable: false }), [])
      assert.deepStrictEqual(yield* problemsOf({ contact: { phone: "030 231 0000" } }, { ...phone, ...needed }), [])
      assert.deepStrictEqual(yield* problemsOf({}, { source: "user", sourcePath: undefined, ...needed }), [
        "missing variables.0"
      ])
    })
  )

  it.effect("values of a product, of the person, and fixed ones are read from there", () =>
    Effect.gen(function* () {
      const product = (sourcePath: string) => ({ source: "product", sourcePath, ...needed })
      assert.deepStrictEqual(yield* problemsOf({}, product("description")), [])
      assert.deepStrictEqual(yield* problemsOf({}, product("parentUuid")), ["missing parentUuid"])
      assert.deepStrictEqual(yield* problemsOf({}, { source: "userProfile", sourcePath: "phone", ...needed }), [])
      const fixed = { source: "fixed", sourcePath: undefined, type: "number" }
      assert.deepStrictEqual(yield* problemsOf({}, { ...fixed, fixedValue: 12 }), [])
      assert.deepStrictEqual(yield* problemsOf({}, { ...fixed, fixedValue: "x" }), ["wrongType variables.0.fixedValue"])
    })
  )

  it.effect("a text with more characters than fit is too long", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* problemsOf({ name: "🥖".repeat(5) }, { maxLength: 5 }), [])
      assert.deepStrictEqual(yield* problemsOf({ name: "🥖".repeat(6) }, { maxLength: 5 }), ["tooLong name"])
    })
  )

  for (const [type, [good, bad]] of Object.entries(typed)) {
    it.effect(`a value that is not a ${type} has the wrong type`, () =>
      Effect.gen(function* () {
        for (const text of good) assert.deepStrictEqual(yield* problemsOf(dna(text), ofDna(type)), [], text)
        for (const text of bad)
          assert.deepStrictEqual(yield* problemsOf(dna(text), ofDna(type)), ["wrongType other.extraDna1"], text)
      })
    )
  }

  it.effect("an object has the wrong type for a text; of a list, the first element is the value", () =>
    Effect.gen(function* () {
      const branch = { address: { city: "Utrecht" }, postalCodes: ["3511", "352012"] }
      assert.deepStrictEqual(yield* problemsOf(branch, { sourcePath: "address" }), ["wrongType address"])
      assert.deepStrictEqual(yield* problemsOf(branch, { sourcePath: "postalCodes", maxLength: 4, ...needed }), [])
      assert.deepStrictEqual(yield* problemsOf({}, { sourcePath: "postalCodes", ...needed }), ["missing postalCodes"])
    })
  )

  it.effect("of a list of the product, the first element is the value, in both directions", () =>
    Effect.gen(function* () {
      const product = {
        categories: ["print", "web"],
        translations: [
          { locale: "de-DE", name: "Faltblatt" },
          { locale: "en", name: "Flyer" }
        ]
      }
      const of = (fields: Fields) => problemsOf({}, { source: "product", ...needed, ...fields }, {}, product)
      const category = { type: "choice", sourcePath: "categories" }
      assert.deepStrictEqual(yield* of({ ...category, choices: ["print"] }), [])
      assert.deepStrictEqual(yield* of({ ...category, choices: ["web"] }), ["notAChoice categories"])
      assert.deepStrictEqual(yield* of({ sourcePath: "translations.name", maxLength: 9 }), [])
      assert.deepStrictEqual(yield* of({ sourcePath: "translations.name", maxLength: 8 }), [
        "tooLong translations.name"
      ])
      assert.deepStrictEqual(yield* of({ sourcePath: "translations.description" }), [
        "missing translations.description"
      ])
      assert.deepStrictEqual(yield* of({ sourcePath: "tags" }), ["missing tags"])
    })
  )

  it.effect("a value that is none of the choices is not a choice", () =>
    Effect.gen(function* () {
      const fields = ofDna("choice", { choices: ["large", "small"] })
      assert.deepStrictEqual(yield* problemsOf(dna("small"), fields), [])
      assert.deepStrictEqual(yield* problemsOf(dna("medium"), fields), ["notAChoice other.extraDna1"])
    })
  )

  it.effect("an image needs an image: a logo that is not set or not an image is none, as any other object", () =>
    Effect.gen(function* () {
      const logo = { type: "image", sourcePath: "media.logo", ...needed }
      assert.deepStrictEqual(yield* problemsOf({}, logo), ["noImage media.logo"])
      assert.deepStrictEqual(yield* problemsOf({}, { ...logo, required: false }), [])
      assert.deepStrictEqual(yield* problemsOf({}, { ...logo, sourcePath: "name" }), ["noImage name"])
      const address = { address: { city: "Utrecht" } }
      assert.deepStrictEqual(yield* problemsOf(address, { ...logo, sourcePath: "address" }), ["noImage address"])
      assert.deepStrictEqual(yield* problemsOf({}, { ...logo, sourcePath: "media" }), ["noImage media"])
      assert.deepStrictEqual(
        yield* problemsOf(
          { contact: { website: "https://example.com/a.png" } },
          { ...logo, sourcePath: "contact.website" }
        ),
        []
      )
      const location = yield* createLocation()
      const product = yield* productFor(
        [location],
        [variable(logo), variable({ ...logo, key: "items", sourcePath: "media.items" })]
      )
      const problems = (yield* readiness("products", product)).data[0].problems
      assert.deepStrictEqual(
        problems.map(({ path }: Readonly<Record<string, string>>) => path),
        ["media.logo", "media.items"]
      )
      for (const [type, ready] of [
        ["image/png", true],
        ["application/pdf", false]
      ] as const) {
        const asset = yield* createAsset({ fileUuid: yield* fileRow(`${unique()}.x`, 1, type) })
        const media = { logo: { assetUuid: asset }, items: [{ assetUuid: asset, role: "team" }] }
        const { status, text } = yield* send("PUT", `/v1/locations/${location}/media`, { body: media })
        assert.strictEqual(status, 200, text)
        assert.strictEqual((yield* readiness("products", product)).data[0].ready, ready, type)
      }
    })
  )

  it.effect("a branch whose locale the template lacks has no locale, before the problems of the variables", () =>
    Effect.gen(function* () {
      const phone = { sourcePath: "contact.phone", ...needed }
      assert.deepStrictEqual(yield* problemsOf({ locale: "nl-NL" }, phone), [
        "noLocale locale",
        "missing contact.phone"
      ])
      assert.deepStrictEqual(yield* problemsOf({ locale: "nl-NL" }, {}, { locales: ["de", "nl-NL"] }), [])
      assert.deepStrictEqual(yield* problemsOf({}, {}, { locales: ["de"] }), [])
    })
  )

  it.effect("problems are in the order of the variables, with messages that name the member", () =>
    Effect.gen(function* () {
      const location = yield* createLocation({ name: "Bakery" })
      const product = yield* productFor(
        [location],
        [
          variable({ key: "phone", sourcePath: "contact.phone", ...needed }),
          variable({ key: "name", maxLength: 3 }),
          variable({ key: "city", sourcePath: "address.city", ...needed })
        ]
      )
      assert.deepStrictEqual((yield* readiness("products", product)).data[0].problems, [
        {
          variable: "phone",
          path: "contact.phone",
          code: "missing",
          message: "contact.phone of the location is not set; the template needs it"
        },
        {
          variable: "name",
          path: "name",
          code: "tooLong",
          message: "name of the location has 6 characters; at most 3 fit"
        },
        {
          variable: "city",
          path: "address.city",
          code: "missing",
          message: "address.city of the location is not set; the template needs it"
        }
      ])
    })
  )

  it.effect(
    "the list has the branches that may use the product: all, listed ones with those of groups, or the others",
    () =>
      Effect.gen(function* () {
        const [one, two, three] = [yield* createLocation(), yield* createLocation(), yield* createLocation()]
        const group = yield* createGroup({ locations: [two] })
        const product = yield* productFor([one], [])
        const uuids = Effect.map(readiness("products", product, "?limit=500"), ({ counts, data }) => {
          assert.strictEqual(counts.ready + counts.notReady, data.length)
          return new Set(data.map(({ uuid }: Readonly<Record<string, string>>) => uuid))
        })
        const mayUse = (uuid: string) =>
          Effect.map(readiness("locations", uuid, `?filter=uuid:equals:${product}`), ({ data }) => data.length === 1)
        const expected = Effect.fnUntraced(function* (sees: ReadonlyArray<boolean>) {
          const found = yield* uuids
          for (const [index, uuid] of [one, two, three].entries()) {
            assert.strictEqual(found.has(uuid), sees[index], `${index}`)
            assert.strictEqual(yield* mayUse(uuid), sees[index], `${index} of the branch`)
          }
        })
        yield* expected([true, false, false])
        yield* activate(product, "locations", {
          mode: "include",
          locations: [{ uuid: one }],
          groups: [{ uuid: group }]
        })
        yield* expected([true, true, false])
        yield* activate(product, "locations", {
          mode: "exclude",
          locations: [{ uuid: one }],
          groups: [{ uuid: group }]
        })
        yield* expected([false, false, true])
        yield* activate(product, "locations", { mode: "all" })
        yield* expected([true, true, true])
        yield* send("DELETE", `/v1/products/${product}/modules/locations`)
        yield* expected([true, true, true])
      })
  )

  it.effect("a variant has the template and the branches of its parent", () =>
    Effect.gen(function* () {
      const location = yield* createLocation()
      const parent = yield* createProduct({ type: "variantParent" })
      const variant = yield* createVariant(parent)
      yield* activate(parent, "locations", { mode: "include", locations: [{ uuid: location }] })
      yield* activate(parent, "template", { outputs, locales: ["en"], variables: [variable({ maxLength: 1 })] })
      const codes = (uuid: string) =>
        Effect.map(readiness("products", uuid), ({ data }) =>
          data.map(({ problems }: { problems: ReadonlyArray<Fields> }) => problems[0]!["code"])
        )
      assert.deepStrictEqual(yield* codes(variant), ["tooLong"])
      const products = yield* readiness("locations", location, "?filter=ready:equals:false")
      assert.deepStrictEqual(new Set(products.data.map(({ uuid }: Fields) => uuid)), new Set([parent, variant]))
      yield* activate(variant, "template", { outputs, locales: ["en"], variables: [] })
      assert.deepStrictEqual((yield* readiness("locations", location, "?filter=ready:equals:false")).data.length, 1)
      assert.deepStrictEqual((yield* readiness("products", variant)).counts, { ready: 1, notReady: 0 })
    })
  )

  it.effect("the list filters by readiness and code, and is read by page and from cursor to cursor", () =>
    Effect.gen(function* () {
      const branches = []
      for (let n = 0; n < 7; n++)
        branches.push(yield* createLocation({ name: `Branch ${n}`, contact: n % 2 === 0 ? {} : { phone: "1234567" } }))
      const product = yield* productFor(branches, [variable({ sourcePath: "contact.phone", ...needed })])
      const names = ({ data }: { data: ReadonlyArray<{ name: string }> }) =>
        data.map(({ name }) => name.slice(-1)).join("")
      const not = yield* readiness("products", product, "?filter=ready:equals:false&limit=3")
      assert.strictEqual(names(not), "024")
      assert.deepStrictEqual(not.pagination, { limit: 3, page: 1, total: 4, pageCount: 2 })
      assert.deepStrictEqual(not.counts, { ready: 3, notReady: 4 })
      assert.strictEqual(
        names(yield* readiness("products", product, "?filter=problems.code:equals:missing&sortOrder=desc")),
        "6420"
      )
      assert.strictEqual(names(yield* readiness("products", product, "?filter=ready:equals:true")), "135")
      const seen = []
      for (let after: string | undefined = ""; after !== undefined;) {
        const page: {
          readonly data: ReadonlyArray<{ name: string }>
          readonly counts: object
          readonly pagination: { readonly next?: string }
        } = yield* readiness("products", product, `?limit=2&after=${after}`)
        assert.deepStrictEqual(page.counts, {})
        seen.push(names(page))
        after = page.pagination.next
      }
      assert.deepStrictEqual(seen, ["01", "23", "45", "6"])
    })
  )

  it.effect(
    "no count is negative when branches are deleted between the statement of the page and that of the counts",
    () =>
      Effect.gen(function* () {
        const branches = [yield* createLocation(), yield* createLocation()]
        const product = ProductId.make(yield* productFor(branches, []))
        const { pooled } = yield* Sql
        const lists = yield* Readiness
        const page = yield* Effect.provideService(
          lists.ofProduct(product, { filter: [{ field: "ready", operator: "equals", value: true }] }),
          Statement.CurrentTransformer,
          (statement) =>
            statement.compile()[0].includes("as counts")
              ? Effect.as(Effect.orDie(pooled`delete from locations where uuid = any (${branches}::uuid[])`), statement)
              : Effect.succeed(statement)
        )
        assert.strictEqual(page.pagination.total, 2)
        assert.deepStrictEqual(JSON.parse(page.counts), { ready: 2, notReady: 0 })
        assert.deepStrictEqual((yield* readiness("products", product)).counts, { ready: 0, notReady: 0 })
      }).pipe(Effect.provide(Repositories.layer.pipe(Layer.provide([TestServer.publicUrl, NodeServices.layer]))))
  )

  it.effect(
    "an unknown record is not found, a product without a template has no readiness, and a key needs both permissions",
    () =>
      Effect.gen(function* () {
        const get = (path: string, sent = {}) => send("GET", path, sent)
        expectError(yield* get(`/v1/products/${unknownUuid}/readiness`), 404, "ProductNotFoundError")
        expectError(yield* get(`/v1/locations/${unknownUuid}/readiness`), 404, "LocationNotFoundError")
        const product = yield* createProduct()
        expectError(yield* get(`/v1/products/${product}/readiness`), 400, "ModuleNotActiveError")
        const { key: keyOf } = yield* TestServer.TestServer
        for (const permission of ["read:products", "read:locations"] as const) {
          const key = yield* keyOf([permission])
          expectError(yield* get(`/v1/products/${product}/readiness`, { key }), 403, "MissingPermissionsError")
          expectError(yield* get(`/v1/locations/${unknownUuid}/readiness`, { key }), 403, "MissingPermissionsError")
        }
      })
  )
})
