/** The year and the moment in which the demo plays: campaigns and posts lie around them. */
const now = new Date()
export const today = now.toISOString()
export const year = now.getUTCFullYear()

/** A day such as `12-31` of a year, from its beginning or to its end. */
export const startOf = (day: string, ofYear: number) => `${ofYear}-${day}T00:00:00.000Z`
export const endOf = (day: string, ofYear: number) => `${ofYear}-${day}T23:00:00.000Z`

/** A moment so many days from now; before it when they are negative. */
export const inDays = (days: number) =>
  new Date(Math.floor(now.getTime() / 3_600_000 + days * 24) * 3_600_000).toISOString()
