import { Effect, Option, Struct } from "effect"
import { HttpBody, HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { Client } from "../../client/Client.ts"
import type { FileId } from "../../domain/assets/File.ts"
import type { PartUrl, UploadId, UploadInit } from "../../domain/assets/Upload.ts"
import { CommandError, type Failure, persistently } from "../Failures.ts"
import * as LocalFile from "./LocalFile.ts"

/** A file to be sent: its bytes, read from the disk when they are asked for, and who wants to know what became of them. */
export interface Content {
  readonly bytes: Blob
  /** How many parts are sent at once. */
  readonly concurrency: number
  readonly onSent: (bytes: number) => void
  /** Bytes that an earlier run has sent. */
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

/** How often a part is sent to a fresh address when the one it had is refused. */
const freshAddresses = 3

const partOf = (bytes: Blob, partSize: number, partNumber: number) =>
  bytes.slice((partNumber - 1) * partSize, partNumber * partSize)

const isForbidden = (failure: Failure) => HttpClientError.isHttpClientError(failure) && failure.response?.status === 403

/** Uploads through the API: begun, sent in parts, gone on with after an interruption, and completed. */
export const make = Effect.gen(function* () {
  const { uploads } = yield* Client
  const http = yield* HttpClient.HttpClient

  const put = (url: string, part: Blob): Effect.Effect<string, Failure> =>
    Effect.gen(function* () {
      // Otherwise it would look like a broken connection, and be tried again and again.
      yield* LocalFile.stillReadable(part)
      const response = yield* http.execute(HttpClientRequest.put(url, { body: HttpBody.raw(part) }))
      yield* HttpClientResponse.filterStatusOk(response)
      yield* response.text
      return yield* Effect.fromOption(
        Option.fromUndefinedOr(response.headers["etag"]),
        () => new CommandError({ message: `${new URL(url).origin} took a part and answered without an ETag` })
      )
    })

  /** Sends one part; its address may have expired while others went. */
  const sendPart = (
    session: Session,
    { partNumber, url }: PartUrl,
    content: Content,
    attempts = freshAddresses
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

  /** Sends the parts that have an address, and completes the upload with those that are there already. */
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

  /** Goes on with an upload; none when it cannot go on. */
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
    const there = new Set(arrived.map(({ partNumber }) => partNumber))
    const missing = Array.from({ length: numberOfParts }, (_, index) => index + 1).filter((part) => !there.has(part))
    const addresses = missing.length === 0 ? [] : yield* renew(uuid, missing)
    return Option.some(yield* finish({ uuid, partSize }, addresses, arrived, content))
  })

  return {
    begin: (init: UploadInit) => persistently(uploads.initialize({ payload: init })),
    finish,
    resume,
    /** Best effort: a session that stays open expires by itself within a day. */
    abort: (uuid: UploadId) => Effect.ignore(uploads.abort({ params: { uuid } }))
  }
})
