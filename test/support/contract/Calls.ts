import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { Sql } from "../../../src/sql/Sql.ts"
import { createAsset, createCategory, createMetaTag, fileRow, upload } from "../requests/AssetRequests.ts"
import { createPost, translation } from "../requests/PostRequests.ts"
import {
  activate,
  createGroup,
  createLocation,
  createProduct,
  createUser,
  reservationOf,
  reserve
} from "../requests/ProductRequests.ts"
import { send, unique } from "../requests/Requests.ts"
import { begin, putPart } from "../requests/UploadRequests.ts"
import type { TestServer } from "../TestServer.ts"

/** The arguments of an operation: the uuids in its path, its query, its body. */
export interface Call {
  readonly uuid?: string
  readonly reservationUuid?: string
  readonly query?: string
  readonly body?: unknown
}

/** A value that is created by requests beforehand. */
export type Made<A> = Effect.Effect<A, SqlError.SqlError, TestServer | Sql>
export type Prepared = Made<Call>
type Fields = Readonly<Record<string, unknown>>

/** A call on a new record, with a body that may be an effect. */
export const on = (record: Made<string>, body?: unknown): Prepared =>
  Effect.gen(function* () {
    const uuid = yield* record
    const made = Effect.isEffect(body) ? yield* body as Made<unknown> : body
    return made === undefined ? { uuid } : { uuid, body: made }
  })
export const ask = (query = ""): Prepared => Effect.succeed({ query })
export const post = (body: unknown): Prepared => Effect.succeed({ body })

/** A body with the uuids of new records. */
export const naming = (member: string, record: Made<string>): Made<Fields> =>
  Effect.map(record, (uuid) => ({ [member]: [uuid] }))

export const newUser = () => {
  const username = unique("user")
  return { username, email: `${username}@example.com` }
}
export const newTag = () => ({ key: unique("tag").replace("-", "_"), type: "text" })
export const newCategory = () => ({ key: unique("category") })
export const newProduct = () => ({ type: "default", name: "Flyer", identifier: unique("product") })

export const user = Effect.suspend(() => createUser())
export const location = Effect.suspend(() => createLocation())
const claiming = (code: string) => Effect.suspend(() => createLocation({ postalCodes: [code] }))
export const group = Effect.suspend(() => createGroup())
export const product = Effect.suspend(() => createProduct())
/** A product with an active module. */
export const productWith = (module: string) => Effect.tap(product, (uuid) => activate(uuid, module, {}))
/** The body of a reservation for a new location. */
export const reservation = Effect.map(location, (uuid) => reservationOf(uuid, 1, 25))
/** A product with a reservation. */
const reserved = Effect.gen(function* () {
  const uuid = yield* productWith("reservations")
  const { body } = yield* reserve(uuid, yield* reservation)
  return { uuid, reservationUuid: body.data.uuid as string }
})
export const asset = Effect.suspend(() => createAsset())
export const file = Effect.suspend(() => fileRow("file.txt"))
export const category = Effect.suspend(() => createCategory(newCategory()))
export const metaTag = Effect.suspend(() => createMetaTag(newTag()))
const aPost = Effect.suspend(() => createPost())
const session = Effect.suspend(() => begin(5))
const apiKey = Effect.map(
  send("POST", "/v1/api-keys", { body: { name: "Other", permissions: ["read:users"] } }),
  ({ body }) => body.data.uuid as string
)

const completed = Effect.gen(function* () {
  const begun = yield* session
  return { body: { uuid: begun.uuid, parts: [yield* putPart(begun, 1, Buffer.from("bytes"))] } }
})

const tagged = Effect.gen(function* () {
  const { key } = yield* Effect.tap(Effect.sync(newTag), createMetaTag)
  return yield* createAsset({ metaTags: [{ key, value: "a" }] })
})

/** A successful call of every operation except those on modules. */
export const successes: Readonly<Record<string, Prepared>> = {
  "users.list": ask(),
  "users.create": Effect.map(Effect.sync(newUser), (body) => ({ body })),
  "users.get": on(user),
  "users.update": on(user, { firstName: "Anna" }),
  "users.delete": on(user),
  "users.listLocations": on(Effect.flatMap(naming("locations", location), createUser)),
  "users.updateLocations": on(user, naming("locations", location)),
  "users.listGroups": on(Effect.flatMap(naming("groups", group), createUser)),
  "users.updateGroups": on(user, naming("groups", group)),
  "users.recordLogin": on(user, {}),
  "products.list": ask(),
  "products.create": Effect.map(Effect.sync(newProduct), (body) => ({ body })),
  "products.get": on(product),
  "products.update": on(product, { name: "Poster" }),
  "products.delete": on(product),
  "products.recordApiCall": on(productWith("api"), { status: "ok", httpStatus: 200 }),
  "reservations.create": on(productWith("reservations"), reservation),
  "reservations.cancel": reserved,
  "locations.list": ask(),
  "locations.create": Effect.sync(() => ({ body: { name: "Branch", identifier: unique("branch") } })),
  "locations.resolve": Effect.as(claiming("3511"), { query: "?postalCode=3511%20AB&near=52,5" }),
  "locations.territories": Effect.as(Effect.andThen(claiming("3511"), claiming("3511AB")), {
    query: "?kind=conflicts"
  }),
  "locations.get": on(location),
  "locations.update": on(location, { name: "Other" }),
  "locations.delete": on(location),
  "locations.updateMedia": on(
    location,
    Effect.map(asset, (assetUuid) => ({ items: [{ assetUuid, role: "team" }] }))
  ),
  "locations.updateTranslationLabels": on(location, {
    translationLabels: [{ key: "name", locale: "nl", label: "Naam" }]
  }),
  "locations.listUsers": on(Effect.tap(location, (uuid) => createUser({ locations: [uuid] }))),
  "locations.updateUsers": on(location, naming("users", user)),
  "locations.listGroups": on(Effect.tap(location, (uuid) => createGroup({ locations: [uuid] }))),
  "locations.updateGroups": on(location, naming("groups", group)),
  "groups.list": ask(),
  "groups.create": Effect.sync(() => ({ body: { name: unique("Group") } })),
  "groups.get": on(group),
  "groups.update": on(group, { description: "Other" }),
  "groups.delete": on(group),
  "groups.listUsers": on(Effect.flatMap(naming("users", user), createGroup)),
  "groups.updateUsers": on(group, naming("users", user)),
  "groups.listLocations": on(Effect.flatMap(naming("locations", location), createGroup)),
  "groups.updateLocations": on(group, naming("locations", location)),
  "uploads.initialize": post({ fileName: "file.txt", fileSize: 5 }),
  "uploads.complete": completed,
  "uploads.get": on(Effect.map(session, ({ uuid }) => uuid)),
  "uploads.abort": on(Effect.map(session, ({ uuid }) => uuid)),
  "uploads.renewParts": on(
    Effect.map(session, ({ uuid }) => uuid),
    { partNumbers: [1] }
  ),
  "assets.list": ask(),
  "assets.create": Effect.map(upload(), (fileUuid) => ({ body: { fileUuid } })),
  "assets.search": Effect.as(asset, { query: "?search=file&locale=en" }),
  "assets.listMetaTags": Effect.as(metaTag, { query: "?locale=en" }),
  "assets.get": on(asset),
  "assets.update": on(asset, { translations: [{ locale: "en", name: "Poster" }] }),
  "assets.delete": on(asset),
  "assets.getMetaTags": on(tagged),
  "assets.updateMetaTags": on(
    asset,
    Effect.map(metaTag, (uuid) => ({ metaTags: [{ uuid, value: "a" }] }))
  ),
  "posts.list": ask(),
  "posts.create": Effect.sync(() => ({ body: { type: "news", translations: [translation()] } })),
  "posts.get": on(aPost),
  "posts.update": on(aPost, { type: "page" }),
  "posts.delete": on(aPost),
  "assetCategories.list": ask(),
  "assetCategories.create": Effect.map(Effect.sync(newCategory), (body) => ({ body })),
  "assetCategories.get": on(category),
  "assetCategories.update": on(category, { position: 1 }),
  "assetCategories.delete": on(category),
  "metaTags.list": ask(),
  "metaTags.create": Effect.map(Effect.sync(newTag), (body) => ({ body })),
  "metaTags.get": on(metaTag),
  "metaTags.update": on(metaTag, { position: 1 }),
  "metaTags.delete": on(metaTag),
  "apiKeys.list": ask(),
  "apiKeys.create": post({ name: "Other", permissions: ["read:users"] }),
  "apiKeys.get": on(apiKey),
  "apiKeys.revoke": on(apiKey),
  "apiKeys.rotate": on(apiKey, { overlapSeconds: 0 }),
  "apiKeys.me": ask()
}
