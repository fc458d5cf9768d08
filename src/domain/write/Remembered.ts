/** A pure function that keeps the `max` results that were computed last. */
export const remembered = <K, A>(max: number, ask: (key: K) => A) => {
  const recent = new Map<K, A>()
  return (key: K): A => {
    const known = recent.get(key)
    if (known !== undefined) return known
    const answer = ask(key)
    recent.set(key, answer)
    const [oldest] = recent.keys()
    if (recent.size > max && oldest !== undefined) recent.delete(oldest)
    return answer
  }
}
