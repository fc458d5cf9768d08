/** Counted repetitions are written out when an expression is compiled; this is at most how long it becomes. */
export const writtenOut = (pattern: string): number => {
  const counts = [...pattern.matchAll(/(\))?\{(\d+)(?:,(\d*))?\}/g)].map(([, group, minimum, maximum]) => ({
    ofGroup: group !== undefined,
    times: Math.max(Number(minimum), Number(maximum ?? 0), 1)
  }))
  const ofAtoms = counts.reduce((sum, { ofGroup, times }) => sum + (ofGroup ? 0 : times), 0)
  return counts.reduce((size, { ofGroup, times }) => (ofGroup ? size * times : size), pattern.length + ofAtoms)
}

/** A range of characters whose end is not an ASCII letter or digit, so that it may span most of Unicode. */
const wideRange = /-(?![A-Za-z0-9\]])/g

const count = (pattern: string, found: RegExp) => pattern.match(found)?.length ?? 0

/**
 * The cost of compiling an expression, at most about 5 microseconds a unit. Its length says little: a class of Unicode has
 * hundreds of ranges, and without regard to case every character of a range is looked up.
 */
export const costOf = (pattern: string): number => {
  const ignoresCase = /\(\?[A-Za-z-]*i/.test(pattern)
  return (
    writtenOut(pattern) +
    200 * count(pattern, /\\[pP]/g) +
    (ignoresCase ? 12_000 * count(pattern, wideRange) + 200 * count(pattern, /\[\^/g) : 0)
  )
}
