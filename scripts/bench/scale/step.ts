import type { Sql } from "postgres"

/** The number of records of each kind for `size` locations and assets. */
export const countsOf = (size: number) => ({
  locations: size,
  assets: size,
  users: size === 1000 ? 1000 : Math.max(size / 10, 1000),
  groups: Math.max(size / 1000, 50),
  products: Math.max(size / 10, 1000),
  posts: Math.max(size / 10, 1000)
})
export type Counts = ReturnType<typeof countsOf>

/** A step of the seeding; it inserts the same rows in every run. */
export type Step = (sql: Sql, counts: Counts) => Promise<unknown>
