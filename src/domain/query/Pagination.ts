import { Schema } from "effect"
import { Count } from "../schema/WholeNumber.ts"

/** The defaults of a list. */
export const defaults = { limit: 25, page: 1, sortBy: "createdAt", sortOrder: "desc" } as const

/** Where a page stands in the whole: `pageCount` is `total / limit` rounded up, 0 when nothing matches. */
export const Pagination = Schema.Struct({
  limit: Count,
  page: Count,
  total: Count,
  pageCount: Count
}).annotate({ identifier: "Pagination", examples: [{ limit: 25, page: 1, total: 312, pageCount: 13 }] })
export type Pagination = typeof Pagination.Type

export const pagination = (limit: number, page: number, total: number): Pagination => ({
  limit,
  page,
  total,
  pageCount: Math.ceil(total / limit)
})
