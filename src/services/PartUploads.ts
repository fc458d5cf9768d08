import { Context, Effect, Layer, type Stream } from "effect"
import { FileNotFoundError } from "../domain/assets/File.ts"
import { InvalidAddressError, PayloadTooLargeError, RouteNotFoundError } from "../domain/write/RequestErrors.ts"
import { FileParts } from "../storage/FileParts.ts"
import type { StorageUnavailableError } from "../storage/Storage.ts"

type Refused =
  | FileNotFoundError
  | InvalidAddressError
  | PayloadTooLargeError
  | RouteNotFoundError
  | StorageUnavailableError

/** Takes the parts of uploads that are sent here. */
export class PartUploads extends Context.Service<
  PartUploads,
  {
    /** Keeps the bytes of a part and tells its entity tag; `url` is the path and query it was sent to. */
    receive(url: string, bytes: Stream.Stream<Uint8Array>): Effect.Effect<string, Refused>
  }
>()("waypost/services/PartUploads") {
  /** Into the file storage. */
  static readonly layerFile = Layer.effect(
    PartUploads,
    Effect.gen(function* () {
      const parts = yield* FileParts
      const receive = Effect.fn("PartUploads.receive")(
        function* (url: string, bytes: Stream.Stream<Uint8Array>) {
          const grant = yield* parts.verify(url)
          const received = yield* Effect.catchTag(parts.receive(grant, bytes), "UploadGoneError", () =>
            Effect.fail(FileNotFoundError.of(grant.uploadId))
          )
          return received.eTag
        },
        Effect.catchTags({
          PartUrlRefusedError: ({ message }) => Effect.fail(new InvalidAddressError({ message })),
          PartTooLargeError: ({ message }) => Effect.fail(new PayloadTooLargeError({ message }))
        })
      )
      return PartUploads.of({ receive })
    })
  )

  /** Nowhere: an S3 store takes them itself. */
  static readonly layerS3 = Layer.succeed(PartUploads, {
    receive: () =>
      Effect.fail(new RouteNotFoundError({ message: "The parts of an upload go to the url of its answer" }))
  })
}
