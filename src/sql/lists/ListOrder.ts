import { maxLimit } from "../../domain/query/PageLimit.ts"
import { type Fragment, sql } from "../Fragment.ts"
import type { Source, Walk } from "../View.ts"

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
  /** How the first rows are found, if no index has this order. */
  readonly walk?: Walk | undefined
}

/**
 * Limits that are written into statements: PostgreSQL keeps a plan for them, which it cannot for an unknown limit. Only
 * some, because a connection keeps a limited number of prepared statements.
 */
const literalLimits: ReadonlySet<number> = new Set([10, 20, 25, 50, 100, maxLimit])

export const limitSql = (limit: number, more = 0) =>
  literalLimits.has(limit) ? sql.literal(`limit ${limit + more}`) : sql`limit ${limit + more}::bigint`

export const offsetSql = (offset: number) => (offset === 0 ? sql.literal("") : sql`offset ${offset}::bigint`)

/** A page, and `more` rows behind it. */
export const rangeOf = (limit: number, offset: number, more = 0): Range => ({
  limit: limitSql(limit, more),
  offset: offsetSql(offset),
  end: offset === 0 ? limitSql(limit, more) : sql`limit ${limit + offset + more}::bigint`
})

/**
 * Reads rows as an index has them: with a position of nulls, PostgreSQL would not see that it serves in both directions. Where
 * rows are walked, which is in ascending order, the key of as many as the range needs bounds it.
 */
export const read = (
  { from, key, uuid, walk }: Omit<Sorted, "isOptional">,
  direction: Order["direction"],
  conditions: ReadonlyArray<Fragment>,
  { end, limit, offset }: Range
) => {
  const where = (more: ReadonlyArray<Fragment> = []) =>
    conditions.length + more.length === 0 ? sql.literal("") : sql`where ${sql.and([...conditions, ...more])}`
  const rows = (
    more?: ReadonlyArray<Fragment>
  ) => sql`(select ${uuid} as uuid, ${key} as key from ${from} ${where(more)}
    order by ${key} ${sql.literal(`${direction}, uuid ${direction}`)} ${limit} ${offset})`
  return walk === undefined
    ? rows()
    : sql`(with bound as materialized (
        select max(key) from (select ${key} as key from ${from} ${where()} order by ${walk.order} ${end}) first)
      ${rows([walk.isWithin(sql.literal("(table bound)"))])})`
}

/** Reads rows in an order. Where an index has the rows without a value at the other end, they are read by themselves. */
export const ordered = (sorted: Sorted, { direction, nulls }: Order, where: ReadonlyArray<Fragment>, range: Range) => {
  if (nulls === indexed[direction] || !sorted.isOptional) return read(sorted, direction, where, range)
  const { end, limit, offset } = range
  const upToEnd = { limit: end, offset: sql.literal(""), end }
  const present = read(sorted, direction, [...where, sql`(${sorted.key}) is not null`], upToEnd)
  const missing = read(sorted, direction, [...where, sql`(${sorted.key}) is null`], upToEnd)
  const parts = nulls === "last" ? sql`${present} union all ${missing}` : sql`${missing} union all ${present}`
  return sql`(select uuid, key from (${parts}) parts ${limit} ${offset})`
}
