import { Schema } from "effect"

/**
 * Every permission a key can hold. Endpoints, stored keys, the command line and the tests read this list; a permission
 * that is not here cannot be typed anywhere.
 */
export const Permission = Schema.Literals([
  "read:users",
  "create:users",
  "update:users",
  "delete:users",
  "update:user-roles",
  "read:locations",
  "create:locations",
  "update:locations",
  "delete:locations",
  "read:groups",
  "create:groups",
  "update:groups",
  "delete:groups",
  "read:products",
  "create:products",
  "update:products",
  "delete:products",
  "read:assets",
  "create:assets",
  "update:assets",
  "delete:assets",
  "create:uploads",
  "read:posts",
  "create:posts",
  "update:posts",
  "delete:posts",
  "read:meta-tags",
  "create:meta-tags",
  "update:meta-tags",
  "delete:meta-tags",
  "read:api-keys",
  "create:api-keys",
  "delete:api-keys",
  "read:webhooks",
  "create:webhooks",
  "update:webhooks",
  "delete:webhooks",
  "read:events",
  "delete:events",
  "read:audit",
  "read:jobs",
  "create:jobs"
]).annotate({
  identifier: "Permission",
  description: "A named permission, `<action>:<entity>`.",
  examples: ["update:locations"]
})

export type Permission = typeof Permission.Type

type EntityWith<Action extends string> = Permission extends infer One
  ? One extends `${Action}:${infer Entity}`
    ? Entity
    : never
  : never

/** An entity whose records are created, changed and deleted, each with a permission. */
export type Entity = EntityWith<"read"> & EntityWith<"create"> & EntityWith<"update"> & EntityWith<"delete">

/** All permissions, in the order of the list. */
export const all: ReadonlyArray<Permission> = Permission.literals

/** Sets of permissions with a name, for the command line; a stored key always holds the explicit list. */
export const presets: Readonly<Record<string, ReadonlyArray<Permission>>> = {
  full: all,
  "read-only": all.filter((permission) => permission.startsWith("read:") && permission !== "read:api-keys"),
  "location-sync": all.filter((permission) => permission.endsWith(":locations")),
  "dam-ingest": all.filter((permission) => permission === "create:uploads" || permission.endsWith(":assets"))
}
