import { randomOf } from "../support/Random.ts"

/** The ratio of flipped bits, as in zzuf. */
const flipped = 0.004

/** Mutates bytes reproducibly for a seed. */
export const mutatorOf = (seed: number) => {
  const random = randomOf(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const pick = <A>(list: ReadonlyArray<A>): A => list[below(list.length)]!

  const flip = (bytes: Buffer) => {
    const count = Math.max(1, Math.round(bytes.length * 8 * flipped))
    for (let bit = 0; bit < count; bit++) {
      const at = below(bytes.length)
      bytes[at] = bytes[at]! ^ (1 << below(8))
    }
    return bytes
  }
  const cut = (bytes: Buffer) => bytes.subarray(0, below(bytes.length))
  const splice = (bytes: Buffer, insert: Buffer) => {
    const at = below(bytes.length)
    return Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(at + below(8))])
  }
  const noise = (bytes: Buffer) => splice(bytes, Buffer.from(Array.from({ length: below(16) }, () => below(256))))
  const token = (bytes: Buffer) => splice(bytes, Buffer.from(pick(tokens)))
  const repeat = (bytes: Buffer) => {
    const at = below(bytes.length)
    return Buffer.concat([bytes.subarray(0, at + below(40)), bytes.subarray(at)])
  }
  const swap = (bytes: Buffer) => {
    const at = below(bytes.length)
    return Buffer.concat([bytes.subarray(at), bytes.subarray(0, at)])
  }

  return {
    below,
    pick,
    /** A copy of the bytes with one to three mutations. */
    mutate: (bytes: Uint8Array): Buffer => {
      let broken = Buffer.from(bytes)
      for (let time = below(3); time >= 0; time--) {
        broken = Buffer.from(pick([flip, flip, flip, cut, noise, token, repeat, swap])(broken))
        if (broken.length === 0) break
      }
      return broken
    }
  }
}

/** Byte sequences that have broken HTTP parsers. */
const tokens = [
  "\r\n",
  "\n",
  "\r",
  "\0",
  "\r\n\r\n",
  ": ",
  " HTTP/1.1\r\n",
  "Transfer-Encoding: chunked\r\n",
  "Transfer-Encoding: gzip, chunked\r\n",
  "Content-Length: 5\r\n",
  "Content-Length: -1\r\n",
  "Content-Length: 99999999999999999999\r\n",
  "Connection: upgrade\r\nUpgrade: websocket\r\n",
  "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n",
  "Expect: 100-continue\r\n",
  "Content-Encoding: gzip\r\n",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "CONNECT example.com:443 HTTP/1.1\r\n",
  "0\r\n\r\n",
  "ffffffffffffffff\r\n",
  "5;a=b\r\nhello\r\n",
  "%00",
  "../",
  "\ud800",
  "a".repeat(5000)
]
