import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Asset, AssetCreate, PartialAsset } from "../../src/domain/assets/Asset.ts"
import { AssetCategory, AssetCategoryCreate, PartialAssetCategory } from "../../src/domain/assets/AssetCategory.ts"
import {
  MetaTagDefinition,
  MetaTagDefinitionCreate,
  PartialMetaTagDefinition
} from "../../src/domain/assets/metaTags/MetaTag.ts"
import { PartialProduct, Product, ProductCreate } from "../../src/domain/catalog/Product.ts"
import { Location, LocationCreate, PartialLocation } from "../../src/domain/locations/Location.ts"
import { Group, GroupCreate, PartialGroup } from "../../src/domain/people/Group.ts"
import { PartialUser, User, UserCreate } from "../../src/domain/people/User.ts"
import { PartialPost, Post, PostCreate } from "../../src/domain/posts/Post.ts"
import type { Shaped } from "../../src/domain/write/Markers.ts"
import { readOnlyMembers } from "../../src/domain/write/Shape.ts"
import { fieldsOf } from "../../src/domain/query/FilterFields.ts"

const uuid = " 0198D9E4-7D0C-7B1E-8B54-9C5D2F6A1E30 "
const at = "2026-01-31T09:30:00.000Z"
const texts = (members: object) => [{ locale: "nl_nl", ...members }]
const address = { addressLine1: " Cafe\u0301 1 ", city: "Utrecht", countryCode: "nl", zipcode: "3511 AZ" }

const location = {
  name: " Cafe\u0301 ",
  identifier: "B 1",
  postalCodes: ["3511 AB", "3511 AB", "3512"],
  address,
  legal: { address },
  invoice: { name: "A", email: "a@example.com", address },
  contact: { email: "a@example.com", website: "HTTPS://example.com", phone: "+31 30 123 45 67", firstName: "A" },
  coordinates: { latitude: 52.0907374, longitude: 5.1214201 },
  locale: "nl-NL",
  other: { extraDna1: "a\nb" },
  status: "open",
  timezone: "Europe/Amsterdam",
  openingHours: [
    { day: 2, opens: "09:00", closes: "17:00" },
    { day: 1, opens: "20:00", closes: "02:00" }
  ],
  specialHours: [{ date: "2026-12-25", label: " Christmas Day ", periods: [] }]
}
const user = {
  username: "Anna",
  email: "Anna@example.com",
  firstName: " Anna ",
  lastName: "V",
  status: "active",
  role: "ROLE_USER",
  languageCode: "NL",
  countryCode: "nl",
  phone: "0301234567",
  externalId: "1"
}
const product = {
  type: "variant",
  identifier: "P",
  name: "P",
  description: "d",
  translations: texts({ name: " n ", description: "d" }),
  status: "draft",
  categories: ["a", "a"],
  tags: ["t"],
  visibleFrom: at,
  visibleUntil: at,
  position: 3,
  parentUuid: uuid,
  optionValues: [{ option: "size", value: " a4 " }]
}
const post = {
  slug: "a-b",
  type: "news",
  status: "draft",
  translations: texts({ title: " t ", excerpt: "e", body: "<p>b</p>" }),
  author: { uuid },
  coverAssetUuid: uuid,
  mediaAssetUuids: [uuid, uuid],
  categories: ["a"],
  tags: ["t", "t"],
  audience: { authorizationType: "groups", groups: [{ uuid }, { uuid }], locations: [{ uuid }] },
  callToAction: { type: "order", url: "https://example.com" },
  pinned: true,
  publishAt: at,
  expireAt: at
}
const asset = {
  fileUuid: uuid,
  translations: texts({ name: " n ", description: "d" }),
  validFrom: at,
  validUntil: at,
  focalPoint: { x: 0.5, y: 0.25 }
}
const metaTag = {
  key: "season",
  translations: texts({ name: " n ", helpText: "h" }),
  type: "select",
  required: true,
  filterable: true,
  searchable: true,
  editable: true,
  categories: ["a"],
  group: { key: "g", translations: texts({ name: "n" }), position: 1 },
  defaultValue: "a",
  validation: { maxItems: 2 },
  options: [{ key: "a", uuid, translations: texts({ label: "l" }), position: 1, active: true, parentOptionUuid: uuid }],
  position: 2
}
const category = { key: "a-b", translations: texts({ name: " n " }), parentUuid: uuid, position: 2 }

interface Resource {
  readonly name: string
  readonly record: Shaped & Schema.Top
  readonly create: Schema.Codec<unknown, unknown>
  readonly patch: Schema.Codec<unknown, unknown>
  readonly sample: object
}

const group = { name: " G ", description: "d", externalId: "1" }
const resources: ReadonlyArray<Resource> = [
  { name: "locations", record: Location, create: LocationCreate, patch: PartialLocation, sample: location },
  { name: "users", record: User, create: UserCreate, patch: PartialUser, sample: user },
  { name: "groups", record: Group, create: GroupCreate, patch: PartialGroup, sample: group },
  { name: "products", record: Product, create: ProductCreate, patch: PartialProduct, sample: product },
  { name: "posts", record: Post, create: PostCreate, patch: PartialPost, sample: post },
  { name: "assets", record: Asset, create: AssetCreate, patch: PartialAsset, sample: asset },
  {
    name: "metaTags",
    record: MetaTagDefinition,
    create: MetaTagDefinitionCreate,
    patch: PartialMetaTagDefinition,
    sample: metaTag
  },
  {
    name: "assetCategories",
    record: AssetCategory,
    create: AssetCategoryCreate,
    patch: PartialAssetCategory,
    sample: category
  }
]

/** Records binds decoded values without encoding them, which is right only while these hold. */
describe("Decoded values", () => {
  it.each(resources)("of $name are their own wire form, points in time aside", ({ create, patch, record, sample }) => {
    const members = new Set(fieldsOf(record).map(({ segments }) => segments[0]!))
    const readOnly = readOnlyMembers(record)
    const writable = [...members].filter((member) => !readOnly.includes(member))
    assert.includeMembers(Object.keys(sample), writable, "the sample sets every writable member")
    for (const schema of [create, patch]) {
      const decoded = Schema.decodeUnknownSync(schema)(sample)
      assert.deepStrictEqual(JSON.parse(JSON.stringify(decoded)), Schema.encodeUnknownSync(schema)(decoded))
    }
  })

  it.each(resources)("of $name have their points in time in columns of their own", ({ record }) => {
    const readOnly = readOnlyMembers(record)
    const nested = fieldsOf(record).filter(({ kind, segments }) => kind === "date" && segments.length > 1)
    assert.deepStrictEqual(
      nested.map(({ path }) => path).filter((path) => !readOnly.includes(path.split(".")[0]!)),
      []
    )
  })
})
