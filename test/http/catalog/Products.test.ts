import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { createProduct, patchProduct, postProduct, readProduct } from "../../support/requests/ProductRequests.ts"
import { problemsOf, send, unique, unknownUuid } from "../../support/requests/Requests.ts"

type Fields = Readonly<Record<string, unknown>>

const invalid = (...problems: ReadonlyArray<string>) => [400, "InvalidRequestError", ...problems]

layer(TestServer.layer(), { excludeTestServices: true })("Products", (it) => {
  it.effect("a product needs a type, an identifier and a name, and starts as a draft at position 0", () =>
    Effect.gen(function* () {
      const { createdAt, editedAt, modules, uuid, ...rest } = yield* readProduct(
        yield* createProduct({ identifier: " BARE ", name: " Flyer ", variantCount: 7, modules: [], description: null })
      )
      const lists = { translations: [], categories: [], tags: [] }
      assert.deepStrictEqual(rest, {
        type: "default",
        identifier: "BARE",
        name: "Flyer",
        status: "draft",
        position: 0,
        ...lists
      })
      assert.strictEqual(createdAt, editedAt)
      assert.notStrictEqual(uuid, unknownUuid)
      assert.lengthOf(modules, 15)
      for (const [fields, ...problems] of [
        [{ type: undefined }, "type required"],
        [{ type: "bundle" }, "type notAllowed"],
        [{ identifier: " " }, "identifier tooShort"],
        [{ identifier: "a".repeat(101) }, "identifier tooLong"],
        [{ name: "a".repeat(256) }, "name tooLong"],
        [{ description: "a".repeat(10_001) }, "description tooLong"],
        [{ position: 1_000_001 }, "position outOfRange"],
        [{ position: 0.5 }, "position wrongType"],
        [{ tags: ["a".repeat(51)] }, "tags.0 tooLong"],
        [{ categories: Array.from({ length: 51 }, (_, index) => `${index}`) }, "categories tooMany"],
        [{ status: "gone" }, "status notAllowed"],
        [
          { visibleFrom: "2026-01-02T00:00:00.000Z", visibleUntil: "2026-01-02T00:00:00.000Z" },
          "visibleUntil notInOrder"
        ]
      ] as ReadonlyArray<readonly [Fields, ...ReadonlyArray<string>]>) {
        assert.deepStrictEqual(problemsOf(yield* postProduct(fields)), invalid(...problems))
      }
    })
  )

  it.effect("a product is read back with all written members, and sending it back changes nothing", () =>
    Effect.gen(function* () {
      const fields = {
        identifier: "FULL",
        description: "a\nb",
        translations: [
          { locale: "nl_nl", name: "Folder" },
          { locale: "de", name: "Flyer", description: "x" }
        ],
        categories: ["print", "print", "sale"],
        tags: ["a5"],
        visibleFrom: "2026-01-01T00:00:00.000Z",
        visibleUntil: "2026-02-01T00:00:00.000Z",
        position: 1_000_000
      }
      const uuid = yield* createProduct(fields)
      const before = yield* readProduct(uuid)
      assert.deepInclude(before, {
        ...fields,
        translations: [fields.translations[1], { locale: "nl-NL", name: "Folder" }],
        categories: ["print", "sale"]
      })
      for (const same of [{}, before, { name: " Flyer " }]) {
        assert.strictEqual((yield* patchProduct(uuid, same)).status, 200)
        assert.deepStrictEqual(yield* readProduct(uuid), before)
      }
      yield* patchProduct(uuid, { description: null, translations: null, tags: null, visibleFrom: null })
      const after = yield* readProduct(uuid)
      assert.deepInclude(after, { translations: [], tags: [], categories: ["print", "sale"] })
      for (const member of ["description", "visibleFrom"]) assert.notProperty(after, member)
      assert.isTrue(after.editedAt > before.editedAt)
      const cleared = yield* patchProduct(uuid, { name: null, position: null })
      assert.deepStrictEqual(problemsOf(cleared), invalid("name wrongType", "position wrongType"))
    })
  )

  it.effect("an unknown locale is rejected, but an unknown product is reported first", () =>
    Effect.gen(function* () {
      const translations = [{ locale: "xx-YY", name: "a" }]
      assert.deepStrictEqual(problemsOf(yield* postProduct({ translations })), [400, "InvalidLocaleError"])
      assert.deepStrictEqual(problemsOf(yield* patchProduct(unknownUuid, { translations })), [
        404,
        "ProductNotFoundError"
      ])
    })
  )

  it.effect("the identifier of a product is unique, case-sensitively", () =>
    Effect.gen(function* () {
      yield* createProduct({ identifier: "held" })
      const other = yield* createProduct()
      for (const answer of [
        yield* postProduct({ identifier: " held" }),
        yield* patchProduct(other, { identifier: "held" })
      ]) {
        assert.deepStrictEqual(
          [...problemsOf(answer), answer.body.identifier],
          [400, "DuplicateIdentifierError", "held"]
        )
      }
      assert.strictEqual((yield* postProduct({ identifier: "HELD" })).status, 201)
      const race = yield* Effect.all(
        Array.from({ length: 20 }, () => postProduct({ identifier: "race" })),
        { concurrency: 20 }
      )
      assert.strictEqual(race.filter(({ status }) => status === 201).length, 1)
    })
  )

  it.effect("a product status changes only from draft to published to archived to draft", () =>
    Effect.gen(function* () {
      const allowed = new Set(["draft published", "published archived", "archived draft"])
      const states = ["draft", "published", "archived"]
      for (const from of states) {
        for (const to of states) {
          const uuid = yield* createProduct({ status: from })
          const answer = yield* patchProduct(uuid, { status: to })
          const isAllowed = from === to || allowed.has(`${from} ${to}`)
          assert.deepStrictEqual(
            isAllowed ? [answer.status] : problemsOf(answer),
            isAllowed ? [200] : invalid("status forbiddenMove")
          )
          assert.strictEqual((yield* readProduct(uuid)).status, isAllowed ? to : from)
        }
      }
    })
  )

  it.effect("the type of a product cannot change", () =>
    Effect.gen(function* () {
      const uuid = yield* createProduct()
      assert.strictEqual((yield* patchProduct(uuid, { type: "default" })).status, 200)
      assert.deepStrictEqual(
        problemsOf(yield* patchProduct(uuid, { type: "variantParent" })),
        invalid("type immutable")
      )
    })
  )

  it.effect("products are listed, sorted and filtered by their own fields and by their modules", () =>
    Effect.gen(function* () {
      const prefix = unique("Listed")
      const uuids: Array<string> = []
      for (const [index, fields] of [{ tags: ["x"] }, { type: "variantParent" }, { status: "archived" }].entries()) {
        uuids.push(yield* createProduct({ name: `${prefix} ${index}`, position: 3 - index, ...fields }))
      }
      yield* send("PUT", `/v1/products/${uuids[2]}/modules/stock`, { body: {} })
      const list = (query: string) =>
        Effect.map(send("GET", `/v1/products?filter=name:startsWith:${prefix}${query}`), ({ body }) =>
          body.data.map(({ uuid }: { readonly uuid: string }) => uuids.indexOf(uuid))
        )
      assert.deepStrictEqual(yield* list(""), [2, 1, 0])
      for (const sortBy of ["name", "identifier", "createdAt", "editedAt"]) {
        assert.deepStrictEqual(yield* list(`&sortOrder=asc&sortBy=${sortBy}`), [0, 1, 2], sortBy)
      }
      assert.deepStrictEqual(yield* list("&sortOrder=asc&sortBy=position"), [2, 1, 0])
      assert.deepStrictEqual(yield* list("&sortOrder=asc&sortBy=status"), [2, 0, 1])
      assert.deepStrictEqual(yield* list("&sortOrder=desc&sortBy=type"), [1, 2, 0])
      assert.deepStrictEqual(yield* list(",tags:equals:x"), [0])
      assert.deepStrictEqual(yield* list(",type:equals:variantParent,variantCount:equals:0"), [1])
      assert.deepStrictEqual(yield* list(",modules.active:equals:true"), [2])
    })
  )

  it.effect("a product write with If-Match is 412 after a module became active, not after its settings changed", () =>
    Effect.gen(function* () {
      const uuid = yield* createProduct()
      const tag = (yield* send("GET", `/v1/products/${uuid}`)).headers.get("etag")!
      yield* send("PUT", `/v1/products/${uuid}/modules/api`, { body: {} })
      const headers = { "if-match": tag }
      assert.strictEqual((yield* send("PATCH", `/v1/products/${uuid}`, { body: { name: "b" }, headers })).status, 412)
      assert.strictEqual((yield* send("DELETE", `/v1/products/${uuid}`, { headers })).status, 412)
      const now = { "if-match": (yield* send("GET", `/v1/products/${uuid}`)).headers.get("etag")! }
      const changed = yield* send("PUT", `/v1/products/${uuid}/modules/api`, { body: { timeoutSeconds: 20 } })
      assert.strictEqual(changed.status, 200)
      assert.strictEqual(
        (yield* send("PATCH", `/v1/products/${uuid}`, { body: { name: "b" }, headers: now })).status,
        200
      )
    })
  )
})
