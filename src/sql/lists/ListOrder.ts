import { maxLimit } from "../../domain/query/PageLimit.ts"
import { type Fragment, sql } from "../Fragment.ts"
import type { Source } from "../View.ts"

export const flip = { asc: "desc", desc: "asc" } as const

/** Where an index has the rows without a value, by the direction in which it is read. */
const indexed = { asc: "last", desc: "first" } as const

interface Order {
  readonly direction: keyof typeof flip
  /** Where rows without a value are. */
  readonly nulls: "first" | "last"
}

/** Which rows of an order. */
export interface Range {
  readonly limit: Fragment
  readonly offset: Fragment
  /** A limit that ends where the range ends. */
  readonly end: Fragment
}

/** The rows of a list in the order of a field, and the expression of its value. */
export interface Sorted extends Source {
  readonly key: Fragment
  /** Whether some rows may have no value. */
  readonly isOptional: boolean
}

/**
 * Limits that are written into statements: PostgreSQL keeps a plan for them, which it cannot for an unknown limit. Only
 * some, because a connection keeps every statement.
 */
const usual: ReadonlySet<number> = new Set([10, 20, 25, 50, 100, maxLimit])

export const limitSql = (limit: number, more = 0) =>
  usual.has(limit) ? sql.literal(`limit ${limit + more}`) : sql`limit ${limit + more}::bigint`

export const offsetSql = (offset: number) => (offset === 0 ? sql.literal("") : sql`offset ${offset}::bigint`)

/** A page, and `more` rows behind it. */
export const rangeOf = (limit: number, offset: number, more = 0): Range => ({
  limit: limitSql(limit, more),
  offset: offsetSql(offset),
  end: offset === 0 ? limitSql(limit, more) : sql`limit ${limit + offset + more}::bigint`
})

/** Reads rows as an index has them: with a position of nulls, PostgreSQL would not see that it serves in both directions. */
export const read = (
  { from, key, uuid }: Sorted,
  direction: Order["direction"],
  conditions: ReadonlyArray<Fragment>,
  range: Fragment
) => {
  const where = conditions.length === 0 ? sql.literal("") : sql`where ${sql.and(conditions)}`
  return sql`(select ${uuid} as uuid, ${key} as key from ${from} ${where}
    order by ${key} ${sql.literal(`${direction}, uuid ${direction}`)} ${range})`
}

/** Reads rows in an order. Where an index has the rows without a value at the other end, they are read by themselves. */
export const ordered = (
  sorted: Sorted,
  { direction, nulls }: Order,
  where: ReadonlyArray<Fragment>,
  { end, limit, offset }: Range
) => {
  if (nulls === indexed[direction] || !sorted.isOptional) return read(sorted, direction, where, sql`${limit} ${offset}`)
  const present = read(sorted, direction, [...where, sql`(${sorted.key}) is not null`], end)
  const missing = read(sorted, direction, [...where, sql`(${sorted.key}) is null`], end)
  const parts = nulls === "last" ? sql`${present} union all ${missing}` : sql`${missing} union all ${present}`
  return sql`(select uuid, key from (${parts}) parts ${limit} ${offset})`
}
