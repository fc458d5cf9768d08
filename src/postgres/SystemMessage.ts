/** The innermost message of an error: that of PostgreSQL or the operating system. */
export const messageOf = (error: unknown): string =>
  error instanceof Error ? (error.cause === undefined ? error.message : messageOf(error.cause)) : ""
