import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { operatorsOf } from "../../../src/domain/query/FilterConditions.ts"
import { type Answered, type Asked, matches, valuesAt, write } from "../../support/filters/FilterOracle.ts"
import * as FilterSamples from "../../support/filters/FilterSamples.ts"
import * as TestServer from "../../support/TestServer.ts"
import { createAsset, createAssets, createMetaTag } from "../../support/requests/AssetRequests.ts"
import { expectError, send } from "../../support/requests/Requests.ts"

const { below, chance, instant, pick, random, text } = FilterSamples.make(20_261_214)

const options = ["spring", "Spring", "a,b", 'with "quotes"', "50%_", "İstanbul", "ΣΑΣ", "back\\slash"]
const some = () => [...new Set(Array.from({ length: 1 + below(3) }, () => pick(options)))]

/** A meta tag of each type: how a filter compares it, and a value. */
const types: Readonly<Record<string, readonly [kind: Asked["kind"], value: () => unknown]>> = {
  text: ["string", text],
  longText: ["string", () => `${text()}\n\t${text()}`],
  url: ["string", () => pick(["https://example.com/a_b?c=%20", "http://example.com/İ"])],
  integer: ["number", () => below(20) - 10],
  decimal: ["number", () => pick([0, 0.1, -2.5, 1e-7, 12_345_678.9])],
  boolean: ["boolean", () => chance(0.5)],
  date: ["date", () => instant().slice(0, 10)],
  dateTime: ["date", instant],
  select: ["enum", () => pick(options)],
  multiSelect: ["enum", some]
}
const kinds = Object.entries(types)

/** What a filter of one kind is asked besides the values of assets. */
const edges: Readonly<Record<Asked["kind"], ReadonlyArray<string>>> = {
  string: ["", "%", "_", '"', "\\", "nowhere", "0"],
  enum: ["spring"],
  uuid: [],
  number: ["0", "-0", "1e300", "0.1"],
  day: [],
  date: ["0001-01-01", "2024-02-29", "9999-12-31", "9999-12-31T23:59:59.999Z"],
  boolean: ["true", "false"]
}

const find = (filter: string, path = "/v1/assets") => send("GET", `${path}?filter=${encodeURIComponent(filter)}`)

/** The assets as the reference implementation compares them: each value is also under its key. */
const records = Effect.map(send("GET", "/v1/assets?limit=500&include=metaTags"), ({ body }): ReadonlyArray<Answered> =>
  body.data.map((asset: { readonly metaTags: ReadonlyArray<{ readonly key: string; readonly value: unknown }> }) => ({
    ...asset,
    metaTags: asset.metaTags.map((tag) => ({ ...tag, [tag.key]: tag.value }))
  }))
)

const seed = Effect.gen(function* () {
  for (const [type] of kinds) {
    const listed = type.toLowerCase().endsWith("select") ? { options: options.map((key) => ({ key })) } : {}
    yield* createMetaTag({ key: `${type}_Tag9`, type, filterable: true, ...listed })
  }
  const assets = Array.from({ length: 80 }, () => {
    const metaTags = kinds
      .filter(() => chance(0.6))
      .map(([type, [, value]]) => ({ key: `${type}_Tag9`, value: value() }))
    return { fields: { metaTags } }
  })
  yield* createAssets(assets)
})

layer(TestServer.layer(), { excludeTestServices: true })("Filters on the meta tags of assets", (it) => {
  it.effect("a meta tag of each type is filtered by each operator of its kind, like a member of the asset", () =>
    Effect.gen(function* () {
      yield* seed
      const all = yield* records
      let asked = 0
      let selective = 0
      for (const [type, [kind]] of kinds) {
        const field = `metaTags.${type}_Tag9`
        const found = all.flatMap((asset) => valuesAt(asset, field.split("."))).map(String)
        for (const operator of operatorsOf[kind]) {
          const some = [...Array.from({ length: 5 }, () => pick(found)), ...edges[kind]]
          for (const taken of operator === "exists" ? ["true", "false"] : some) {
            const value = operator === "contains" ? Array.from(taken).slice(1, 6).join("") : taken
            const values = operator === "in" ? [value, pick(found)] : [value]
            const conditions = [{ field, kind, operator, value, values, not: chance(0.2) }]
            const filter = write(conditions, random)
            const expected = all.filter((asset) => matches(asset, conditions)).map(({ uuid }) => uuid)
            const path = asked++ % 2 === 0 ? "/v1/assets" : "/v1/assets/search"
            const {
              body,
              status,
              text: answer
            } = yield* send("GET", `${path}?limit=500&fields=uuid&filter=${encodeURIComponent(filter)}`)
            assert.strictEqual(status, 200, `${filter} ${answer}`)
            assert.strictEqual(body.pagination.total, expected.length, filter)
            assert.sameMembers(
              body.data.map(({ uuid }: Answered) => uuid),
              expected,
              filter
            )
            if (expected.length > 0 && expected.length < all.length) selective++
          }
        }
      }
      assert.isAbove(selective, 150)
    })
  )

  it.effect("conditions on meta tags are combined with each other and with conditions on members", () =>
    Effect.gen(function* () {
      const all = yield* records
      const conditions: ReadonlyArray<Asked> = [
        { field: "metaTags.integer_Tag9", kind: "number", operator: "gte", value: "-5" },
        { field: "fileExtension", kind: "string", operator: "equals", value: "txt" },
        { field: "metaTags.boolean_Tag9", kind: "boolean", operator: "equals", value: "true" },
        { field: "metaTags.key", kind: "string", operator: "equals", value: "select_Tag9" }
      ]
      const { body } = yield* find(write(conditions, random))
      const expected = all.filter((asset) => matches(asset, conditions))
      assert.isNotEmpty(expected)
      assert.strictEqual(body.pagination.total, expected.length)
    })
  )

  it.effect("a filter on an unknown or unfilterable meta tag is rejected and names the nearest keys", () =>
    Effect.gen(function* () {
      yield* createMetaTag({ key: "internal", type: "text" })
      for (const [condition, suggestions] of [
        ["metaTags.selectTag9:equals:spring", ["metaTags.select_Tag9"]],
        ["metaTags.nothingLikeIt:equals:spring", []],
        ["metaTags.optoins.key:equals:a", ["metaTags.options.key"]],
        ["metaTags.text_Tag9.x:equals:a", ["metaTags.text_Tag9"]],
        ["metaTags.:equals:a", []],
        ["metaTags.' or true --:equals:a", []],
        ["metaTags.constructor:equals:a", []],
        ["metaTags.a\u0000b:equals:a", []]
      ] as const) {
        const body = expectError(yield* find(`fileSize:gte:0,${condition}`), 400, "InvalidFilterError", condition)
        const field = condition.slice(0, condition.indexOf(":"))
        assert.deepInclude(body, { code: "unknownField", condition, index: 1, position: 15 }, condition)
        assert.include(body.message, `"${field}"`)
        assert.includeMembers(body.suggestions, [...suggestions], condition)
      }
      const hidden = expectError(yield* find("metaTags.Internal:equals:a"), 400, "InvalidFilterError")
      assert.strictEqual(hidden.code, "unknownField")
      assert.include(hidden.message, '"metaTags.Internal" is not filterable')
      assert.strictEqual((yield* find("metaTags:equals:a")).body.code, "unknownField")
    })
  )

  it.effect("operators and values are checked by the type of the meta tag", () =>
    Effect.gen(function* () {
      for (const [condition, code, expected] of [
        ["metaTags.integer_Tag9:contains:1", "operatorNotAllowed", "gte"],
        ["metaTags.text_Tag9:gt:1", "operatorNotAllowed", "startsWith"],
        ["metaTags.boolean_Tag9:equals:yes", "invalidValue", "true or false"],
        ["metaTags.decimal_Tag9:lt:ten", "invalidValue", "a number"],
        ["metaTags.date_Tag9:equals:2024-02-30", "invalidValue", "YYYY-MM-DD"],
        ["metaTags.select_Tag9:equals:winter", "invalidValue", "spring"],
        ["metaTags.multiSelect_Tag9:equals:SPRING", "invalidValue", "Spring"],
        ["metaTags.text_Tag9:like:a", "unknownOperator", "contains"],
        ["metaTags.text_Tag9:equals:a\u0000b", "invalidValue", "no text can hold"],
        ["metaTags.text_Tag9", "syntax", "field:operator:value"]
      ] as const) {
        const body = expectError(yield* find(condition), 400, "InvalidFilterError", condition)
        assert.strictEqual(body.code, code, condition)
        assert.include(body.message, expected)
      }
    })
  )

  it.effect("an option that is not among the first hundred is found, and an error lists a hundred", () =>
    Effect.gen(function* () {
      const keys = Array.from({ length: 300 }, (_, index) => `option ${index}`)
      yield* createMetaTag({
        key: "many",
        type: "select",
        filterable: true,
        options: keys.map((key) => ({ key }))
      })
      const uuid = yield* createAsset({ metaTags: [{ key: "many", value: "option 299" }] })
      const { body } = yield* find("metaTags.many:equals:option 299")
      assert.deepStrictEqual(
        body.data.map((asset: Answered) => asset.uuid),
        [uuid]
      )
      const error = expectError(yield* find("metaTags.many:equals:option 300"), 400, "InvalidFilterError")
      assert.deepStrictEqual(error.suggestions, keys.slice(0, 100))
      assert.isTrue(error.message.endsWith("option 99, …"))
    })
  )

  it.effect("keys that differ only by case match as written, and members of the answer win over keys", () =>
    Effect.gen(function* () {
      for (const key of ["shade", "shadE", "value", "options", "type", "toString"]) {
        yield* createMetaTag({ key, type: "text", filterable: true })
      }
      const asset = (key: string) => createAsset({ metaTags: [{ key, value: `of ${key}` }] })
      const uuids: Record<string, string> = {}
      for (const key of ["shade", "shadE", "value", "options", "type", "toString"]) uuids[key] = yield* asset(key)
      for (const key of ["shade", "shadE", "value", "options", "toString"]) {
        const { body } = yield* find(`metaTags.${key}:startsWith:OF`)
        assert.deepStrictEqual(
          body.data.map(({ uuid }: Answered) => uuid),
          [uuids[key]],
          key
        )
      }
      const both = expectError(yield* find("metaTags.SHADE:startsWith:of"), 400, "InvalidFilterError")
      assert.sameMembers(both.suggestions, ["metaTags.shade", "metaTags.shadE"])
      // The type of a value, which the answer has under this name.
      const type = yield* find("metaTags.type:equals:text,metaTags.key:equals:toString")
      assert.strictEqual(type.body.pagination.total, 1)
    })
  )

  it.effect("labels of options match in every locale, and an option without labels by its key", () =>
    Effect.gen(function* () {
      const translations = [
        { locale: "en", label: "Winter sale" },
        { locale: "nl", label: "Winteruitverkoop" }
      ]
      yield* createMetaTag({
        key: "campaign",
        type: "multiSelect",
        options: [{ key: "w-1", translations }, { key: "plain-2" }, { key: "unused-3" }]
      })
      const uuid = yield* createAsset({ metaTags: [{ key: "campaign", value: ["w-1", "plain-2"] }] })
      yield* createAsset({ metaTags: [{ key: "campaign", value: ["plain-2"] }] })
      for (const [condition, total] of [
        ["label:equals:Winter sale", 1],
        ["label:contains:uitverkoop", 1],
        ["label:equals:plain-2", 2],
        ["label:equals:w-1", 0],
        ["key:startsWith:W-", 1],
        ["key:equals:unused-3", 0]
      ] as const) {
        const { body } = yield* find(`metaTags.options.${condition}`)
        assert.strictEqual(body.pagination.total, total, condition)
      }
      const { body } = yield* send("GET", `/v1/assets/${uuid}?include=metaTags`)
      for (const { key, uuid: option } of body.data.metaTags[0].options) {
        const found = yield* find(`metaTags.options.uuid:equals:${option}`)
        assert.strictEqual(found.body.pagination.total, key === "w-1" ? 1 : 2)
      }
    })
  )
})
