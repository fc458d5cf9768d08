import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import * as TestServer from "../../support/TestServer.ts"
import { expectError, problemsOf, send, unique, unknownUuid } from "../../support/requests/Requests.ts"

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

layer(TestServer.layer({ LOCALES: "nl,nl-NL,en" }), { excludeTestServices: true })("Meta tags", (it) => {
  it.effect("a meta tag requires a key and a type, and has the defaults of the model", () =>
    Effect.gen(function* () {
      const { createdAt, editedAt, uuid: _, ...rest } = yield* read(yield* create({ key: " season ", type: "select" }))
      assert.deepStrictEqual(rest, {
        key: "season",
        type: "select",
        translations: [],
        categories: [],
        options: [],
        position: 0,
        required: false,
        filterable: false,
        searchable: false,
        editable: true
      })
      assert.strictEqual(createdAt, editedAt)
    })
  )

  it.effect("a meta tag is read back with all its members, and sending it back changes nothing", () =>
    Effect.gen(function* () {
      const logos = yield* category({ key: "logos" })
      const sent = {
        key: "full",
        type: "multiSelect",
        required: true,
        filterable: true,
        searchable: true,
        editable: false,
        translations: [{ locale: "nl_nl", name: " Kleuren ", helpText: "a\nb" }],
        categories: ["photos", logos.toUpperCase(), "logos"],
        group: { key: "look", translations: [{ locale: "en", name: "Look" }], position: 2 },
        validation: { maxItems: 2 },
        defaultValue: ["red", "red"],
        options: [
          { key: "red", uuid: unknownUuid, translations: [{ locale: "en", label: "Red" }] },
          { key: "dark-red", parentOptionUuid: unknownUuid, active: false, position: 9 }
        ],
        position: 4
      }
      yield* category({ key: "photos" })
      const uuid = yield* create(sent)
      const returned = yield* read(uuid)
      const [red, dark] = returned.options
      assert.notStrictEqual(red.uuid, unknownUuid)
      assert.deepStrictEqual(
        { ...returned, createdAt: 0, editedAt: 0 },
        {
          ...sent,
          uuid,
          createdAt: 0,
          editedAt: 0,
          defaultValue: ["red"],
          categories: ["logos", "photos"],
          translations: [{ locale: "nl-NL", name: "Kleuren", helpText: "a\nb" }],
          options: [
            { uuid: red.uuid, key: "red", translations: [{ locale: "en", label: "Red" }], position: 0, active: true },
            {
              uuid: dark.uuid,
              key: "dark-red",
              translations: [],
              position: 9,
              active: false,
              parentOptionUuid: red.uuid
            }
          ]
        }
      )
      for (const same of [{}, returned, { categories: sent.categories, defaultValue: ["red"] }]) {
        assert.deepStrictEqual((yield* patch(uuid, same)).body, { _tag: "Success", data: { uuid } })
        assert.deepStrictEqual(yield* read(uuid), returned)
      }
    })
  )

  it.effect("a meta tag update changes only the named members, merges nested ones, and null clears", () =>
    Effect.gen(function* () {
      yield* category({ key: "cleared" })
      const uuid = yield* create({
        validation: { minLength: 2, maxLength: 9 },
        group: { key: "a", position: 3 },
        defaultValue: "bbb",
        translations: [{ locale: "nl", name: "A" }],
        categories: ["cleared"]
      })
      const before = yield* read(uuid)
      const change = {
        required: true,
        validation: { minLength: null, pattern: "b+" },
        group: { key: "c" },
        position: 1
      }
      yield* patch(uuid, change)
      const after = yield* read(uuid)
      assert.isTrue(after.editedAt > before.editedAt)
      assert.deepStrictEqual(after, {
        ...before,
        required: true,
        position: 1,
        editedAt: after.editedAt,
        validation: { maxLength: 9, pattern: "b+" },
        group: { key: "c", translations: [], position: 3 }
      })
      const none = {
        validation: null,
        group: null,
        defaultValue: null,
        translations: null,
        categories: null,
        options: null
      }
      assert.strictEqual((yield* patch(uuid, none)).status, 200)
      const { defaultValue: _d, group: _g, validation: _v, ...rest } = after
      const cleared = yield* read(uuid)
      assert.deepStrictEqual(cleared, { ...rest, translations: [], categories: [], editedAt: cleared.editedAt })
    })
  )

  it.effect("a change of only the categories of a meta tag is an edit", () =>
    Effect.gen(function* () {
      const [a, b] = [yield* category({ key: "only-a" }), yield* category({ key: "only-b" })]
      const uuid = yield* create({ categories: ["only-a"] })
      const before = yield* read(uuid)
      yield* patch(uuid, { categories: [b, a] })
      const after = yield* read(uuid)
      assert.deepStrictEqual(after, { ...before, categories: ["only-a", "only-b"], editedAt: after.editedAt })
      assert.isTrue(after.editedAt > before.editedAt)
    })
  )

  it.effect(
    "all meta tags together have at most 16 MiB: more is an error, and those above it are read and made smaller",
    () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const options = (count: number) => ({
          options: Array.from({ length: count }, (_, index) => ({
            key: `o${index}`,
            translations: [{ locale: "en", label: "a".repeat(100) }]
          }))
        })
        const most = { type: "select", ...options(500) }
        const some = { type: "select", ...options(200) }
        const tooMuch = [400, "InvalidRequestError", "options tooMuch"]
        const filling = yield* create()
        const uuid = yield* create({ type: "select" })
        yield* pooled`
        update meta_tag_definitions set translations = jsonb_build_array(jsonb_build_object('locale', 'en', 'name',
            repeat('a', (16777216 - 80000 - (select sum(delta) from row_counts where relation = 'meta_tag_definitions.bytes'))::int)))
          where uuid = ${filling}`
        assert.deepStrictEqual(problemsOf(yield* post(most)), tooMuch)
        assert.deepStrictEqual(problemsOf(yield* patch(uuid, options(500))), tooMuch)
        const operation = { op: "create", data: { key: "bulk", ...most } }
        const bulk = yield* send("POST", "/v1/meta-tags/bulk", { body: { operations: [operation] } })
        assert.deepStrictEqual(bulk.body.counts, { 400: 1 }, bulk.text)
        const both = yield* Effect.all([post(some), post(some)], { concurrency: 2 })
        assert.sameMembers(
          both.map(({ status }) => status),
          [201, 400]
        )
        // As many as the version before may have left.
        const add = (bytes: number) =>
          pooled`insert into row_counts (relation, delta) values ('meta_tag_definitions.bytes', ${bytes}::bigint)`
        yield* patch(uuid, options(3))
        yield* add(16 * 1024 ** 2)
        assert.lengthOf((yield* read(uuid)).options, 3)
        for (const change of [{ required: true }, options(3), options(2)]) {
          assert.strictEqual((yield* patch(uuid, change)).status, 200)
        }
        assert.deepStrictEqual(problemsOf(yield* patch(uuid, options(3))), tooMuch)
        assert.deepStrictEqual(problemsOf(yield* post()), tooMuch)
        yield* add(-16 * 1024 ** 2)
        yield* send("DELETE", `/v1/meta-tags/${filling}`)
        assert.strictEqual((yield* post(most)).status, 201)
        const [sums] = yield* pooled`
        select (select sum(delta) from row_counts where relation = 'meta_tag_definitions.bytes')
          = (select sum(waypost_meta_tag_bytes(d)) from meta_tag_definitions d) as "areEqual"`
        assert.deepStrictEqual(sums, { areEqual: true })
      })
  )

  it.effect("a deleted meta tag is a 404 and its key is free", () =>
    Effect.gen(function* () {
      const uuid = yield* create({ key: "gone", categories: [yield* category()] })
      assert.deepStrictEqual((yield* send("DELETE", `/v1/meta-tags/${uuid}`)).body, { _tag: "Success", data: { uuid } })
      for (const [method, sent] of [
        ["GET", {}],
        ["DELETE", {}],
        ["PATCH", { body: {} }]
      ] as const) {
        const body = expectError(yield* send(method, `/v1/meta-tags/${uuid}`, sent), 404, "MetaTagNotFoundError")
        assert.strictEqual(body.uuid, uuid)
      }
      assert.notStrictEqual(yield* create({ key: "gone" }), uuid)
    })
  )

  it.effect("meta tags can be filtered by every member and sorted by the sortable ones", () =>
    Effect.gen(function* () {
      const logos = yield* category({ key: "find-logos" })
      const uuid = yield* create({
        key: "findMe",
        type: "select",
        required: true,
        position: 4,
        categories: [logos],
        group: { key: "look", position: 3, translations: [{ locale: "en", name: "Look" }] },
        translations: [{ locale: "nl", name: "Vind", helpText: "Hulp" }],
        options: [{ key: "a" }]
      })
      yield* create({ key: "findOther", type: "decimal", validation: { min: 1 } })
      const option = (yield* read(uuid)).options[0].uuid
      const found = (query: string) =>
        Effect.map(send("GET", `/v1/meta-tags?${query}`), ({ body, text }) =>
          body.data === undefined ? assert.fail(text) : body.data.map(({ key }: { readonly key: string }) => key)
        )
      for (const filter of [
        "key:equals:findMe",
        "type:equals:select",
        "required:equals:true",
        "position:gte:4",
        `uuid:equals:${uuid}`,
        "categories:equals:find-logos",
        "categories:contains:LOGOS",
        "group.key:equals:look",
        "group.position:gt:2",
        "group.translations.name:startsWith:loo",
        "translations.name:contains:vind",
        "translations.helpText:endsWith:p",
        "options.key:equals:a",
        "options.active:equals:true",
        "options.position:equals:0",
        `options.uuid:equals:${option}`,
        `options.uuid:contains:${option.slice(9, 20)}`
      ]) {
        assert.deepStrictEqual(yield* found(`filter=key:startsWith:find,${filter}`), ["findMe"], filter)
      }
      assert.deepStrictEqual(yield* found("filter=validation.min:equals:1"), ["findOther"])
      for (const [sortBy, first] of Object.entries({ key: "findMe", type: "findOther", position: "findOther" })) {
        const keys = yield* found(`filter=key:startsWith:find&sortBy=${sortBy}&sortOrder=asc`)
        assert.deepStrictEqual([keys.length, keys[0]], [2, first], sortBy)
      }
      assert.deepStrictEqual(yield* found("filter=key:startsWith:find&sortBy=createdAt"), ["findOther", "findMe"])
    })
  )
})
