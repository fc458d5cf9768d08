/** How the client repeats a request that failed for a moment: attempts after the first, and the first delay, which doubles. */
export const retries = { times: 3, firstDelay: 100 } as const

/** A POST is not idempotent; every other request of the API is. */
export const isIdempotent = (method: string): boolean => method !== "POST"
