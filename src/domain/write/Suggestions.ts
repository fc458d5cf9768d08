import { Array as Arr, Order, pipe } from "effect"

/** The Levenshtein distance between two strings; above `limit` any larger number. */
const distance = (a: string, b: string, limit: number): number => {
  if (Math.abs(a.length - b.length) > limit) return limit + 1
  let previous: Array<number> = Arr.range(0, b.length)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      current.push(Math.min(substitution, previous[j]! + 1, current[j - 1]! + 1))
    }
    // The distance never decreases from here.
    if (Math.min(...current) > limit) return limit + 1
    previous = current
  }
  return previous[b.length]!
}

/** At most three known names within two edits of a name, nearest first, ignoring case. */
export const nearest = (typed: string, known: ReadonlyArray<string>): ReadonlyArray<string> =>
  pipe(
    known,
    Arr.map((name) => ({ name, edits: distance(typed.toLowerCase(), name.toLowerCase(), 2) })),
    Arr.filter(({ edits }) => edits <= 2),
    Arr.sortBy(Order.mapInput(Order.Number, ({ edits }) => edits)),
    Arr.take(3),
    Arr.map(({ name }) => name)
  )
