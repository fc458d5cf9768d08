import { Context, DateTime, Duration, Effect, Layer, Option, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import mime from "mime-types"
import { Settings } from "../settings/Config.ts"
import type { ApiKeyId } from "../domain/keys/ApiKey.ts"
import { extensionOf, FileId, FileNotFoundError, storageKey } from "../domain/assets/File.ts"
import * as Written from "../domain/write/Written.ts"
import { InvalidRequestError, ServiceUnavailableError } from "../domain/write/RequestErrors.ts"
import {
  type CompletedUpload,
  openUploads,
  partSizeOf,
  type PartUrl,
  partUrlSeconds,
  type Upload,
  type UploadComplete,
  UploadId,
  type UploadInit,
  type UploadSession
} from "../domain/assets/Upload.ts"
import { Files } from "../repositories/assets/Files.ts"
import { claimSeconds, type StoredUpload, Uploads as Repository } from "../repositories/assets/Uploads.ts"
import { type MultipartUpload, Storage, type StorageUnavailableError } from "../storage/Storage.ts"
import * as UploadCompletion from "./UploadCompletion.ts"
import { isBlocked } from "./UploadRules.ts"

type WrittenUpload<Answer> = Written.WrittenWith<"uploads", UploadId, Answer>

/**
 * Multipart uploads: the client begins one, sends the parts straight to the storage, and completes it into a file. The
 * bytes are stored first and the row after them, so that every file row has its bytes; the sweeper removes bytes that a
 * crash leaves without a row.
 */
export class Uploads extends Context.Service<
  Uploads,
  {
    initialize(init: UploadInit, key: ApiKeyId): Effect.Effect<WrittenUpload<UploadSession>, InvalidRequestError>
    /** Of several concurrent calls one joins the parts, and all get the same answer. */
    complete(
      request: UploadComplete,
      key: ApiKeyId
    ): Effect.Effect<Written.WrittenWith<"files", FileId, CompletedUpload>, FileNotFoundError | InvalidRequestError>
    get(uuid: UploadId, key: ApiKeyId): Effect.Effect<Upload, FileNotFoundError>
    /** Fresh addresses for parts. */
    renewParts(
      uuid: UploadId,
      partNumbers: ReadonlyArray<number>,
      key: ApiKeyId
    ): Effect.Effect<WrittenUpload<{ readonly parts: ReadonlyArray<PartUrl> }>, FileNotFoundError | InvalidRequestError>
    abort(
      uuid: UploadId,
      key: ApiKeyId
    ): Effect.Effect<Written.Written<"uploads", UploadId>, FileNotFoundError | InvalidRequestError>
    /** Whether the storage answers. */
    readonly storage: Effect.Effect<void, StorageUnavailableError>
  }
>()("waypost/services/Uploads") {
  static readonly layer = Layer.effect(
    Uploads,
    Effect.gen(function* () {
      const repository = yield* Repository
      const storage = yield* Storage
      const urlsOf = partUrls(storage)
      const { mine, storedOf } = lookups(repository)

      const get = Effect.fn("Uploads.get")(function* (uuid: UploadId, key: ApiKeyId) {
        const { fileUuid, ...upload } = yield* mine(uuid, key)
        const { contentType: _type, expiresAt, sha256: _hash, storageId, ...shown } = upload
        const parts =
          upload.status === "open" && storageId !== undefined
            ? yield* Effect.orDie(storage.parts(inStorage({ fileUuid }, storageId)))
            : []
        return {
          ...shown,
          parts,
          expiresAt: DateTime.makeUnsafe(expiresAt),
          ...(upload.status === "completed" ? { fileUuid } : {})
        }
      })

      const renewParts = Effect.fn("Uploads.renewParts")(function* (
        uuid: UploadId,
        partNumbers: ReadonlyArray<number>,
        key: ApiKeyId
      ) {
        const upload = yield* mine(uuid, key)
        const { fileSize, numberOfParts } = upload
        const stored = yield* storedOf(upload)
        const wrong = partNumbers.findIndex((number) => number > numberOfParts)
        if (wrong !== -1)
          return yield* InvalidRequestError.inBody(
            `partNumbers.${wrong}`,
            "outOfRange",
            `This upload has ${numberOfParts} parts`
          )
        const parts = yield* Effect.orDie(urlsOf(stored, fileSize, [...new Set(partNumbers)]))
        return { ...Written.updated("uploads", uuid, false), answer: { parts } }
      })

      const abort = Effect.fn("Uploads.abort")(function* (uuid: UploadId, key: ApiKeyId) {
        const upload = yield* mine(uuid, key)
        const written = Written.deleted("uploads", uuid)
        if (upload.status === "completed") return yield* alreadyCompleted
        // A session whose beginning was interrupted has nothing in the storage, and still counts as open.
        const unstarted = upload.status === "open" && upload.storageId === undefined
        if (unstarted && (yield* repository.end(uuid, "aborted"))) return written
        const stored = yield* storedOf(upload)
        if (!(yield* repository.end(uuid, "aborted"))) return yield* beingCompleted
        yield* Effect.orDie(storage.abort(stored))
        // A completion that was interrupted by a crash may have joined the parts.
        yield* Effect.orDie(storage.remove(stored.key))
        return written
      })

      return Uploads.of({
        initialize: yield* makeInitialize,
        complete: yield* makeComplete,
        get,
        renewParts,
        abort,
        storage: storage.check
      })
    })
  )
}

const makeInitialize = Effect.gen(function* () {
  const settings = yield* Settings
  const { UPLOAD_MAX_BYTES: maxBytes } = settings
  const repository = yield* Repository
  const files = yield* Files
  const storage = yield* Storage
  const urlsOf = partUrls(storage)

  return Effect.fn("Uploads.initialize")(function* (init: UploadInit, key: ApiKeyId) {
    const { fileName, fileSize } = init
    const contentType = yield* acceptedType(init, settings)
    if (fileSize > maxBytes)
      return yield* InvalidRequestError.inBody("fileSize", "tooLarge", `A file has at most ${maxBytes} bytes here`)
    const partSize = partSizeOf(fileSize)
    const uuid = UploadId.make(SecureRandom.uuidV7Unsafe())
    const fileUuid = FileId.make(SecureRandom.uuidV7Unsafe())
    const numberOfParts = Math.ceil(fileSize / partSize)
    const sha256 = init.sha256 ?? undefined
    const begun = yield* repository.begin(
      { uuid, apiKeyUuid: key, fileUuid, fileName, fileSize, contentType, sha256, partSize, numberOfParts },
      maxBytes
    )
    if (Option.isNone(begun)) return yield* tooManyOpen(maxBytes)
    const upload = yield* storage.begin(storageKey(fileUuid), contentType).pipe(
      Effect.tapError(() => repository.discard(uuid)),
      Effect.orDie
    )
    yield* repository.started(uuid, upload.id)
    const parts = yield* Effect.orDie(urlsOf(upload, fileSize, numbersTo(numberOfParts)))
    const duplicate = sha256 === undefined ? Option.none() : yield* files.findDuplicate(sha256, fileSize)
    const answer: UploadSession = {
      uuid,
      numberOfParts,
      parts,
      partSize,
      expiresAt: DateTime.makeUnsafe(begun.value.expiresAt),
      requiredHeaders: {},
      ...(Option.isSome(duplicate) ? { duplicateOf: duplicate.value } : {})
    }
    return { ...Written.created("uploads", uuid), answer }
  })
})

/** How long a completion waits for another one of the same upload: longer than the claim of a crashed process holds. */
export const CompletionPatience = Context.Reference<Duration.Input>("waypost/services/CompletionPatience", {
  defaultValue: () => Duration.seconds(claimSeconds + 10)
})

const stillCompleting = new ServiceUnavailableError({
  message: "Another request is completing this upload; complete it again later"
})

/** An upload that this request may complete; without `stored`, another request has completed it. */
interface Claim {
  readonly upload: StoredUpload
  readonly stored: MultipartUpload | undefined
}

const makeComplete = Effect.gen(function* () {
  const repository = yield* Repository
  const files = yield* Files
  const completion = yield* UploadCompletion.make
  const patience = yield* CompletionPatience
  const { mine, storedOf } = lookups(repository)

  const claim = Effect.fnUntraced(function* (
    uuid: UploadId,
    key: ApiKeyId
  ): Effect.fn.Return<Claim | undefined, FileNotFoundError> {
    const upload = yield* mine(uuid, key)
    if (upload.status === "completed") return { upload, stored: undefined }
    const stored = yield* storedOf(upload)
    if (yield* repository.claim(uuid)) return { upload, stored }
    return undefined
  })

  /** Waits while another request holds the claim, and asks less and less often. */
  const claimOrWait = (uuid: UploadId, key: ApiKeyId) =>
    Effect.repeat(claim(uuid, key), {
      until: (found): found is Claim => found !== undefined,
      schedule: Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("2 seconds")])
    }).pipe(
      Effect.flatMap((found) => (found === undefined ? Effect.die(stillCompleting) : Effect.succeed(found))),
      Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.die(stillCompleting) })
    )

  const completeClaimed = (upload: StoredUpload, stored: MultipartUpload, parts: UploadComplete["parts"]) =>
    completion(upload, stored, parts).pipe(
      Effect.raceFirst(Effect.forever(Effect.delay(repository.renew(upload.uuid), `${claimSeconds / 3} seconds`))),
      // Last, or a renewal that is under way could bring back the claim.
      Effect.ensuring(repository.release(upload.uuid)),
      Effect.catchTag("StorageUnavailableError", Effect.die)
    )

  return Effect.fn("Uploads.complete")(function* ({ parts, uuid }: UploadComplete, key: ApiKeyId) {
    const { stored, upload } = yield* claimOrWait(uuid, key)
    const { fileUuid } = upload
    if (stored !== undefined) {
      yield* completeClaimed(upload, stored, parts)
      // An upload that was ended in the meantime has no file.
      if ((yield* mine(uuid, key)).status !== "completed") return yield* FileNotFoundError.of(uuid)
    }
    const answer = { fileUuid, url: yield* files.url(fileUuid) }
    return { ...Written.created("files", fileUuid), changed: stored !== undefined, answer }
  })
})

const lookups = (repository: Repository["Service"]) => ({
  /** The upload, if this key may read it. */
  mine: Effect.fnUntraced(function* (uuid: UploadId, key: ApiKeyId) {
    return yield* Effect.fromOption(yield* repository.find(uuid, key), () => FileNotFoundError.of(uuid))
  }),
  /** The upload as the storage knows it, if it was open when it was read. */
  storedOf: (upload: StoredUpload) =>
    upload.status === "open" && upload.storageId !== undefined
      ? Effect.succeed(inStorage(upload, upload.storageId))
      : Effect.fail(FileNotFoundError.of(upload.uuid))
})

/** Signed addresses of parts. */
const partUrls =
  (storage: Storage["Service"]) => (upload: MultipartUpload, maxSize: number, partNumbers: ReadonlyArray<number>) =>
    Effect.forEach(
      partNumbers,
      (partNumber) =>
        Effect.map(
          storage.partUrl(upload, { partNumber, maxSize, expiresInSeconds: partUrlSeconds }),
          (url): PartUrl => ({ partNumber, url })
        ),
      { concurrency: 16 }
    )

/** The declared type of the file, or that of its name; neither they nor the extension may be blocked. */
const acceptedType = ({ contentType, fileName }: UploadInit, settings: Settings["Service"]) => {
  const byName = mime.lookup(fileName) || "application/octet-stream"
  const declared = (contentType ?? byName).split(";")[0]!.trim().toLowerCase()
  const rejected = [declared, byName].find((type) => isBlocked(type, settings.UPLOAD_BLOCKED_TYPES))
  // Windows ignores dots and spaces at the end of a name.
  const extension = extensionOf(fileName.replace(/[. ]+$/, ""))
  if (rejected !== undefined) {
    const member = contentType && rejected === declared ? "contentType" : "fileName"
    return notAllowed(member, `Files of the type ${rejected} are not accepted`)
  }
  return settings.UPLOAD_BLOCKED_EXTENSIONS.includes(extension)
    ? notAllowed("fileName", `Files with the extension .${extension} are not accepted`)
    : Effect.succeed(declared)
}

const notAllowed = (member: string, message: string) =>
  Effect.fail(InvalidRequestError.inBody(member, "notAllowed", message))

const numbersTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)

/** An upload, as the storage knows it. */
export const inStorage = ({ fileUuid }: Pick<StoredUpload, "fileUuid">, id: string): MultipartUpload => ({
  key: storageKey(fileUuid),
  id
})

const tooManyOpen = (maxBytes: number) =>
  InvalidRequestError.inBody(
    "",
    "tooManyOpen",
    `This key may have ${openUploads.count} uploads open, of ${openUploads.maxFiles * maxBytes} bytes together; complete or abort some first`
  )

const notAbortable = (code: string, message: string) =>
  InvalidRequestError.of([{ in: "path", path: "uuid", code, message }])
const alreadyCompleted = notAbortable("completed", "This upload is completed; its file can no longer be aborted")
const beingCompleted = notAbortable("completing", "This upload is being completed right now")
