import { Array as Arr, Order, pipe } from "effect"

/**
 * The Levenshtein distance between two strings; above `limit` any larger number. Beginnings of different lengths are at least as
 * many edits apart, so that only those within the limit are compared: names can be long, and thousands.
 */
const distance = (a: string, b: string, limit: number): number => {
  const far = limit + 1
  if (Math.abs(a.length - b.length) > limit) return far
  let previous: Array<number> = Arr.range(0, b.length)
  let current: Array<number> = Arr.replicate(far, b.length + 1)
  for (let i = 1; i <= a.length; i++) {
    const first = Math.max(1, i - limit)
    const last = Math.min(b.length, i + limit)
    let least = first === 1 ? i : far
    current[first - 1] = least
    for (let j = first; j <= last; j++) {
      const substitution = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      const edits = Math.min(substitution, previous[j]! + 1, current[j - 1]! + 1)
      current[j] = edits
      least = Math.min(least, edits)
    }
    // The distance never decreases from here.
    if (least > limit) return far
    ;[previous, current] = [current, previous]
  }
  return previous[b.length]!
}

/** At most three known names within some edits of a name, nearest first, ignoring case. */
export const nearest = (typed: string, known: ReadonlyArray<string>, maxEdits = 2): ReadonlyArray<string> =>
  pipe(
    known,
    Arr.map((name) => ({ name, edits: distance(typed.toLowerCase(), name.toLowerCase(), maxEdits) })),
    Arr.filter(({ edits }) => edits <= maxEdits),
    Arr.sortBy(Order.mapInput(Order.Number, ({ edits }) => edits)),
    Arr.take(3),
    Arr.map(({ name }) => name)
  )

/** The end of a message about a name that is not known; empty without suggestions. */
export const didYouMean = (suggestions: ReadonlyArray<string>): string =>
  suggestions.length === 0 ? "" : `; did you mean ${suggestions.join(" or ")}?`

/** The names that other APIs give to parameters of this one; of several parameters the first that there is. */
const parameters: ReadonlyArray<readonly [names: ReadonlyArray<string>, parameters: ReadonlyArray<string>]> = [
  [
    ["q", "query", "text", "term", "terms", "keyword", "keywords", "find", "search"],
    ["search", "filter"]
  ],
  [["where", "conditions"], ["filter"]],
  [["order", "orderby", "order_by", "sorting"], ["sortBy"]],
  [["offset", "skip", "start"], ["page"]],
  [["cursor", "continuation", "starting_after"], ["after"]],
  [["select", "columns", "attributes", "only", "pick"], ["fields"]],
  [["expand", "populate", "embed", "with"], ["include"]],
  [["size", "count", "top", "pagesize", "page_size", "perpage", "per_page"], ["limit"]],
  [["lang", "language"], ["locale"]]
]

/** The known parameter that has the meaning of another name. */
export const sameMeaning = (typed: string, known: ReadonlyArray<string>): ReadonlyArray<string> =>
  pipe(
    parameters,
    Arr.filter(([names]) => names.includes(typed.toLowerCase())),
    Arr.flatMap(([, meant]) => meant),
    Arr.filter((name) => known.includes(name)),
    Arr.take(1)
  )
