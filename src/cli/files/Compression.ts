import { NodeStream } from "@effect/platform-node"
import { Effect, Stream } from "effect"
import { createGunzip } from "node:zlib"
import { FormatError } from "./Row.ts"
import * as Head from "./Head.ts"

/** The number of bytes. */
export const sizeOf = (chunks: ReadonlyArray<Uint8Array>) => chunks.reduce((sum, { length }) => sum + length, 0)

const isGzip = (head: ReadonlyArray<Uint8Array>) => {
  const [first, second] = Buffer.concat(head.slice(0, 2))
  return first === 0x1f && second === 0x8b
}

/** The bytes of a file, decompressed if they begin like gzip, whatever the name of the file. */
export const decompress = <E, R>(
  bytes: Stream.Stream<Uint8Array, E, R>
): Stream.Stream<Uint8Array, E | FormatError, R> =>
  Stream.unwrap(
    Effect.map(
      Head.peek(bytes, (head) => sizeOf(head) >= 2),
      ({ head, stream }) =>
        isGzip(head)
          ? NodeStream.pipeThroughDuplex(stream, {
              evaluate: () => createGunzip(),
              onError: () => new FormatError({ message: "The gzip data is damaged or incomplete" })
            })
          : stream
    )
  )
