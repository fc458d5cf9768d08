import { Effect, Option } from "effect"
import type { PartUrl, Upload, UploadInit, UploadSession } from "../domain/assets/Upload.ts"

/** The bytes of a file, read on demand, with callbacks for progress. */
export interface Content {
  readonly bytes: Blob
  /** Parts sent concurrently. */
  readonly concurrency: number
  readonly onSent: (bytes: number) => void
  /** Receives the number of bytes that an earlier attempt has sent. */
  readonly onFound: (bytes: number) => void
}

export interface SentPart {
  readonly partNumber: number
  readonly eTag: string
}

type Session<Id> = Pick<UploadSession, "partSize"> & { readonly uuid: Id }
type Begun<Id> = Session<Id> & Pick<UploadSession, "parts"> & { readonly duplicateOf?: { readonly assetUuid: string } }
type Found<File> = Pick<Upload, "status" | "numberOfParts" | "partSize" | "parts"> & { readonly fileUuid?: File }

/** The requests of an upload, each with the retries of its client. */
export interface Calls<Id, File, E> {
  readonly initialize: (init: UploadInit) => Effect.Effect<Begun<Id>, E>
  readonly get: (uuid: Id) => Effect.Effect<Found<File>, E>
  readonly renewParts: (uuid: Id, partNumbers: ReadonlyArray<number>) => Effect.Effect<ReadonlyArray<PartUrl>, E>
  readonly complete: (uuid: Id, parts: ReadonlyArray<SentPart>) => Effect.Effect<File, E>
  /** Sends the bytes of a part, and returns its entity tag. */
  readonly put: (url: string, part: Blob) => Effect.Effect<string, E>
  /** Whether the storage rejected the address of a part, which expires. */
  readonly isExpired: (error: E) => boolean
  /** Whether the upload does not exist. */
  readonly isGone: (error: E) => boolean
}

/** Attempts with a new address after an address was rejected. */
const maxRenewals = 3

const partOf = (bytes: Blob, partSize: number, partNumber: number) =>
  bytes.slice((partNumber - 1) * partSize, partNumber * partSize)

/** Multipart uploads that can be resumed. */
export const make = <Id, File, E>(calls: Calls<Id, File, E>) => {
  const { complete, get, isExpired, isGone, put, renewParts } = calls

  /** Sends one part, with a new address when its own has expired. */
  const sendPart = (
    session: Session<Id>,
    { partNumber, url }: PartUrl,
    content: Content,
    attempts = maxRenewals
  ): Effect.Effect<SentPart, E> => {
    const part = partOf(content.bytes, session.partSize, partNumber)
    return put(url, part).pipe(
      Effect.map((eTag) => {
        content.onSent(part.size)
        return { partNumber, eTag }
      }),
      Effect.catchIf(
        (error) => attempts > 0 && isExpired(error),
        () =>
          Effect.flatMap(renewParts(session.uuid, [partNumber]), ([address]) =>
            sendPart(session, address!, content, attempts - 1)
          )
      )
    )
  }

  /** Sends the parts of `addresses`, and completes the upload together with those that arrived before. */
  const finish = (
    session: Session<Id>,
    addresses: ReadonlyArray<PartUrl>,
    arrived: ReadonlyArray<SentPart>,
    content: Content
  ): Effect.Effect<File, E> =>
    Effect.flatMap(
      Effect.forEach(addresses, (address) => sendPart(session, address, content), { concurrency: content.concurrency }),
      (sent) =>
        complete(
          session.uuid,
          [...arrived, ...sent].map(({ eTag, partNumber }) => ({ partNumber, eTag }))
        )
    )

  /** Resumes an upload; none when it has ended without a file. */
  const resume = Effect.fnUntraced(function* (uuid: Id, content: Content): Effect.fn.Return<Option.Option<File>, E> {
    const found = yield* get(uuid).pipe(
      Effect.asSome,
      Effect.catchIf(isGone, () => Effect.succeedNone)
    )
    if (Option.isNone(found)) return Option.none()
    const { fileUuid, numberOfParts, partSize, parts, status } = found.value
    if (status === "completed") return Option.fromUndefinedOr(fileUuid)
    if (status !== "open") return Option.none()
    const arrived = parts.filter(({ partNumber, size }) => size === partOf(content.bytes, partSize, partNumber).size)
    for (const { size } of arrived) content.onFound(size)
    const present = new Set(arrived.map(({ partNumber }) => partNumber))
    const missing = Array.from({ length: numberOfParts }, (_, index) => index + 1).filter((part) => !present.has(part))
    const addresses = missing.length === 0 ? [] : yield* renewParts(uuid, missing)
    return Option.some(yield* finish({ uuid, partSize }, addresses, arrived, content))
  })

  return { begin: calls.initialize, finish, resume }
}
