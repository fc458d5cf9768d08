/** The entity tags of an `If-Match` header; `noPrecondition` when the client sent none, or `*`. */
export type Precondition = ReadonlyArray<string> | undefined

/** For writes without a client, and for a write inside another one that has checked the precondition. */
export const noPrecondition: Precondition = undefined

export const preconditionOf = (header: string | undefined): Precondition =>
  header === undefined || header.trim() === "*" ? noPrecondition : header.split(",").map((tag) => tag.trim())
