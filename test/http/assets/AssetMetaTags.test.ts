import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import * as Postgres from "../../support/Postgres.ts"
import * as TestServer from "../../support/TestServer.ts"
import { createAsset, createCategory, createMetaTag, fileRow, readAsset } from "../../support/requests/AssetRequests.ts"
import { expectError, send, unknownUuid } from "../../support/requests/Requests.ts"

type Fields = Readonly<Record<string, unknown>>
const option = (key: string, rest: Fields = {}) => ({ key, ...rest })
const label = (locale: string, label: string) => ({ locale, label })
const options = [
  option("red", { translations: [label("en", "Red"), label("nl", "Rood")] }),
  option("blue", { translations: [label("nl-NL", "Blauw")] }),
  option("gone")
]
const definitions: ReadonlyArray<Fields> = [
  { key: "line", type: "text", validation: { minLength: 2, maxLength: 5, pattern: "[a-z]+" } },
  { key: "prose", type: "longText" },
  { key: "count", type: "integer", validation: { min: 1, max: 10 } },
  { key: "ratio", type: "decimal" },
  { key: "flag", type: "boolean" },
  { key: "day", type: "date" },
  { key: "moment", type: "dateTime" },
  { key: "link", type: "url" },
  { key: "colour", type: "select", options },
  { key: "colours", type: "multiSelect", options, validation: { maxItems: 2 } },
  { key: "fixed", type: "text", editable: false },
  { key: "photoOnly", type: "text", categories: ["photos"] }
]
const values: Fields = {
  line: "abc",
  prose: "one\ntwo",
  count: 7,
  ratio: 0.125,
  flag: false,
  day: "2026-02-28",
  moment: "2026-02-28T09:30:00.000Z",
  link: "https://example.com/a?b",
  colour: "red",
  colours: ["blue", "red"]
}
const inputs = (fields: Fields) => Object.entries(fields).map(([key, value]) => ({ key, value }))

const seed = Effect.gen(function* () {
  yield* createCategory({ key: "photos" })
  return new Map(
    yield* Effect.forEach(definitions, (fields, position) =>
      Effect.map(createMetaTag({ position, ...fields }), (uuid) => [fields["key"] as string, uuid] as const)
    )
  )
})
const get = (uuid: string, query = "") =>
  Effect.map(send("GET", `/v1/assets/${uuid}/meta-tags${query}`), ({ body }) => body.data)
const patch = (uuid: string, metaTags: unknown) => send("PATCH", `/v1/assets/${uuid}/meta-tags`, { body: { metaTags } })
const valuesOf = (uuid: string) =>
  Effect.map(get(uuid), (tags) =>
    Object.fromEntries(tags.map(({ key, value }: { readonly key: string; readonly value: unknown }) => [key, value]))
  )
const codesOf = (body: { readonly issues: ReadonlyArray<{ readonly key: string; readonly code: string }> }) =>
  body.issues.map(({ code, key }) => `${key} ${code}`)

layer(TestServer.layer(), { excludeTestServices: true })("Meta tags of assets", (it) => {
  it.effect("a meta tag value of every type is read back unchanged, with its options", () =>
    Effect.gen(function* () {
      const uuids = yield* seed
      const uuid = yield* createAsset({ metaTags: inputs(values) })
      const other = yield* createAsset()
      assert.deepStrictEqual(yield* get(other), [])
      const { body, status } = yield* patch(other, inputs(values))
      assert.deepStrictEqual([status, body], [200, { _tag: "Success", data: { uuid: other } }])
      const tags = yield* get(uuid)
      assert.deepStrictEqual(yield* get(other), tags)
      assert.deepStrictEqual(
        tags.map(({ key, type, uuid, value }: Fields) => ({ key, type, uuid, value })),
        definitions
          .slice(0, 10)
          .map(({ key, type }) => ({ key, type, uuid: uuids.get(key as string), value: values[key as string] }))
      )
      for (const [locale, red, blue] of [
        ["", "Red", "Blauw"],
        ["?locale=nl", "Rood", "Blauw"],
        ["?locale=en-GB", "Red", "Blauw"]
      ] as const) {
        const labelled = (yield* get(uuid, locale)).flatMap(
          ({ options }: { readonly options: ReadonlyArray<Fields> }) =>
            options.map(({ key, label }) => `${key as string} ${label as string}`)
        )
        assert.sameMembers(labelled, [`red ${red}`, `red ${red}`, `blue ${blue}`])
      }
      assert.deepStrictEqual(yield* readAsset(uuid, "metaTags"), { ...(yield* readAsset(uuid)), metaTags: tags })
      expectError(yield* send("GET", `/v1/assets/${uuid}/meta-tags?locale=xx`), 400, "InvalidLocaleError")
      // Sending back what was read changes nothing.
      const { editedAt } = yield* readAsset(uuid)
      assert.strictEqual((yield* patch(uuid, tags)).status, 200)
      assert.strictEqual((yield* readAsset(uuid)).editedAt, editedAt)
    })
  )

  it.effect("meta tag values are merged by key: null removes, other keys are kept, a change is an edit", () =>
    Effect.gen(function* () {
      const uuid = yield* createAsset({ metaTags: inputs({ line: "abc", count: 3, colours: ["red"] }) })
      const { createdAt, editedAt } = yield* readAsset(uuid)
      assert.strictEqual(createdAt, editedAt)
      const flag = (yield* send("GET", "/v1/meta-tags?filter=key:equals:flag")).body.data[0].uuid
      yield* patch(uuid, [
        { key: "count", value: null },
        { uuid: flag.toUpperCase(), value: true },
        { key: "line", value: " xyz " }
      ])
      assert.deepStrictEqual(yield* valuesOf(uuid), { line: "xyz", flag: true, colours: ["red"] })
      const edited = yield* readAsset(uuid)
      assert.isTrue(edited.editedAt > editedAt)
      for (const same of [
        [],
        [{ key: "count", value: null }],
        [{ key: "line", value: "xyz" }],
        [{ key: "colours", value: ["red", "red"] }]
      ]) {
        assert.strictEqual((yield* patch(uuid, same)).status, 200)
        assert.deepStrictEqual(yield* readAsset(uuid), edited)
      }
      const keys = ["prose", "ratio", "link", "colour"]
      yield* Effect.forEach(
        keys,
        (key, index) => patch(uuid, [{ key, value: ["a", 1.5, "https://a.nl", "blue"][index] }]),
        { concurrency: 4 }
      )
      assert.containsAllKeys(yield* valuesOf(uuid), keys)
      yield* patch(uuid, [{ key: "colours", value: [] }])
      assert.notProperty(yield* valuesOf(uuid), "colours")
    })
  )

  it.effect(
    "the ETag of meta tag values, read in any locale, is an If-Match of their update until a value changes",
    () =>
      Effect.gen(function* () {
        const uuid = yield* createAsset({ metaTags: inputs({ colour: "red", line: "abc" }) })
        const path = `/v1/assets/${uuid}/meta-tags`
        const tagOf = (query = "") => Effect.map(send("GET", `${path}${query}`), ({ headers }) => headers.get("etag")!)
        const update = (value: string, tag: string) =>
          send("PATCH", path, { body: { metaTags: [{ key: "line", value }] }, headers: { "if-match": tag } })
        const [plain, dutch] = [yield* tagOf(), yield* tagOf("?locale=nl")]
        assert.notStrictEqual(plain, dutch)
        const focalPoint = { x: 0.5, y: 0.5 }
        assert.strictEqual((yield* send("PATCH", `/v1/assets/${uuid}`, { body: { focalPoint } })).status, 200)
        assert.strictEqual((yield* update("abc", plain)).status, 200)
        assert.strictEqual((yield* update("xyz", dutch)).status, 200)
        for (const stale of [plain, dutch]) expectError(yield* update("abc", stale), 412, "PreconditionFailedError")
        assert.strictEqual((yield* valuesOf(uuid))["line"], "xyz")
        assert.strictEqual((yield* update("abc", `"other", ${yield* tagOf()}`)).status, 200)
      })
  )

  it.effect("all invalid meta tag values are reported at once with a code, and nothing is written", () =>
    Effect.gen(function* () {
      const uuid = yield* createAsset({ metaTags: [{ key: "fixed", value: "a" }] })
      const gone = options.map((one) => ({ ...one, active: one.key !== "gone" }))
      const colour = (yield* send("GET", "/v1/meta-tags?filter=key:equals:colour")).body.data[0].uuid
      assert.strictEqual((yield* send("PATCH", `/v1/meta-tags/${colour}`, { body: { options: gone } })).status, 200)
      const wrong: ReadonlyArray<readonly [string, unknown, string]> = [
        ["nonsense", 1, "unknownKey"],
        ["line", "a", "tooShort"],
        ["prose", "a".repeat(10_001), "tooLong"],
        ["count", 11, "outOfRange"],
        ["ratio", "1", "wrongType"],
        ["flag", 1, "wrongType"],
        ["day", "2026-02-29", "wrongType"],
        ["moment", "2026-02-28", "wrongType"],
        ["link", "example.com", "wrongType"],
        ["colour", "gone", "inactiveOption"],
        ["colours", ["green"], "unknownOption"],
        ["fixed", "b", "notEditable"],
        ["photoOnly", "a", "notApplicable"]
      ]
      const bad = wrong.map(([key, value]) => ({ key, value }))
      const before = yield* readAsset(uuid, "metaTags")
      const body = expectError(
        yield* patch(
          uuid,
          [{ key: "line", value: "good" }, ...bad.slice(1), bad[0]!].slice(1).concat({ key: "nothing", value: null })
        ),
        400,
        "MetaTagValidationError"
      )
      assert.sameMembers(codesOf(body), [...wrong.map(([key, , code]) => `${key} ${code}`), "nothing unknownKey"])
      for (const [metaTags, codes] of [
        [inputs({ line: "good", count: 1.5 }), ["count wrongType"]],
        [inputs({ line: "ABC" }), ["line pattern"]],
        [inputs({ line: "abcdef" }), ["line tooLong"]],
        [inputs({ colours: ["red", "blue", "gone"] }), ["colours tooMany"]],
        [inputs({ colours: "red" }), ["colours wrongType"]],
        [
          [
            { key: "flag", value: true },
            { key: "flag", value: false }
          ],
          ["flag tooMany"]
        ],
        [[{ key: "flag", uuid: unknownUuid, value: true }], ["flag unknownKey"]],
        [[{ uuid: unknownUuid, value: true }], [`${unknownUuid} unknownKey`]]
      ] as const) {
        const answer = yield* patch(uuid, metaTags)
        expectError(answer, 400, "MetaTagValidationError")
        assert.deepStrictEqual(codesOf(answer.body), [...codes])
      }
      assert.deepStrictEqual(yield* readAsset(uuid, "metaTags"), before)
      const fileUuid = yield* fileRow("rejected.txt")
      const created = yield* send("POST", "/v1/assets", { body: { fileUuid, metaTags: bad } })
      expectError(created, 400, "MetaTagValidationError")
      assert.sameMembers(
        codesOf(created.body),
        wrong.filter(([, , code]) => code !== "notEditable").map(([key, , code]) => `${key} ${code}`)
      )
      assert.strictEqual((yield* send("POST", "/v1/assets", { body: { fileUuid } })).status, 201)
      for (const body of [
        {},
        { metaTags: null },
        { metaTags: {} },
        { metaTags: [{ value: 1 }] },
        { metaTags: [{ key: "flag" }] }
      ]) {
        const answer = yield* send("PATCH", `/v1/assets/${uuid}/meta-tags`, { body })
        expectError(answer, 400, "InvalidRequestError", JSON.stringify(body))
      }
      expectError(yield* patch(unknownUuid, bad), 404, "AssetNotFoundError")
    })
  )

  it.effect("a meta tag value that is nested 100,000 levels deep has the wrong type", () =>
    Effect.gen(function* () {
      const key = "deeply"
      yield* createMetaTag({ key, type: "multiSelect", options })
      const uuid = yield* createAsset({ metaTags: [{ key, value: ["red"] }] })
      for (const [open, innermost, close] of [
        ["[", "", "]"],
        ['{"a":', "1", "}"]
      ] as const) {
        const value = open.repeat(100_000) + innermost + close.repeat(100_000)
        const raw = `{"metaTags":[{"key":"${key}","value":${value}}]}`
        const answer = yield* send("PATCH", `/v1/assets/${uuid}/meta-tags`, { raw })
        expectError(answer, 400, "MetaTagValidationError", open)
        assert.deepStrictEqual(codesOf(answer.body), [`${key} wrongType`])
      }
    })
  )
})

/** Where a transaction waits for locks as long as in production. */
const impatient = TestServer.limited().pipe(
  Layer.provide([Postgres.patienceBut({ lockMillis: 2000 }), TestServer.patience])
)

layer(impatient, { excludeTestServices: true })("Meta tags of assets while a definition is deleted", (it) => {
  it.effect("an asset without values is created at once, and values wait until the deletion ends", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      yield* createMetaTag({ key: "line", type: "text" })
      const metaTags = [{ key: "line", value: "abc" }]
      const existing = yield* createAsset()
      const [plain, valued] = yield* Effect.all([
        Effect.replicateEffect(fileRow("plain.txt"), 6),
        Effect.replicateEffect(fileRow("valued.txt"), 8)
      ])
      const create = (fileUuid: string, more: Fields = {}) =>
        send("POST", "/v1/assets", { body: { fileUuid, ...more } })
      const waiting = yield* pooled.withTransaction(
        Effect.gen(function* () {
          yield* pooled`select pg_advisory_xact_lock(hashtext('waypost'), hashtext('meta_tag_definitions'))`
          const writes = [...valued.map((file) => create(file, { metaTags })), patch(existing, metaTags)]
          const waiting = yield* Effect.forkChild(Effect.all(writes, { concurrency: "unbounded" }))
          // Longer than a transaction waits for other locks.
          for (const file of plain) {
            yield* Effect.sleep("500 millis")
            const { status, text } = yield* create(file)
            assert.strictEqual(status, 201, text)
          }
          assert.isUndefined(waiting.pollUnsafe())
          return waiting
        })
      )
      assert.deepStrictEqual(
        (yield* Fiber.join(waiting)).map(({ status }) => status),
        [...valued.map(() => 201), 200]
      )
      assert.deepStrictEqual(yield* valuesOf(existing), { line: "abc" })
    })
  )
})

layer(impatient, { excludeTestServices: true })("Meta tags and categories while assets are written", (it) => {
  it.effect("changes of a meta tag and of a category wait for a long write of assets that have them", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const changed = yield* createMetaTag({ key: "changed", type: "text" })
      const removed = yield* createMetaTag({ key: "removed", type: "text" })
      const parentUuid = yield* createCategory({ key: "above" })
      const category = yield* createCategory({ key: "below" })
      const waiting = yield* pooled.withTransaction(
        Effect.gen(function* () {
          yield* pooled`select pg_advisory_xact_lock_shared(hashtext('waypost'), hashtext('meta_tag_definitions'))`
          yield* pooled`select from asset_categories where uuid = ${category} for share`
          const writes = [
            send("PATCH", `/v1/meta-tags/${changed}`, { body: { position: 3 } }),
            send("DELETE", `/v1/meta-tags/${removed}`),
            send("PATCH", `/v1/asset-categories/${category}`, { body: { position: 3 } }),
            send("PATCH", `/v1/asset-categories/${category}`, { body: { parentUuid } })
          ]
          const waiting = yield* Effect.forkChild(Effect.all(writes, { concurrency: "unbounded" }))
          // Longer than a transaction waits for other locks.
          yield* Effect.sleep("3 seconds")
          return waiting
        })
      )
      const responses = yield* Fiber.join(waiting)
      for (const { status, text } of responses) assert.strictEqual(status, 200, text)
    })
  )
})
