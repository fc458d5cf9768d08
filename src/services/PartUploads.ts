import { Context, Effect, Layer, Option, type Stream } from "effect"
import { FileNotFoundError } from "../domain/assets/File.ts"
import { InvalidAddressError, type PayloadTooLargeError, RouteNotFoundError } from "../domain/write/RequestErrors.ts"
import { Uploads } from "../repositories/assets/Uploads.ts"
import { FileParts } from "../storage/FileParts.ts"
import { path } from "../storage/PartUrl.ts"
import type { StorageUnavailableError } from "../storage/Storage.ts"

export { path as partPath }

/** Receives the parts of uploads. */
export class PartUploads extends Context.Service<
  PartUploads,
  {
    /** Stores the bytes of a part and returns its entity tag; `url` is the path and query of the request. */
    receive(
      url: string,
      bytes: Stream.Stream<Uint8Array>
    ): Effect.Effect<
      string,
      FileNotFoundError | InvalidAddressError | PayloadTooLargeError | RouteNotFoundError | StorageUnavailableError
    >
  }
>()("waypost/services/PartUploads") {
  /** Into the file storage. */
  static readonly layerFile = Layer.effect(
    PartUploads,
    Effect.gen(function* () {
      const parts = yield* FileParts
      const uploads = yield* Uploads
      const check = Effect.fnUntraced(function* (storageId: string) {
        const isActive = yield* uploads.hasActiveKey(storageId)
        if (Option.isNone(isActive)) return yield* FileNotFoundError.of(storageId)
        if (!isActive.value) return yield* keyEnded
      })
      const receive = Effect.fn("PartUploads.receive")(function* (url: string, bytes: Stream.Stream<Uint8Array>) {
        const grant = yield* parts.verify(url)
        yield* check(grant.uploadId)
        // A part may take hours. An unavailable database does not end it.
        const checkAgain = Effect.delay(
          Effect.catchDefect(check(grant.uploadId), () => Effect.void),
          checkEvery
        )
        const { eTag } = yield* Effect.raceFirst(parts.receive(grant, bytes), Effect.forever(checkAgain))
        return eTag
      })
      return PartUploads.of({ receive })
    })
  )

  /** Rejects every part: clients send them to the S3 store. */
  static readonly layerS3 = Layer.succeed(PartUploads, {
    receive: () =>
      Effect.fail(new RouteNotFoundError({ message: "Send the parts of an upload to the URLs that the upload lists" }))
  })
}

/** How often the key of a part that is being received is checked. */
const checkEvery = "1 minute"

const keyEnded = new InvalidAddressError({ message: "The key of this upload is revoked or has expired" })
