type Unicode = "utf-8" | "utf-16le" | "utf-16be"

const byMark = ([first, second, third]: Uint8Array): Unicode | undefined => {
  if (first === 0xff && second === 0xfe) return "utf-16le"
  if (first === 0xfe && second === 0xff) return "utf-16be"
  return first === 0xef && second === 0xbb && third === 0xbf ? "utf-8" : undefined
}

/** Text has no NUL: it is half of a letter in UTF-16, the second one where the low byte comes first. */
const byZeros = (head: Uint8Array): Unicode | undefined => {
  const zeros = { even: 0, odd: 0 }
  head.forEach((byte, index) => {
    if (byte === 0) zeros[index % 2 === 0 ? "even" : "odd"]++
  })
  if (zeros.even === 0 && zeros.odd === 0) return undefined
  return zeros.odd >= zeros.even ? "utf-16le" : "utf-16be"
}

/** How many bytes at the start of a text decide its encoding. */
export const sampleSize = 4096

/** The encoding of a text that begins with its mark, or that has the zeros of UTF-16. */
export const unicodeOf = (head: Uint8Array): Unicode | undefined => byMark(head) ?? byZeros(head)
