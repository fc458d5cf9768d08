import { Effect, Layer, Stream } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { RequestTimeoutError } from "../../domain/write/RequestErrors.ts"
import { partPath, PartUploads } from "../../services/PartUploads.ts"
import * as Cors from "../transport/Cors.ts"
import type { Route } from "../transport/RouteTable.ts"

/** A part takes as long as the client's bandwidth needs. */
export const route = {
  method: "PUT",
  path: partPath,
  limits: { answerMillis: 24 * 3_600_000, hasSlowBody: true, inFlight: "parts" }
} as const satisfies Route

/** How long a part may send no bytes. */
const idle = "30 seconds"

const stalled = new RequestTimeoutError({ message: "No bytes of the part arrived for 30 seconds; send the part again" })

/** S3 answers 200 with an empty body and not 204, and clients expect that. */
const empty = { "content-length": "0" }

/**
 * Takes the parts of uploads to the local storage, from any page: the signed URL is the permission. It is not in the
 * contract, because with an S3 store the same request goes to the store.
 */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const router = yield* HttpRouter.HttpRouter
    const parts = yield* PartUploads
    yield* router.add("OPTIONS", route.path, Cors.preflight(route.method))
    yield* router.add(route.method, route.path, (request) => {
      const bytes = Stream.timeoutOrElse(request.stream, { duration: idle, orElse: () => Stream.fail(stalled) })
      return parts.receive(request.url, Stream.orDie(bytes)).pipe(
        Effect.map((eTag) => HttpServerResponse.empty({ status: 200, headers: { ...empty, etag: `"${eTag}"` } })),
        Effect.orDie,
        Cors.shared
      )
    })
  })
)
