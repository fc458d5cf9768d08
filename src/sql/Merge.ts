import type { Parameters } from "./Parameters.ts"

type Json = null | string | number | boolean | ReadonlyArray<unknown> | { readonly [member: string]: Json }
type JsonObject = { readonly [member: string]: Json }

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * The expression that merges a patch into a `jsonb` value, member by member to any depth. It is computed by the UPDATE
 * itself, from the row as it is under the lock, so that two patches of different members never undo each other.
 */
export const mergeSql = (current: string, patch: JsonObject, parameters: Parameters): string => {
  const entries = Object.entries(patch)
  const set = Object.fromEntries(entries.filter(([, value]) => value !== null && !isObject(value)))
  const removed = entries.filter(([, value]) => value === null).map(([member]) => member)
  let sql = `coalesce(${current}, '{}')`
  if (Object.keys(set).length > 0) sql += ` || ${parameters.add(JSON.stringify(set), "jsonb")}`
  for (const [member, value] of entries) {
    if (isObject(value))
      sql += ` || jsonb_build_object('${member}', ${mergeSql(`${current}->'${member}'`, value, parameters)})`
  }
  if (removed.length > 0) sql = `(${sql}) - ${parameters.add(removed, "text[]")}`
  // An object whose last member was cleared is unset, like the member itself.
  return `nullif(jsonb_strip_nulls(${sql}), '{}')`
}

/** The value of a new record: without nulls, and without objects that hold nothing. */
export const prune = (value: unknown): unknown => {
  if (!isObject(value)) return value ?? undefined
  const members = Object.entries(value).map(([member, inner]) => [member, prune(inner)] as const)
  const kept = members.filter(([, inner]) => inner !== undefined)
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}
