import { Effect, Option, Struct } from "effect"
import { HttpBody, HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { Client } from "../../client/Client.ts"
import type { FileId } from "../../domain/assets/File.ts"
import type { PartUrl, UploadId, UploadInit } from "../../domain/assets/Upload.ts"
import { CommandError, type Failure, persistently } from "../Failures.ts"
import * as LocalFile from "./LocalFile.ts"

/** The bytes of a file, read from the disk on demand, with callbacks for progress. */
export interface Content {
  readonly bytes: Blob
  /** Parts sent concurrently. */
  readonly concurrency: number
  readonly onSent: (bytes: number) => void
  /** Receives the number of bytes that an earlier run has sent. */
  readonly onFound: (bytes: number) => void
}

interface SentPart {
  readonly partNumber: number
  readonly eTag: string
}

interface Session {
  readonly uuid: UploadId
  readonly partSize: number
}

/** Attempts with a new address after an address was rejected. */
const maxRenewals = 3

const partOf = (bytes: Blob, partSize: number, partNumber: number) =>
  bytes.slice((partNumber - 1) * partSize, partNumber * partSize)

const isForbidden = (failure: Failure) => HttpClientError.isHttpClientError(failure) && failure.response?.status === 403

/** Multipart uploads through the API, which can be resumed. */
export const make = Effect.gen(function* () {
  const { uploads } = yield* Client
  const http = yield* HttpClient.HttpClient

  const put = (url: string, part: Blob): Effect.Effect<string, Failure> =>
    Effect.gen(function* () {
      // Checked first: a read error while sending would look like a broken connection and be retried.
      yield* LocalFile.checkReadable(part)
      const response = yield* http.execute(HttpClientRequest.put(url, { body: HttpBody.raw(part) }))
      yield* HttpClientResponse.filterStatusOk(response)
      yield* response.text
      return yield* Effect.fromOption(
        Option.fromUndefinedOr(response.headers["etag"]),
        () => new CommandError({ message: `${new URL(url).origin} accepted a part and returned no ETag` })
      )
    })

  /** Sends one part, with a new address when its own has expired. */
  const sendPart = (
    session: Session,
    { partNumber, url }: PartUrl,
    content: Content,
    attempts = maxRenewals
  ): Effect.Effect<SentPart, Failure> => {
    const part = partOf(content.bytes, session.partSize, partNumber)
    return persistently(put(url, part)).pipe(
      Effect.map((eTag) => {
        content.onSent(part.size)
        return { partNumber, eTag }
      }),
      Effect.catchIf(
        (failure) => attempts > 0 && isForbidden(failure),
        () =>
          Effect.flatMap(renew(session.uuid, [partNumber]), ([address]) =>
            sendPart(session, address!, content, attempts - 1)
          )
      )
    )
  }

  const renew = (uuid: UploadId, partNumbers: ReadonlyArray<number>) =>
    Effect.map(
      persistently(uploads.renewParts({ params: { uuid }, payload: { partNumbers } })),
      ({ parts }): ReadonlyArray<PartUrl> => parts
    )

  /** Sends the parts of `addresses`, and completes the upload together with those that arrived before. */
  const finish = Effect.fnUntraced(function* (
    session: Session,
    addresses: ReadonlyArray<PartUrl>,
    arrived: ReadonlyArray<SentPart>,
    content: Content
  ): Effect.fn.Return<FileId, Failure> {
    const sent = yield* Effect.forEach(addresses, (address) => sendPart(session, address, content), {
      concurrency: content.concurrency
    })
    const parts = [...arrived, ...sent].map(Struct.pick(["partNumber", "eTag"]))
    const payload = { uuid: session.uuid, parts }
    return (yield* persistently(uploads.complete({ payload }))).fileUuid
  })

  /** Resumes an upload; none when it has ended without a file. */
  const resume = Effect.fnUntraced(function* (uuid: UploadId, content: Content) {
    const found = yield* persistently(uploads.get({ params: { uuid } })).pipe(
      Effect.asSome,
      Effect.catchIf(
        ({ _tag }) => _tag === "FileNotFoundError",
        () => Effect.succeedNone
      )
    )
    if (Option.isNone(found)) return Option.none<FileId>()
    const { fileUuid, numberOfParts, partSize, parts, status } = found.value
    if (status === "completed") return Option.fromUndefinedOr(fileUuid)
    if (status !== "open") return Option.none<FileId>()
    const arrived = parts.filter(({ partNumber, size }) => size === partOf(content.bytes, partSize, partNumber).size)
    for (const { size } of arrived) content.onFound(size)
    const present = new Set(arrived.map(({ partNumber }) => partNumber))
    const missing = Array.from({ length: numberOfParts }, (_, index) => index + 1).filter((part) => !present.has(part))
    const addresses = missing.length === 0 ? [] : yield* renew(uuid, missing)
    return Option.some(yield* finish({ uuid, partSize }, addresses, arrived, content))
  })

  return {
    begin: (init: UploadInit) => persistently(uploads.initialize({ payload: init })),
    finish,
    resume,
    /** Best effort: an open session expires within a day. */
    abort: (uuid: UploadId) => Effect.ignore(uploads.abort({ params: { uuid } }))
  }
})

export type UploadSession = Effect.Success<typeof make>
