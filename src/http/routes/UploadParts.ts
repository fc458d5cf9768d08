import { Effect, Layer, Stream } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { RequestTimeoutError } from "../../domain/write/RequestErrors.ts"
import { PartUploads } from "../../services/PartUploads.ts"
import * as Cors from "../transport/Cors.ts"

export const path = "/uploads/:upload/:part"

/** How long a part may send nothing; how long it takes as a whole depends on the client's line. */
const idle = "30 seconds"

const stalled = new RequestTimeoutError({ message: "No bytes of the part arrived for 30 seconds; send the part again" })

/** S3 answers 200 with nothing in it, and not 204; clients were written for that. */
const nothing = { "content-length": "0" }

/**
 * Takes the parts of uploads to the local storage, from any page: the address itself is the permission. It is no
 * operation of the API, because with an S3 store the same request goes there.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const router = yield* HttpRouter.HttpRouter
    const parts = yield* PartUploads
    yield* router.add("OPTIONS", path, Cors.preflight("PUT"))
    yield* router.add("PUT", path, (request) => {
      const bytes = Stream.timeoutOrElse(request.stream, { duration: idle, orElse: () => Stream.fail(stalled) })
      return parts.receive(request.url, Stream.orDie(bytes)).pipe(
        Effect.map((eTag) => HttpServerResponse.empty({ status: 200, headers: { ...nothing, etag: `"${eTag}"` } })),
        Effect.orDie,
        Cors.shared
      )
    })
  })
)
