interface Limits<A> {
  readonly sizeOf: (item: A) => number
  /** The size of a part before its last item. */
  readonly maxSize: number
  readonly maxItems?: number
}

/** Divides items, in their order, into parts for one request each. */
export const divide = <A>(
  items: ReadonlyArray<A>,
  { maxItems = Infinity, maxSize, sizeOf }: Limits<A>
): ReadonlyArray<ReadonlyArray<A>> => {
  const parts: Array<Array<A>> = []
  let size = maxSize
  for (const item of items) {
    if (size >= maxSize || parts.at(-1)!.length >= maxItems) {
      parts.push([])
      size = 0
    }
    parts.at(-1)!.push(item)
    size += sizeOf(item)
  }
  return parts
}
