import { Context, Effect, Layer, type Stream } from "effect"
import type { FileNotFoundError } from "../domain/assets/File.ts"
import {
  type InvalidAddressError,
  type PayloadTooLargeError,
  RouteNotFoundError
} from "../domain/write/RequestErrors.ts"
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
    Effect.map(FileParts, (parts) => ({
      receive: Effect.fn("PartUploads.receive")(function* (url, bytes) {
        const { eTag } = yield* parts.receive(yield* parts.verify(url), bytes)
        return eTag
      })
    }))
  )

  /** Rejects every part: clients send them to the S3 store. */
  static readonly layerS3 = Layer.succeed(PartUploads, {
    receive: () =>
      Effect.fail(new RouteNotFoundError({ message: "Send the parts of an upload to the URLs that the upload lists" }))
  })
}
