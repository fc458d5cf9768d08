import { maxLimit } from "../../domain/query/PageLimit.ts"
import { type Fragment, sql } from "../Fragment.ts"
import type { Source, View } from "../View.ts"

/** Where rows without a value are. */
type Nulls = "first" | "last"

export const flip = { asc: "desc", desc: "asc" } as const

/** Where an index has the rows without a value, by the direction in which it is read. */
const indexed = { asc: "last", desc: "first" } as const

export interface Order {
  readonly sortBy: string
  readonly direction: keyof typeof flip
  readonly nulls: Nulls
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

interface Options {
  readonly inOrder: (sortBy: string, view: View) => Sorted
  /** Whether some rows may have no value. */
  readonly isOptional: (sortBy: string, view: View) => boolean
}

/** The reads of lists in an order. Each gives `uuid` and `key`. */
export const make = ({ inOrder, isOptional }: Options) => {
  /** Reads rows as an index has them: with a position of nulls, PostgreSQL would not see that it serves in both directions. */
  const read = (
    { direction, sortBy }: Omit<Order, "nulls">,
    view: View,
    conditions: ReadonlyArray<Fragment>,
    range: Fragment
  ) => {
    const { from, key, uuid } = inOrder(sortBy, view)
    const where = conditions.length === 0 ? sql.literal("") : sql`where ${sql.and(conditions)}`
    return sql`(select ${uuid} as uuid, ${key} as key from ${from} ${where}
      order by ${key} ${sql.literal(`${direction}, uuid ${direction}`)} ${range})`
  }

  /** Reads rows in an order. Where an index has the rows without a value at the other end, they are read by themselves. */
  const ordered = (order: Order, view: View, where: ReadonlyArray<Fragment>, { end, limit, offset }: Range) => {
    const { direction, nulls, sortBy } = order
    if (nulls === indexed[direction] || !isOptional(sortBy, view)) {
      return read(order, view, where, sql`${limit} ${offset}`)
    }
    const { key } = inOrder(sortBy, view)
    const present = read(order, view, [...where, sql`(${key}) is not null`], end)
    const missing = read(order, view, [...where, sql`(${key}) is null`], end)
    const parts = nulls === "last" ? sql`${present} union all ${missing}` : sql`${missing} union all ${present}`
    return sql`(select uuid, key from (${parts}) parts ${limit} ${offset})`
  }

  return { read, ordered }
}
