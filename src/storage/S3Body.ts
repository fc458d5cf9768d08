import * as NodeStream from "@effect/platform-node/NodeStream"
import { Cause, type Duration, Effect, Pull, Stream } from "effect"
import type { Readable } from "node:stream"
import { tooSlow, unavailable } from "./S3Client.ts"
import { StorageUnavailableError } from "./Storage.ts"

/**
 * The bytes of a response, checked against its announced length: a connection that is closed early can look like the end
 * of the body, and half a file would pass for a whole one.
 */
export const bytesOf = (
  body: Readable,
  expected: number,
  patience: Duration.Duration
): Stream.Stream<Uint8Array, StorageUnavailableError> =>
  Stream.transformPull(
    NodeStream.fromReadable<Uint8Array, StorageUnavailableError>({ evaluate: () => body, onError: unavailable }),
    (pull) =>
      Effect.sync(() => {
        let received = 0
        return pull.pipe(
          // Limits the wait for the store only, not the time of the reader.
          Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.fail(tooSlow) }),
          Effect.tap((chunks) =>
            Effect.sync(() => {
              for (const chunk of chunks) received += chunk.length
            })
          ),
          Pull.catchDone((): Pull.Pull<never, StorageUnavailableError> =>
            received === expected ? Cause.done() : Effect.fail(cutShort)
          )
        )
      })
  )

const cutShort = new StorageUnavailableError({
  message: "The object store sent fewer or more bytes than it announced"
})
