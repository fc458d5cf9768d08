import { Schema } from "effect"
import { Count } from "../schema/WholeNumber.ts"

/** The defaults of a list. */
export const defaults = { limit: 25, page: 1, sortBy: "createdAt", sortOrder: "desc" } as const

/** The members that an answer leaves out if the request has one of these parameters. */
export const absentWith = { page: ["after"], total: ["after", "total"], pageCount: ["after", "total"] } as const

/**
 * Where a page stands in the whole: `pageCount` is `total / limit` rounded up, 0 when nothing matches. A page that begins at
 * a cursor has no number, and is counted only on request.
 */
export const Pagination = Schema.Struct({
  limit: Count,
  page: Schema.optionalKey(Count),
  total: Schema.optionalKey(Count),
  pageCount: Schema.optionalKey(Count),
  more: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "Whether there is another page; with `total=false` and `page`." })
  ),
  next: Schema.optionalKey(
    Schema.String.annotate({ description: "The `after` of the next page; with `after`, and absent at the end." })
  )
}).annotate({ identifier: "Pagination", examples: [{ limit: 25, page: 1, total: 312, pageCount: 13 }] })
export type Pagination = typeof Pagination.Type

/** How many there are, and on how many pages. */
export const countedPages = (limit: number, total: number) => ({ total, pageCount: Math.ceil(total / limit) })

export const pagination = (limit: number, page: number, total: number) => ({
  limit,
  page,
  ...countedPages(limit, total)
})
