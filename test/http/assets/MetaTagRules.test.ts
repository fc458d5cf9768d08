import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { expectError, send, unique, unknownUuid } from "../../support/requests/Requests.ts"

type Fields = Readonly<Record<string, unknown>>
const post = (fields: Fields = {}) =>
  send("POST", "/v1/meta-tags", { body: { key: unique("tag").replace("-", "_"), type: "text", ...fields } })
const create = (fields: Fields = {}) =>
  Effect.map(post(fields), ({ body, text }) => (body.data?.uuid as string) ?? assert.fail(text))
const read = (uuid: string) => Effect.map(send("GET", `/v1/meta-tags/${uuid}`), ({ body }) => body.data)
const patch = (uuid: string, body: unknown) => send("PATCH", `/v1/meta-tags/${uuid}`, { body })
const category = (fields: Fields = {}) =>
  Effect.map(
    send("POST", "/v1/asset-categories", { body: { key: unique("category"), ...fields } }),
    ({ body }) => body.data.uuid as string
  )
const issues = ({ body }: { readonly body: any }) =>
  body.issues?.map(({ code, path }: Readonly<Record<string, string>>) => `${path} ${code}`) ?? body._tag

layer(TestServer.layer({ LOCALES: "nl,nl-NL,en" }), { excludeTestServices: true })("Rules of meta tags", (it) => {
  it.effect("the key and type of a meta tag cannot change, and its key is unique", () =>
    Effect.gen(function* () {
      const uuid = yield* create({ key: "held" })
      assert.deepStrictEqual(issues(yield* patch(uuid, { key: "other", type: "url" })), [
        "key immutable",
        "type immutable"
      ])
      assert.strictEqual((yield* patch(uuid, { key: "held", type: "text" })).status, 200)
      const again = yield* post({ key: "held" })
      expectError(again, 400, "InvalidRequestError")
      assert.deepStrictEqual(issues(again), ["key notUnique"])
      const answers = yield* Effect.all(
        Array.from({ length: 8 }, () => post({ key: "race" })),
        { concurrency: 8 }
      )
      assert.deepStrictEqual(
        answers.map(({ status }) => status).toSorted((a, b) => a - b),
        [201, ...Array(7).fill(400)]
      )
    })
  )

  it.effect("unknown categories of a meta tag are all listed, and nothing is written", () =>
    Effect.gen(function* () {
      const known = yield* category()
      const uuid = yield* create()
      const before = yield* read(uuid)
      const fields = { categories: [known, "unknown", unknownUuid], position: 9 }
      for (const response of [yield* post({ ...fields, key: "never" }), yield* patch(uuid, fields)]) {
        const body = expectError(response, 400, "InvalidAssetCategoriesError")
        assert.deepStrictEqual(body.invalid, ["unknown", unknownUuid])
      }
      assert.deepStrictEqual(yield* read(uuid), before)
      assert.strictEqual((yield* send("GET", "/v1/meta-tags?filter=key:equals:never")).body.pagination.total, 0)
    })
  )

  it.effect("rule violations of a meta tag name the member, but an unknown meta tag is reported first", () =>
    Effect.gen(function* () {
      const uuid = yield* create({ type: "integer" })
      const broken = { validation: { min: 3, max: 2, pattern: "a" }, options: [{ key: "a" }], group: { position: 1 } }
      const expected = ["options notApplicable", "validation.pattern notApplicable", "group.key required"]
      for (const answer of [yield* post({ ...broken, type: "integer" }), yield* patch(uuid, broken)]) {
        assert.deepStrictEqual([answer.status, issues(answer)], [400, expected])
      }
      assert.deepStrictEqual(issues(yield* patch(uuid, { defaultValue: "x" })), ["defaultValue wrongType"])
      for (const body of [broken, { translations: [{ locale: "de", name: "a" }] }, { categories: ["unknown"] }]) {
        const answer = yield* patch(unknownUuid, body)
        expectError(answer, 404, "MetaTagNotFoundError")
        assert.strictEqual(answer.body.uuid, unknownUuid)
      }
    })
  )

  it.effect("an unsupported locale of a meta tag is rejected by name, at any depth", () =>
    Effect.gen(function* () {
      const uuid = yield* create({ type: "select" })
      for (const fields of [
        { translations: [{ locale: "de", name: "a" }] },
        { group: { key: "a", translations: [{ locale: "de", name: "a" }] } },
        { options: [{ key: "a" }, { key: "b", translations: [{ locale: "de", label: "a" }] }] }
      ]) {
        for (const response of [yield* post({ ...fields, type: "select" }), yield* patch(uuid, fields)]) {
          const body = expectError(response, 400, "InvalidLocaleError")
          assert.strictEqual(body.locale, "de")
        }
      }
    })
  )

  it.effect("options keep their uuid while their key stays, and at most 5,000 are accepted", () =>
    Effect.gen(function* () {
      const uuid = yield* create({ type: "select", options: [{ key: "a" }, { key: "b" }] })
      const uuidOf = (key: string) =>
        Effect.map(read(uuid), ({ options }) => options.find((one: Fields) => one["key"] === key)?.uuid as string)
      const [a, b] = [yield* uuidOf("a"), yield* uuidOf("b")]
      yield* patch(uuid, {
        options: [
          { key: "c", uuid: a },
          { key: "b", uuid: a, active: false }
        ]
      })
      assert.strictEqual(yield* uuidOf("b"), b)
      assert.notInclude([a, b], yield* uuidOf("c"))
      const many = (count: number) => ({ options: Array.from({ length: count }, (_, index) => ({ key: `o${index}` })) })
      assert.strictEqual((yield* patch(uuid, many(5000))).status, 200)
      assert.lengthOf((yield* read(uuid)).options, 5000)
      assert.deepStrictEqual(issues(yield* patch(uuid, many(5001))), ["options tooMany"])
    })
  )

  it.effect("a category with a meta tag bound to it cannot be deleted", () =>
    Effect.gen(function* () {
      const logos = yield* category()
      const uuid = yield* create({ categories: [logos] })
      const rejected = yield* send("DELETE", `/v1/asset-categories/${logos}`)
      assert.deepStrictEqual([rejected.status, issues(rejected)], [400, ["uuid inUse"]])
      yield* patch(uuid, { categories: [] })
      assert.strictEqual((yield* send("DELETE", `/v1/asset-categories/${logos}`)).status, 200)
    })
  )

  it.effect("a stale If-Match of a meta tag is reported before a rule violation", () =>
    Effect.gen(function* () {
      const uuid = yield* create()
      const { headers } = yield* send("GET", `/v1/meta-tags/${uuid}`)
      const change = (body: unknown) =>
        send("PATCH", `/v1/meta-tags/${uuid}`, { body, headers: { "if-match": headers.get("etag")! } })
      assert.strictEqual((yield* change({ position: 3 })).status, 200)
      for (const body of [{ position: 4 }, { categories: [] }, { key: "b" }, { categories: ["unknown"] }]) {
        assert.strictEqual((yield* change(body)).status, 412)
      }
      assert.strictEqual((yield* read(uuid)).position, 3)
    })
  )

  it.effect("concurrent patches of different members are all kept, and rules apply to the merged meta tag", () =>
    Effect.gen(function* () {
      const uuid = yield* create()
      const lengths = Effect.all(
        [
          patch(uuid, { validation: { minLength: 5 } }),
          patch(uuid, { validation: { maxLength: 4 } }),
          patch(uuid, { position: 8 })
        ],
        { concurrency: 3 }
      )
      const statuses = (yield* lengths).map(({ status }) => status)
      assert.deepStrictEqual(
        statuses.toSorted((a, b) => a - b),
        [200, 200, 400]
      )
      const after = yield* read(uuid)
      assert.strictEqual(after.position, 8)
      assert.lengthOf(Object.keys(after.validation), 1)
    })
  )
})
