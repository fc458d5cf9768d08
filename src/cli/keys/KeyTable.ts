import { DateTime, Option } from "effect"
import type { ApiKey, ApiKeyCreated } from "../../domain/keys/ApiKey.ts"
import { type Permission, presets } from "../../domain/keys/Permission.ts"
import { aligned } from "../records/Table.ts"

/** The name of the preset with these permissions, or a short form of the list. */
const permissionsOf = (permissions: ReadonlyArray<Permission>): string => {
  const held = new Set(permissions)
  const preset = Object.entries(presets).find(
    ([, members]) => members.length === held.size && members.every((permission) => held.has(permission))
  )
  return preset?.[0] ?? (held.size <= 3 ? permissions.join(" ") : `${held.size} permissions`)
}

const stateOf = ({ expiresAt, replacedByUuid, revokedAt }: ApiKey, now: DateTime.Utc): string => {
  if (revokedAt !== undefined) return "revoked"
  if (expiresAt !== undefined && DateTime.isLessThanOrEqualTo(expiresAt, now)) return "expired"
  return replacedByUuid === undefined ? "active" : "replaced"
}

const minute = (time: DateTime.Utc | undefined): string =>
  Option.match(Option.fromUndefinedOr(time), {
    onNone: () => "-",
    onSome: (time) => DateTime.formatIso(time).slice(0, 16).replace("T", " ")
  })

/** The keys as a table; times are UTC. */
export const list = (keys: ReadonlyArray<ApiKey>, now: DateTime.Utc): string =>
  keys.length === 0
    ? "There are no API keys; create one with waypost keys create"
    : aligned([
        ["PREFIX", "NAME", "STATE", "PERMISSIONS", "CREATED", "EXPIRES", "LAST USED", "UUID"],
        ...keys.map((key) => [
          key.prefix,
          key.name,
          stateOf(key, now),
          permissionsOf(key.permissions),
          minute(key.createdAt),
          minute(key.expiresAt),
          minute(key.lastUsedAt),
          key.uuid
        ])
      ])

/** A new key with its secret, which is shown only once. */
export const created = ({ expiresAt, key, name, permissions, prefix, uuid }: ApiKeyCreated): string =>
  [
    key,
    "",
    "The key is shown only this once: store it safely.",
    aligned([
      ["Name", name],
      ["Uuid", uuid],
      ["Prefix", prefix],
      ["Permissions", permissionsOf(permissions)],
      ["Expires", minute(expiresAt)]
    ])
  ].join("\n")
