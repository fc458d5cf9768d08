/** The number of occurrences of each value, as `200 × 12, 404 × 3`. */
export const tally = (values: Iterable<number>): string => {
  const counts = new Map<number, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counted(counts)
}

/** The same for counts. */
export const counted = (counts: ReadonlyMap<number, number>): string =>
  [...counts]
    .toSorted(([a], [b]) => a - b)
    .map(([value, count]) => `${value} × ${count}`)
    .join(", ")
