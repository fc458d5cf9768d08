/** How the client repeats a request that failed for a moment: attempts after the first, and the first delay, which doubles. */
export const retries = { times: 3, firstDelay: 100 } as const

/** A POST is not idempotent without a key; every other request of the API is. */
export const isIdempotent = ({ headers, method }: Request): boolean =>
  method !== "POST" || headers["idempotency-key"] !== undefined

/**
 * Whether a write has a key where its operation takes one. Without it, the repetition of a deletion would find no record, and
 * that of a write with a precondition the entity tag of the first attempt. Other writes leave the same when they are repeated.
 */
export const needsKey = ({ headers, method }: Request): boolean =>
  method === "POST" || method === "DELETE" || headers["if-match"] !== undefined

interface Request {
  readonly method: string
  readonly headers: Readonly<Record<string, string | undefined>>
}
