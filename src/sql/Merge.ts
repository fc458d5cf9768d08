import { type Fragment, sql } from "./Fragment.ts"

type Json = null | string | number | boolean | ReadonlyArray<unknown> | { readonly [member: string]: Json }
type JsonObject = { readonly [member: string]: Json }

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/**
 * The expression that merges a patch into a `jsonb` value, member by member to any depth. The UPDATE computes it from
 * the row under its lock, so that two concurrent patches of different members never undo each other.
 */
export const mergeSql = (current: Fragment, patch: JsonObject): Fragment => {
  const entries = Object.entries(patch)
  const set = Object.fromEntries(entries.filter(([, value]) => value !== null && !isObject(value)))
  const removed = entries.filter(([, value]) => value === null).map(([member]) => member)
  const parts = [sql`coalesce(${current}, '{}')`]
  if (Object.keys(set).length > 0) parts.push(sql`${JSON.stringify(set)}::jsonb`)
  for (const [member, value] of entries) {
    if (isObject(value)) {
      parts.push(sql`jsonb_build_object(${member}::text, ${mergeSql(sql`${current}->${member}::text`, value)})`)
    }
  }
  const merged = sql.join(" || ")(parts)
  const kept = removed.length === 0 ? merged : sql`(${merged}) - ${removed}::text[]`
  // An object whose last member was cleared is unset, like the member itself.
  return sql`nullif(jsonb_strip_nulls(${kept}), '{}')`
}

/** The value of a new record: without nulls, and without empty objects. */
export const prune = (value: unknown): unknown => {
  if (!isObject(value)) return value ?? undefined
  const members = Object.entries(value).map(([member, inner]) => [member, prune(inner)] as const)
  const kept = members.filter(([, inner]) => inner !== undefined)
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}
