import type { Sql } from "postgres"

/** The number of records of each kind. */
export const countsOf = (locations: number, assets: number) => ({
  locations,
  assets,
  users: Math.max(assets / 10, 1000),
  groups: Math.max(assets / 1000, 50),
  products: Math.max(assets / 10, 1000),
  posts: Math.max(assets / 10, 1000)
})
export type Counts = ReturnType<typeof countsOf>

/** A step of the seeding; it inserts the same rows in every run. */
export type Step = (sql: Sql, counts: Counts) => Promise<unknown>
