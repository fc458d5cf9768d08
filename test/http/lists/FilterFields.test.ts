import { assert, layer } from "@effect/vitest"
import { Effect, type Schema } from "effect"
import { AssetCategory } from "../../../src/domain/assets/AssetCategory.ts"
import { operatorsOf } from "../../../src/domain/query/FilterConditions.ts"
import { type Field, filterableOf } from "../../../src/domain/query/FilterFields.ts"
import { MetaTagDefinition } from "../../../src/domain/assets/metaTags/MetaTag.ts"
import * as TestServer from "../../support/TestServer.ts"
import { send, unknownUuid } from "../../support/requests/Requests.ts"

const name = [{ locale: "en", name: "a" }]

/** The path of each list, its schema, and a record with a value for every field. */
const lists: ReadonlyArray<readonly [path: string, record: Schema.Top, body: object]> = [
  ["/v1/asset-categories", AssetCategory, { key: "a", translations: name }],
  [
    "/v1/meta-tags",
    MetaTagDefinition,
    {
      key: "a",
      type: "multiSelect",
      translations: [{ ...name[0], helpText: "a" }],
      categories: ["a"],
      group: { key: "a", translations: name },
      validation: { maxItems: 1 },
      options: [
        { key: "a", uuid: unknownUuid, translations: [{ locale: "en", label: "a" }] },
        { key: "b", parentOptionUuid: unknownUuid }
      ]
    }
  ]
]

const valueOf = ({ kind, values }: Field): string => {
  switch (kind) {
    case "number":
      return "1"
    case "boolean":
      return "true"
    case "date":
    case "day":
      return "2026-01-31"
    case "uuid":
      return unknownUuid
    case "enum":
      return values[0]!
    case "string":
      return "a"
  }
}

layer(TestServer.layer(), { excludeTestServices: true })("Filters on records with lists of objects", (it) => {
  for (const [path, record, body] of lists) {
    it.effect(`every field of ${path} can be filtered with every operator of its kind`, () =>
      Effect.gen(function* () {
        assert.strictEqual((yield* send("POST", path, { body })).status, 201)
        for (const field of filterableOf(record)) {
          for (const operator of operatorsOf[field.kind]) {
            const value = { in: `(${valueOf(field)})`, exists: "true" }[operator as string] ?? valueOf(field)
            const answer = yield* send("GET", `${path}?filter=${field.path}:${operator}:${value}`)
            assert.strictEqual(answer.status, 200, `${field.path} ${operator}: ${answer.text}`)
          }
        }
      })
    )
  }

  it.effect("signed addresses are unknown to a filter", () =>
    Effect.gen(function* () {
      for (const [path, field] of [
        ["/v1/assets", "urls.original"],
        ["/v1/assets/search", "urls.cdnUrl"],
        ["/v1/locations", "media.logo.urls.preview"],
        ["/v1/locations", "media.items.urls.thumbnail"],
        ["/v1/products", "thumbnailUrl"]
      ]) {
        const { body, status } = yield* send("GET", `${path}?filter=${field}:contains:a`)
        assert.strictEqual(status, 400, field)
        assert.strictEqual(body._tag, "InvalidFilterError")
        assert.strictEqual(body.code, "unknownField")
        assert.include(body.message, `"${field}"`)
        assert.notInclude(body.suggestions, field)
      }
    })
  )
})
