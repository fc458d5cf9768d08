import { Effect } from "effect"
import { createPost, translation } from "../requests/PostRequests.ts"
import { unique } from "../requests/Requests.ts"
import {
  asset,
  category,
  file,
  group,
  location,
  type Made,
  metaTag,
  newCategory,
  newProduct,
  newTag,
  newUser,
  type Prepared,
  product,
  user
} from "./Calls.ts"

interface Resource {
  readonly record: Made<string>
  readonly create: Made<Readonly<Record<string, unknown>>>
  readonly patch: object
  /** The member by which records are upserted. */
  readonly key?: string
}

const newPost = () => ({ type: "news", slug: unique("post"), translations: [translation()] })
const post = Effect.suspend(() => createPost())

/** The resources with bulk requests, by the group of their operations. */
export const bulkResources: Readonly<Record<string, Resource>> = {
  users: { record: user, create: Effect.sync(newUser), patch: { firstName: "Anna" }, key: "username" },
  locations: {
    record: location,
    create: Effect.sync(() => ({ name: "Branch", identifier: unique("branch") })),
    patch: { name: "Other" },
    key: "identifier"
  },
  groups: {
    record: group,
    create: Effect.sync(() => ({ name: unique("Group") })),
    patch: { description: "Other" },
    key: "name"
  },
  products: { record: product, create: Effect.sync(newProduct), patch: { name: "Poster" }, key: "identifier" },
  posts: { record: post, create: Effect.sync(newPost), patch: { type: "page" }, key: "slug" },
  assets: {
    record: asset,
    create: Effect.map(file, (fileUuid) => ({ fileUuid })),
    patch: { translations: [{ locale: "en", name: "Poster" }] }
  },
  assetCategories: { record: category, create: Effect.sync(newCategory), patch: { position: 1 }, key: "key" },
  metaTags: { record: metaTag, create: Effect.sync(newTag), patch: { position: 1 }, key: "key" }
}

/** One operation of each kind, all of which succeed. */
const operationsOf = Effect.fnUntraced(function* ({ create, key, patch, record }: Resource) {
  const [updated, deleted] = [yield* record, yield* record]
  const data = yield* create
  const upserted = yield* create
  return [
    { op: "create", data },
    { op: "update", uuid: updated, data: patch },
    ...(key === undefined ? [] : [{ op: "upsert", key: upserted[key], data: upserted }]),
    { op: "delete", uuid: deleted }
  ]
})

/** A call of every bulk operation, by `group.bulk`. */
export const bulkCalls: Readonly<Record<string, Prepared>> = Object.fromEntries(
  Object.entries(bulkResources).map(([group, resource]) => [
    `${group}.bulk`,
    Effect.map(operationsOf(resource), (operations) => ({ body: { operations } }))
  ])
)
