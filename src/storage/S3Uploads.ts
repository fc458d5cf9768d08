import { Effect, Option, Stream } from "effect"
import { isObjectKey, objectKey } from "./ObjectKey.ts"
import { checkParts, unknownUpload } from "./PartList.ts"
import { type Bucket, notUnderstood, orWhen } from "./S3Client.ts"
import { pages } from "./S3Pages.ts"
import {
  InvalidPartsError,
  type MultipartUpload,
  type Storage,
  StorageUnavailableError,
  type StoredPart
} from "./Storage.ts"

/** Where a listing continues; uploads of one key are ordered by id. */
interface UploadMarker {
  readonly KeyMarker?: string
  readonly UploadIdMarker?: string
}

type Uploads = Pick<Storage["Service"], "begin" | "partUrl" | "partOrigin" | "parts" | "complete" | "abort" | "uploads">

/** Multipart uploads of S3; `sizeOf` returns the size of an existing object. */
export const make = (bucket: Bucket, sizeOf: Storage["Service"]["size"]): Uploads => {
  const { at, Bucket, call, joining, prefix } = bucket
  const of = ({ id, key }: MultipartUpload) => ({ Bucket, Key: at(key), UploadId: id })

  const begin = Effect.fn("S3Storage.begin")(function* (key: string, contentType: string) {
    const Key = at(yield* objectKey(key))
    const { UploadId } = yield* call((s3, options) =>
      s3.createMultipartUpload({ Bucket, Key, ContentType: contentType }, options)
    )
    return UploadId === undefined ? yield* notUnderstood : { key, id: UploadId }
  })

  const partUrl: Uploads["partUrl"] = (upload, { expiresInSeconds, partNumber }) =>
    bucket.partUrl({ ...of(upload), PartNumber: partNumber }, expiresInSeconds)

  // The SDK decides whether the bucket is in the host or in the path. No upload has this id.
  const partOrigin = Effect.map(
    bucket.partUrl({ Bucket, Key: at("none"), UploadId: "none", PartNumber: 1 }, 1),
    (url) => new URL(url).origin
  )

  const parts = Effect.fn("S3Storage.parts")(function* (upload: MultipartUpload) {
    return yield* pages<StoredPart, string | undefined>(undefined, (marker) =>
      Effect.map(
        call((s3, options) =>
          s3.listParts({ ...of(upload), ...(marker === undefined ? {} : { PartNumberMarker: marker }) }, options)
        ),
        ({ IsTruncated, NextPartNumberMarker, Parts = [] }) => ({
          items: Parts.map(({ ETag, PartNumber, Size }) =>
            ETag === undefined || PartNumber === undefined || Size === undefined
              ? undefined
              : { partNumber: PartNumber, size: Size, eTag: ETag.replaceAll('"', "") }
          ),
          truncated: IsTruncated,
          next: NextPartNumberMarker
        })
      )
    ).pipe(
      Stream.runCollect,
      orWhen(["NoSuchUpload"], () => Effect.succeed([]))
    )
  })

  /** An earlier attempt, whose answer may be lost, has made the object: a store then has no parts, and may compare the list. */
  const madeBefore = Effect.fnUntraced(function* (upload: MultipartUpload, error: InvalidPartsError) {
    const isMade = Option.isSome(yield* sizeOf(upload.key)) && (yield* parts(upload)).length === 0
    return isMade ? { ETag: "" } : yield* error
  })

  const complete: Uploads["complete"] = Effect.fn("S3Storage.complete")(function* (upload, parts) {
    yield* objectKey(upload.key)
    yield* checkParts(parts)
    const Parts = parts.map(({ eTag, partNumber }) => ({ PartNumber: partNumber, ETag: `"${eTag}"` }))
    const { ETag } = yield* call(
      (s3, options) => s3.completeMultipartUpload({ ...of(upload), MultipartUpload: { Parts } }, options),
      joining
    ).pipe(
      orWhen(["InvalidPart", "InvalidPartOrder", "EntityTooSmall"], () => madeBefore(upload, invalidParts)),
      orWhen(["NoSuchUpload"], () => madeBefore(upload, unknownUpload))
    )
    if (ETag === undefined) return yield* notUnderstood
  })

  /** Parts in transit can arrive after an abort, and would be paid for until the next one. */
  const abort = Effect.fn("S3Storage.abort")(function* (upload: MultipartUpload) {
    for (let attempt = 0; attempt < 3; attempt++) {
      yield* call((s3, options) => s3.abortMultipartUpload(of(upload), options)).pipe(
        Effect.asVoid,
        orWhen(["NoSuchUpload"], () => Effect.void)
      )
      if ((yield* parts(upload)).length === 0) return
    }
    return yield* stillArriving
  })

  const uploads = pages<MultipartUpload & { readonly beganAt: number }, UploadMarker>({}, (marker) =>
    Effect.map(
      call((s3, options) => s3.listMultipartUploads({ Bucket, Prefix: prefix, ...marker }, options)),
      ({ IsTruncated, NextKeyMarker, NextUploadIdMarker, Uploads = [] }) => ({
        items: Uploads.map(({ Initiated, Key, UploadId }) =>
          Initiated === undefined || Key === undefined || UploadId === undefined
            ? undefined
            : { key: Key.slice(prefix.length), id: UploadId, beganAt: Initiated.getTime() }
        ),
        truncated: IsTruncated,
        next: {
          ...(NextKeyMarker === undefined ? {} : { KeyMarker: NextKeyMarker }),
          ...(NextUploadIdMarker === undefined ? {} : { UploadIdMarker: NextUploadIdMarker })
        }
      })
    )
  ).pipe(Stream.filter(({ key }) => isObjectKey(key)))

  return { begin, partUrl, partOrigin, parts, complete, abort, uploads }
}

const invalidParts = new InvalidPartsError({
  message: "The store rejects the parts: one is missing, has another entity tag, or has less than 5 MiB"
})

const stillArriving = new StorageUnavailableError({
  message: "Parts of the upload are still arriving; abort it again later"
})
