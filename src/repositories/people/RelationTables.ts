import type { RelationKind } from "../../domain/write/Relations.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import type { Scope } from "../../sql/View.ts"

export const columns: Readonly<Record<RelationKind, string>> = {
  users: "user_uuid",
  locations: "location_uuid",
  groups: "group_uuid"
}

/** The join tables of each kind with the others, in the order in which they are locked. */
export const tables: { readonly [Kind in RelationKind]: Readonly<Record<Exclude<RelationKind, Kind>, string>> } = {
  users: { locations: "user_locations", groups: "user_groups" },
  locations: { users: "user_locations", groups: "group_locations" },
  groups: { users: "user_groups", locations: "group_locations" }
}

/** The join table of two different kinds. */
export const tableOf = (owner: RelationKind, member: RelationKind): string => {
  const others: Readonly<Partial<Record<RelationKind, string>>> = tables[owner]
  const table = others[member]
  if (table === undefined) throw new TypeError(`No table relates ${owner} to themselves`)
  return table
}

/** A group has columns for the number and the set of its members; those of the others are read off an index. */
const members = (
  owner: RelationKind,
  uuid: string,
  member: RelationKind,
  ofGroup: string,
  aggregate: Fragment
): Fragment =>
  owner === "groups"
    ? sql`select ${sql.literal(`${member.slice(0, -1)}_${ofGroup}`)} from groups where uuid = ${uuid}::uuid`
    : sql`select ${aggregate} from ${sql.literal(tableOf(owner, member))}
      where ${sql.literal(columns[owner])} = ${uuid}::uuid`

/** Identifies the set of the members of a record; the order of the members does not count. */
const setTagOf = (owner: RelationKind, uuid: string, member: RelationKind): Fragment => {
  const combined = sql`coalesce(bit_xor(uuid_hash_extended(${sql.literal(columns[member])}, 0)), 0)`
  return sql`select to_hex((${members(owner, uuid, member, "set", combined)}))`
}

/** The members of a record, as a list. */
export const scopeOf = (owner: RelationKind, uuid: string, member: RelationKind): Scope => ({
  name: `${owner} ${uuid} ${member}`,
  where: (row) => sql`exists (select from ${sql.literal(tableOf(owner, member))} r
    where r.${sql.literal(columns[member])} = ${row} and r.${sql.literal(columns[owner])} = ${uuid}::uuid)`,
  total: members(owner, uuid, member, "count", sql`count(*)::int`),
  setTag: setTagOf(owner, uuid, member),
  found: sql`exists (select from ${sql.literal(owner)} where uuid = ${uuid}::uuid)`
})
