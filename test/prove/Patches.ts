import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { createAsset, createCategory, createMetaTag, fileRow } from "../support/requests/AssetRequests.ts"
import { createPost } from "../support/requests/PostRequests.ts"
import { createGroup, createLocation, createProduct, createUser } from "../support/requests/ProductRequests.ts"
import { unique } from "../support/requests/Requests.ts"
import type { TestServer } from "../support/TestServer.ts"
import { createWebhook } from "../support/requests/WebhookRequests.ts"
import type { Sql } from "../../src/sql/Sql.ts"

/** A patch of one field, and the path of its value in the record. */
export interface Change {
  readonly body: unknown
  readonly path: ReadonlyArray<string>
  readonly value: unknown
}

/** A record and the patches of its fields. */
export interface Patched {
  readonly uuid: string
  readonly changes: ReadonlyArray<Change>
}

const nested = (path: ReadonlyArray<string>, value: unknown): unknown =>
  path.reduceRight((inner, member) => ({ [member]: inner }), value)

/** Patches of fields by their dotted paths, which are the same in the request and in the record. */
const fields = (values: Readonly<Record<string, unknown>>): ReadonlyArray<Change> =>
  Object.entries(values).map(([dotted, value]) => {
    const path = dotted.split(".")
    return { body: nested(path, value), path, value }
  })

const address = (of: string) =>
  Object.fromEntries(
    ["addressLine1", "addressLine2", "attentionOf", "city", "zone"]
      .map((member) => [`${of}.${member}`, `${of} ${member}`])
      .concat([
        [`${of}.countryCode`, "NL"],
        [`${of}.zipcode`, "3511 AB"]
      ])
  )

const location = Effect.gen(function* () {
  const uuid = yield* createLocation({ coordinates: { latitude: 1, longitude: 1 } })
  const contact = { email: "a@example.com", website: "https://example.com", phone: "+31 1", mobile: "+31 2" }
  const changes = fields({
    name: "Changed",
    identifier: unique("changed"),
    postalCodes: ["3511 AB"],
    locale: "nl-NL",
    ...address("address"),
    ...address("legal.address"),
    ...address("invoice.address"),
    "invoice.name": "Invoices",
    "invoice.email": "invoices@example.com",
    ...Object.fromEntries(Object.entries(contact).map(([member, value]) => [`contact.${member}`, value])),
    "contact.firstName": "Anna",
    "coordinates.latitude": 52.1,
    "coordinates.longitude": 5.1,
    ...Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`other.extraDna${index + 1}`, `DNA ${index}`]))
  })
  return { uuid, changes }
})

const user = Effect.gen(function* () {
  const uuid = yield* createUser({ status: "pending" })
  const changes = fields({
    username: unique("changed"),
    email: `${unique("changed")}@example.com`,
    firstName: "Anna",
    lastName: "de Vries",
    status: "active",
    role: "ROLE_ADMIN",
    languageCode: "nl",
    countryCode: "NL",
    phone: "+31 1",
    externalId: unique("external")
  })
  return { uuid, changes }
})

const group = Effect.gen(function* () {
  const [member, branch] = [yield* createUser(), yield* createLocation()]
  const uuid = yield* createGroup()
  const changes = [
    ...fields({ name: unique("Changed"), description: "Changed", externalId: unique("external") }),
    // A group shows the number of its members.
    { body: { users: [member] }, path: ["userCount"], value: 1 },
    { body: { locations: [branch] }, path: ["locationCount"], value: 1 }
  ]
  return { uuid, changes }
})

const product = Effect.gen(function* () {
  const parentUuid = yield* createProduct({ type: "variantParent" })
  const uuid = yield* createProduct({ type: "variant", parentUuid, optionValues: [{ option: "size", value: "a4" }] })
  const changes = fields({
    identifier: unique("changed"),
    name: "Changed",
    description: "Changed",
    translations: [{ locale: "nl", name: "Veranderd" }],
    status: "published",
    categories: ["flyers"],
    tags: ["new"],
    visibleFrom: "2026-01-01T00:00:00.000Z",
    visibleUntil: "2027-01-01T00:00:00.000Z",
    position: 7,
    parentUuid: yield* createProduct({ type: "variantParent" }),
    optionValues: [{ option: "size", value: "a5" }]
  })
  return { uuid, changes }
})

const post = Effect.gen(function* () {
  const [first, second] = [yield* createAsset(), yield* createAsset()]
  const [inGroup, atLocation] = [yield* createGroup(), yield* createLocation()]
  const uuid = yield* createPost({
    publishAt: "2090-01-01T00:00:00.000Z",
    callToAction: { type: "order", url: "https://example.com" }
  })
  const listed = (member: "groups" | "locations", of: string) => ({
    body: { audience: { [member]: [{ uuid: of }] } },
    path: ["audience", member, "0", "uuid"],
    value: of
  })
  const author = yield* createUser()
  const changes = [
    ...fields({
      slug: unique("changed"),
      type: "page",
      status: "scheduled",
      translations: [{ locale: "nl", title: "Veranderd" }],
      coverAssetUuid: first,
      mediaAssetUuids: [second],
      categories: ["news"],
      tags: ["new"],
      "audience.authorizationType": "locations",
      "callToAction.type": "book",
      "callToAction.url": "https://example.com/changed",
      pinned: true,
      publishAt: "2091-01-01T00:00:00.000Z",
      expireAt: "2092-01-01T00:00:00.000Z"
    }),
    { body: { author: { uuid: author } }, path: ["author", "uuid"], value: author },
    listed("groups", inGroup),
    listed("locations", atLocation)
  ]
  return { uuid, changes }
})

const languages =
  "af ar az be bg bn bs ca cs cy da de el en es et eu fa fi fr ga gl gu he hi hr hu hy id is it ja ka kk"
    .concat(" km kn ko ky lo lt lv mk ml mn mr ms mt my ne nl pl")
    .split(" ")
    .toSorted()

const asset = Effect.gen(function* () {
  const uuid = yield* createAsset({
    translations: languages.map((locale) => ({ locale, name: "Name" })),
    focalPoint: { x: 0.5, y: 0.5 }
  })
  const category = unique("category")
  yield* createCategory({ key: category })
  const translations = languages.flatMap((locale, index) =>
    Object.entries({ name: `Name ${locale}`, description: `Description ${locale}` }).map(([member, value]) => ({
      body: { translations: [{ locale, [member]: value }] },
      path: ["translations", String(index), member],
      value
    }))
  )
  const file = yield* fileRow("changed.txt")
  const changes = [
    ...translations,
    ...fields({
      "focalPoint.x": 0.25,
      "focalPoint.y": 0.75,
      validFrom: "2026-01-01T00:00:00.000Z",
      validUntil: "2027-01-01T00:00:00.000Z",
      categories: [category]
    }),
    { body: { fileUuid: file }, path: ["fileNameOriginal"], value: "changed.txt" }
  ]
  return { uuid, changes }
})

/** An asset and the values of a hundred meta tags. */
const values = Effect.gen(function* () {
  const keys = Array.from({ length: 100 }, (_, index) => `key${String(index).padStart(2, "0")}`)
  yield* Effect.forEach(keys, (key, position) => createMetaTag({ key, type: "text", position }), { concurrency: 8 })
  const changes = keys.map((key, index) => ({
    body: { metaTags: [{ key, value: `Value of ${key}` }] },
    path: [String(index), "value"],
    value: `Value of ${key}`
  }))
  return { uuid: yield* createAsset(), changes }
})

const category = Effect.gen(function* () {
  const uuid = yield* createCategory({ key: unique("before") })
  const changes = fields({
    key: unique("changed"),
    translations: [{ locale: "nl", name: "Veranderd" }],
    parentUuid: yield* createCategory({ key: unique("parent") }),
    position: 7
  })
  return { uuid, changes }
})

const metaTag = Effect.gen(function* () {
  const applies = unique("applies")
  yield* createCategory({ key: applies })
  const grouped = { key: "before", translations: [], position: 0 }
  const uuid = yield* createMetaTag({ key: unique("tag").replace("-", "_"), type: "text", group: grouped })
  const changes = fields({
    translations: [{ locale: "nl", name: "Veranderd" }],
    required: true,
    filterable: true,
    searchable: true,
    editable: false,
    categories: [applies],
    "group.key": "changed",
    "group.translations": [{ locale: "nl", name: "Groep" }],
    "group.position": 7,
    defaultValue: "abc",
    "validation.minLength": 2,
    "validation.maxLength": 9,
    position: 7
  })
  return { uuid, changes }
})

const webhook = Effect.gen(function* () {
  const { uuid } = yield* createWebhook({ url: "http://127.0.0.1:8080/before", types: ["location.*"], active: false })
  const changes = fields({
    url: "http://127.0.0.1:8080/after",
    types: ["group.updated"],
    description: "Changed"
  })
  return { uuid, changes }
})

/** Records with patches of their fields, by the path of the PATCH operation. */
export const patched: Readonly<Record<string, Effect.Effect<Patched, SqlError.SqlError, TestServer | Sql>>> = {
  "/v1/locations/:uuid": location,
  "/v1/users/:uuid": user,
  "/v1/groups/:uuid": group,
  "/v1/products/:uuid": product,
  "/v1/posts/:uuid": post,
  "/v1/assets/:uuid": asset,
  "/v1/assets/:uuid/meta-tags": values,
  "/v1/asset-categories/:uuid": category,
  "/v1/meta-tags/:uuid": metaTag,
  "/v1/webhooks/:uuid": webhook
}
