/** The number of records of a page at most. */
export const maxLimit = 500
