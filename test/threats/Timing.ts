/** Seeded random numbers from 0 to 1. */
export { randomOf as random } from "../support/Random.ts"

const mean = (values: ReadonlyArray<number>) => values.reduce((sum, value) => sum + value, 0) / values.length
const variance = (values: ReadonlyArray<number>) => {
  const middle = mean(values)
  return values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1)
}
const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1]!

/** Welch's t of two samples; an absolute value above 4.5 is the usual threshold of leak detection. */
export const welch = (first: ReadonlyArray<number>, second: ReadonlyArray<number>) =>
  (mean(first) - mean(second)) / Math.sqrt(variance(first) / first.length + variance(second) / second.length)

/**
 * Both samples without the slowest 5 % of all measurements, which are disturbances of the machine. The limit is common to
 * both samples, so that the cut favours neither.
 */
export const cut = (first: ReadonlyArray<number>, second: ReadonlyArray<number>) => {
  const all = [...first, ...second].toSorted((a, b) => a - b)
  const limit = all[Math.floor(all.length * 0.95)]!
  const below = (values: ReadonlyArray<number>) => values.filter((value) => value < limit)
  const kept = { first: below(first), second: below(second) }
  return { ...kept, difference: median(kept.first) - median(kept.second) }
}
