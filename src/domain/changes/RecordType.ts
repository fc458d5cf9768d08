import { Schema, Struct } from "effect"
import type { Permission } from "../keys/Permission.ts"
import { type RelationKind, relationKinds } from "../write/Relations.ts"

/** The types of record that have references, a past and mirrors, and the permission to read each. */
export const managedPermissions = {
  user: "read:users",
  location: "read:locations",
  group: "read:groups",
  product: "read:products",
  post: "read:posts",
  asset: "read:assets",
  metaTag: "read:meta-tags",
  assetCategory: "read:meta-tags"
} as const satisfies Readonly<Record<string, Permission>>

export type ManagedType = keyof typeof managedPermissions

export const managedTypes = Struct.keys(managedPermissions)

/** The types of record whose alterations are logged, and the permission by which a key sees their events. */
export const readPermissions = {
  ...managedPermissions,
  apiKey: "read:api-keys",
  webhook: "read:webhooks"
} as const satisfies Readonly<Record<string, Permission>>

export type RecordType = keyof typeof readPermissions

export const recordTypes: ReadonlyArray<RecordType> = Struct.keys(readPermissions)

export const RecordType = Schema.Literals(recordTypes)

/** The type of record of an event type such as `location.updated`. */
export const recordTypeOf = (eventType: string): RecordType | undefined =>
  recordTypes.find((type) => eventType.startsWith(`${type}.`))

/** The type of the records of each kind. */
export const typeOfKind = {
  users: "user",
  locations: "location",
  groups: "group",
  products: "product",
  posts: "post",
  assets: "asset",
  metaTags: "metaTag",
  assetCategories: "assetCategory"
} as const satisfies Readonly<Record<string, ManagedType>>

/** The kinds of record, as writes and paths name them. */
export type RecordKind = keyof typeof typeOfKind

/** The paths of relations, and the type of the records that they add and remove. */
export const relations = Struct.pick(typeOfKind, relationKinds)

/** Whether a reader of these types sees the records that a relation adds and removes. */
export const seesRelation = (visible: ReadonlySet<RecordType>, path: RelationKind) => visible.has(relations[path])

/** The types of record that a key with these permissions sees. */
export const visibleTo = (permissions: ReadonlySet<Permission>): ReadonlySet<RecordType> =>
  new Set(recordTypes.filter((type) => permissions.has(readPermissions[type])))
