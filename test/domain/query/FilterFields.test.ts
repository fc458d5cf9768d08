import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { ApiKey } from "../../../src/domain/keys/ApiKey.ts"
import { Asset } from "../../../src/domain/assets/Asset.ts"
import { AssetCategory } from "../../../src/domain/assets/AssetCategory.ts"
import { Timestamp, Uuid } from "../../../src/domain/schema/Fields.ts"
import { CalendarDay } from "../../../src/domain/schema/Time.ts"
import { type Field, fieldsOf, filterableOf } from "../../../src/domain/query/FilterFields.ts"
import { Location } from "../../../src/domain/locations/Location.ts"
import { MetaTagDefinition } from "../../../src/domain/assets/metaTags/MetaTag.ts"
import { all } from "../../../src/domain/keys/Permission.ts"
import { Product } from "../../../src/domain/catalog/Product.ts"

const kinds = (record: Schema.Top) => Object.fromEntries(filterableOf(record).map(({ kind, path }) => [path, kind]))
const strings = (prefix: string, names: ReadonlyArray<string>) =>
  Object.fromEntries(names.map((name) => [`${prefix}${name}`, "string"]))
const address = ["addressLine1", "addressLine2", "attentionOf", "city", "zone", "countryCode", "zipcode"]
const field = (record: Schema.Top, path: string): Field =>
  fieldsOf(record).find((candidate) => candidate.path === path) ?? assert.fail(`no field ${path}`)

describe("filter fields", () => {
  const mediaItem = (prefix: string) => ({
    [`${prefix}uuid`]: "uuid",
    [`${prefix}assetUuid`]: "uuid",
    [`${prefix}fileUuid`]: "uuid",
    [`${prefix}role`]: "enum",
    [`${prefix}type`]: "enum",
    [`${prefix}position`]: "number"
  })

  it("the filter fields of a location are its members and media as dotted paths", () => {
    assert.deepStrictEqual(kinds(Location), {
      uuid: "uuid",
      ...strings("", ["name", "identifier", "postalCodes", "locale", "timezone"]),
      ...strings("address.", address),
      ...strings("legal.address.", address),
      ...strings("invoice.", ["name", "email"]),
      ...strings("invoice.address.", address),
      ...strings("contact.", ["email", "website", "phone", "mobile", "firstName"]),
      "coordinates.latitude": "number",
      "coordinates.longitude": "number",
      ...strings(
        "other.",
        Array.from({ length: 10 }, (_, index) => `extraDna${index + 1}`)
      ),
      status: "enum",
      "openingHours.day": "number",
      ...strings("openingHours.", ["opens", "closes"]),
      ...strings("specialHours.", ["label", "periods.opens", "periods.closes"]),
      "specialHours.date": "day",
      ...mediaItem("media.logo."),
      ...strings("media.logo.labels.", ["key", "locale", "label"]),
      ...mediaItem("media.items."),
      ...strings("media.items.labels.", ["key", "locale", "label"]),
      ...strings("translationLabels.", ["key", "locale", "label"]),
      createdAt: "date",
      editedAt: "date"
    })
  })

  it("the filter fields of an asset are its members, including extras", () => {
    assert.deepStrictEqual(kinds(Asset), {
      uuid: "uuid",
      ...strings("", ["fileExtension", "fileNameOriginal", "categories", "mimeType", "sha256"]),
      ...strings("translations.", ["locale", "name", "description"]),
      fileSize: "number",
      width: "number",
      height: "number",
      duration: "number",
      "metaTags.uuid": "uuid",
      "metaTags.key": "string",
      "metaTags.type": "enum",
      "metaTags.options.uuid": "uuid",
      ...strings("metaTags.options.", ["key", "label"]),
      processing: "enum",
      "focalPoint.x": "number",
      "focalPoint.y": "number",
      validFrom: "date",
      validUntil: "date",
      createdAt: "date",
      editedAt: "date"
    })
  })

  it("the filter fields of an API key exclude the hash and the id", () => {
    assert.deepStrictEqual(kinds(ApiKey), {
      uuid: "uuid",
      name: "string",
      prefix: "string",
      permissions: "enum",
      createdAt: "date",
      createdByKeyUuid: "uuid",
      expiresAt: "date",
      lastUsedAt: "date",
      revokedAt: "date",
      replacedByUuid: "uuid"
    })
    assert.deepStrictEqual(field(ApiKey, "permissions").values, all)
  })

  it.each([Location, ApiKey, Asset, AssetCategory, MetaTagDefinition])(
    "no two paths of a record differ only by case (%#)",
    (record) => {
      const paths = fieldsOf(record).map(({ path }) => path.toLowerCase())
      assert.strictEqual(new Set(paths).size, paths.length)
    }
  )

  it("leave out the addresses that every answer signs", () => {
    const signed = (record: Schema.Top) => fieldsOf(record).flatMap((one) => (one.signed ? [one.path] : []))
    const urls = ["original", "thumbnail", "preview"]
    assert.deepStrictEqual(
      signed(Asset),
      [...urls, "cdnUrl"].map((name) => `urls.${name}`)
    )
    assert.deepStrictEqual(
      signed(Location),
      ["media.logo", "media.items"].flatMap((item) => urls.map((name) => `${item}.urls.${name}`))
    )
    assert.deepStrictEqual(signed(Product), ["thumbnailUrl"])
    for (const record of [Asset, Location, Product]) {
      assert.isEmpty(filterableOf(record).filter((one) => one.signed))
    }
  })

  it("the kind of a filter field follows the encoded schema, through null, transformations and brands", () => {
    const record = Schema.Struct({
      id: Uuid.pipe(Schema.brand("Id")),
      at: Schema.NullOr(Timestamp),
      day: Schema.optionalKey(CalendarDay),
      count: Schema.Int,
      on: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
      state: Schema.Literals(["a", "b"]),
      one: Schema.Literal("only"),
      label: Schema.String.check(Schema.isMaxLength(5)),
      nothing: Schema.Null
    })
    assert.deepStrictEqual(kinds(record), {
      id: "uuid",
      at: "date",
      day: "day",
      count: "number",
      on: "boolean",
      state: "enum",
      one: "enum",
      label: "string"
    })
    assert.deepStrictEqual(field(record, "state").values, ["a", "b"])
  })

  it("a filter field reports the lists on its path and whether it is optional", () => {
    const record = Schema.Struct({
      name: Schema.String,
      tags: Schema.Array(Schema.String),
      translations: Schema.Array(Schema.Struct({ locale: Schema.String, name: Schema.optionalKey(Schema.String) })),
      media: Schema.optionalKey(
        Schema.Struct({
          items: Schema.Array(
            Schema.Struct({ uuid: Uuid, sizes: Schema.Array(Schema.Struct({ at: Schema.Array(Schema.Int) })) })
          ),
          title: Schema.String
        })
      )
    })
    assert.deepStrictEqual(
      fieldsOf(record).map(({ lists, optional, path }) => [path, lists, optional]),
      [
        ["name", [], false],
        ["tags", [1], true],
        ["translations.locale", [1], true],
        ["translations.name", [1], true],
        ["media.items.uuid", [2], true],
        ["media.items.sizes.at", [2, 3, 4], true],
        ["media.title", [], true]
      ]
    )
    assert.deepStrictEqual(field(record, "media.items.uuid").segments, ["media", "items", "uuid"])
  })
})
