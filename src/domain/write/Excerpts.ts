/** The first ten of a list in a message, and how many there are of a longer one. */
export const listed = (texts: ReadonlyArray<string>): string =>
  `${texts.slice(0, 10).join(", ")}${texts.length > 10 ? `, … (${texts.length} in all)` : ""}`

/** The first three problems, in a message that is followed by all of them. */
export const summaryOf = (problems: ReadonlyArray<string>): string => problems.slice(0, 3).join("; ")

/** As much of a sent text as an error repeats. */
export const shown = (text: string): string => Array.from(text.slice(0, 200)).slice(0, 100).join("").toWellFormed()
