/** The innermost message of an error: that of PostgreSQL or the operating system. */
export const messageOf = (error: unknown): string => {
  // A host with several addresses: the error has no message, and one error for each of them.
  if (error instanceof AggregateError) return [...new Set(error.errors.map(messageOf))].join("; ")
  if (!(error instanceof Error)) return ""
  return error.cause === undefined ? error.message : messageOf(error.cause)
}
