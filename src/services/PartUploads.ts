import { Context, Effect, Layer, Option, type Stream } from "effect"
import type { ApiKeyId } from "../domain/keys/ApiKey.ts"
import { FileNotFoundError } from "../domain/assets/File.ts"
import { InvalidAddressError, type PayloadTooLargeError, RouteNotFoundError } from "../domain/write/RequestErrors.ts"
import { Uploads } from "../repositories/assets/Uploads.ts"
import { FileParts } from "../storage/FileParts.ts"
import { path } from "../storage/PartUrl.ts"
import type { StorageUnavailableError } from "../storage/Storage.ts"

export { path as partPath }

/** Runs work in the share of a key, or fails when the share is used up. */
type InShare<Rejected> = <A, E>(key: ApiKeyId, work: Effect.Effect<A, E>) => Effect.Effect<A, E | Rejected>

/** Receives the parts of uploads. */
export class PartUploads extends Context.Service<
  PartUploads,
  {
    /**
     * Stores the bytes of a part and returns its entity tag; `url` is the path and query of the request. `inShare` runs the
     * work in the share of the upload's key.
     */
    receive<Rejected>(
      url: string,
      bytes: Stream.Stream<Uint8Array>,
      inShare: InShare<Rejected>
    ): Effect.Effect<
      string,
      | FileNotFoundError
      | InvalidAddressError
      | PayloadTooLargeError
      | RouteNotFoundError
      | StorageUnavailableError
      | Rejected
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
        const key = yield* uploads.keyOf(storageId)
        if (Option.isNone(key)) return yield* FileNotFoundError.of(storageId)
        return key.value.isActive ? key.value.uuid : yield* keyEnded
      })
      const receive = Effect.fn("PartUploads.receive")(function* <Rejected>(
        url: string,
        bytes: Stream.Stream<Uint8Array>,
        inShare: InShare<Rejected>
      ) {
        const grant = yield* parts.verify(url)
        const key = yield* check(grant.uploadId)
        // A part may take hours. An unavailable database does not end it.
        const checkAgain = Effect.delay(
          Effect.catchDefect(check(grant.uploadId), (defect) =>
            Effect.logWarning("Could not check the key of a part", defect)
          ),
          checkEvery
        )
        const work = Effect.raceFirst(parts.receive(grant, bytes), Effect.forever(checkAgain))
        const { eTag } = yield* inShare(key, work)
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
