/** How the client repeats a request that failed for a moment: attempts after the first, and the first delay, which doubles. */
export const retries = { times: 3, firstDelay: 100 } as const

/** A POST is not idempotent without a key; every other request of the API is. */
export const isIdempotent = ({ headers, method }: Request): boolean =>
  method !== "POST" || headers["idempotency-key"] !== undefined

interface Request {
  readonly method: string
  readonly headers: Readonly<Record<string, string | undefined>>
}
