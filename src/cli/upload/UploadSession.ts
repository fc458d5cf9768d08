import { Effect, Option } from "effect"
import { HttpBody, HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { Client } from "../../client/Client.ts"
import * as Multipart from "../../client/Multipart.ts"
import type { FileId } from "../../domain/assets/File.ts"
import type { UploadId } from "../../domain/assets/Upload.ts"
import { CommandError, type Failure, persistently } from "../Failures.ts"
import * as LocalFile from "./LocalFile.ts"

export type Content = Multipart.Content

const isForbidden = (failure: Failure) => HttpClientError.isHttpClientError(failure) && failure.response?.status === 403

/** Multipart uploads through the API, which can be resumed. */
export const make = Effect.gen(function* () {
  const { uploads } = yield* Client
  const http = yield* HttpClient.HttpClient

  const put = (url: string, part: Blob): Effect.Effect<string, Failure> =>
    Effect.gen(function* () {
      // Checked first: a read error while sending would look like a broken connection and be retried.
      yield* LocalFile.checkReadable(part)
      const request = HttpClientRequest.put(url, { body: HttpBody.raw(part) })
      const response = yield* http.execute(request)
      // S3 answers so when a part arrives too slowly.
      if (response.status === 400 && (yield* response.text).includes("<Code>RequestTimeout</Code>")) {
        const description = "The part did not arrive in time"
        return yield* new HttpClientError.HttpClientError({
          reason: new HttpClientError.TransportError({ request, description })
        })
      }
      yield* HttpClientResponse.filterStatusOk(response)
      yield* response.text
      return yield* Effect.fromOption(
        Option.fromUndefinedOr(response.headers["etag"]),
        () => new CommandError({ message: `${new URL(url).origin} accepted a part and returned no ETag` })
      )
    })

  const multipart = Multipart.make<UploadId, FileId, Failure>({
    initialize: (init) => persistently(uploads.initialize({ payload: init })),
    get: (uuid) => persistently(uploads.get({ params: { uuid } })),
    renewParts: (uuid, partNumbers) =>
      Effect.map(
        persistently(uploads.renewParts({ params: { uuid }, payload: { partNumbers } })),
        ({ parts }) => parts
      ),
    complete: (uuid, parts) =>
      Effect.map(persistently(uploads.complete({ payload: { uuid, parts } })), ({ fileUuid }) => fileUuid),
    put: (url, part) => persistently(put(url, part)),
    isExpired: isForbidden,
    isGone: ({ _tag }) => _tag === "FileNotFoundError"
  })

  return {
    ...multipart,
    /** Best effort: an open session expires within a day. */
    abort: (uuid: UploadId) => Effect.ignore(uploads.abort({ params: { uuid } }))
  }
})

export type UploadSession = Effect.Success<typeof make>
