import { Schema, Struct } from "effect"
import type { Permission } from "../keys/Permission.ts"

/** The types of record whose alterations are logged, and the permission by which a key sees their events. */
export const readPermissions = {
  user: "read:users",
  location: "read:locations",
  group: "read:groups",
  product: "read:products",
  post: "read:posts",
  asset: "read:assets",
  metaTag: "read:meta-tags",
  assetCategory: "read:meta-tags",
  apiKey: "read:api-keys",
  webhook: "read:webhooks"
} as const satisfies Readonly<Record<string, Permission>>

export type RecordType = keyof typeof readPermissions

export const recordTypes: ReadonlyArray<RecordType> = Struct.keys(readPermissions)

export const RecordType = Schema.Literals(recordTypes)

/** The type of record of an event type such as `location.updated`. */
export const recordTypeOf = (eventType: string): RecordType | undefined =>
  recordTypes.find((type) => eventType.startsWith(`${type}.`))

/** The paths of relations, and the type of the records that they add and remove. */
export const relations = { users: "user", locations: "location", groups: "group" } as const

export type Relation = keyof typeof relations

/** The types of record that a key with these permissions sees. */
export const visibleTo = (permissions: ReadonlySet<Permission>): ReadonlySet<RecordType> =>
  new Set(recordTypes.filter((type) => permissions.has(readPermissions[type])))
