import { Schema, SchemaIssue, SchemaTransformation } from "effect"
import { atMost } from "../schema/Checks.ts"
import { formed, Timestamp, Uuid } from "../schema/Fields.ts"
import { FileId, FileName, Sha256 } from "./File.ts"
import { Count, inRange } from "../schema/WholeNumber.ts"

export const UploadId = Uuid.pipe(Schema.brand("UploadId"))
export type UploadId = typeof UploadId.Type

const mebibyte = 1024 * 1024

/** Parts of at least 8 MiB, and so many that an answer never lists more than a thousand. */
export const partSizeOf = (fileSize: number): number =>
  Math.max(8 * mebibyte, Math.ceil(fileSize / 1000 / mebibyte) * mebibyte)

/** How long the address of a part holds, in seconds; the session itself holds for 24 hours. */
export const partUrlSeconds = 6 * 3600

/** How many uploads a key may have open, and how many files of the maximum size they may hold together. */
export const openUploads = { count: 50, maxFiles: 10 } as const

/** How many parts an upload has at most: the maximum of S3. */
export const maxParts = 10_000

const MediaType = formed(127, {
  pattern: /^[A-Za-z0-9][\w!#$&^.+-]{0,126}\/[A-Za-z0-9][\w!#$&^.+-]{0,126}(?:\s*;.*)?$/,
  expected: "a media type such as image/png",
  example: "application/pdf"
})

const PartNumber = Schema.Int.check(inRange(1, maxParts, `a number from 1 to ${maxParts}`))

/** What begins an upload. */
export const UploadInit = Schema.Struct({
  fileName: FileName,
  fileSize: Schema.Int.check(inRange(1, Number.MAX_SAFE_INTEGER, "a size of at least 1 byte")).annotate({
    description: "Bytes.",
    examples: [2_400_000]
  }),
  contentType: Schema.optionalKey(Schema.NullOr(MediaType)),
  sha256: Schema.optionalKey(Schema.NullOr(Sha256))
}).annotate({ identifier: "UploadInit" })
export type UploadInit = typeof UploadInit.Type

/** Where the bytes of a part go, with a plain PUT; the answer carries the part's `ETag`. */
export const PartUrl = Schema.Struct({ partNumber: Count, url: Schema.String }).annotate({ identifier: "PartUrl" })
export type PartUrl = typeof PartUrl.Type

/** An upload that has begun. */
export const UploadSession = Schema.Struct({
  uuid: UploadId,
  numberOfParts: Count,
  parts: Schema.Array(PartUrl),
  partSize: Count.annotate({ description: "Bytes; other sizes are accepted as long as the total is right." }),
  expiresAt: Timestamp,
  requiredHeaders: Schema.Record(Schema.String, Schema.String).annotate({
    description: "Headers every PUT of a part has to carry; none so far."
  }),
  duplicateOf: Schema.optionalKey(
    Schema.Struct({ fileUuid: FileId, assetUuid: Uuid }).annotate({
      description: "An asset that has the declared content already; the upload can be aborted."
    })
  )
}).annotate({ identifier: "UploadSession" })
export type UploadSession = typeof UploadSession.Type

const ETag = Schema.String.check(
  Schema.isMaxLength(200, { expected: "an entity tag of at most 200 characters", code: "tooLong" })
)

/** `"abc"`, `W/"abc"` and `abc` are one tag. */
const unquoted = (tag: string) => tag.trim().replace(/^W\//, "").replaceAll('"', "")

/** A part that was sent; the vendor's guide and its code spell the tag differently, and both are right here. */
const SentPart = Schema.Struct({
  partNumber: PartNumber,
  eTag: Schema.optionalKey(
    ETag.annotate({
      description: "The `ETag` of the response to the PUT of the part. One of `eTag`, `ETag` and `etag` is required."
    })
  ),
  ETag: Schema.optionalKey(ETag),
  etag: Schema.optionalKey(ETag)
})
  .annotate({ identifier: "SentPart" })
  .check(
    Schema.makeFilter(({ ETag, eTag, etag }) =>
      eTag === undefined && ETag === undefined && etag === undefined
        ? { path: ["eTag"], issue: new SchemaIssue.MissingKey(undefined) }
        : undefined
    )
  )
  .pipe(
    Schema.decodeTo(
      Schema.Struct({ partNumber: Schema.Int, eTag: Schema.String }),
      SchemaTransformation.transform({
        decode: ({ ETag, eTag, etag, partNumber }) => ({ partNumber, eTag: unquoted(eTag ?? ETag ?? etag ?? "") }),
        encode: (part): { partNumber: number; eTag?: string; ETag?: string; etag?: string } => part
      })
    )
  )

/** What ends an upload: the parts, in any order. */
export const UploadComplete = Schema.Struct({
  uuid: UploadId,
  parts: Schema.Array(SentPart).check(
    Schema.isMinLength(1, { expected: "at least one part", code: "required" }),
    atMost(maxParts, "parts")
  )
}).annotate({ identifier: "UploadComplete" })
export type UploadComplete = typeof UploadComplete.Type

/** The file an upload became; `url` is read without a key until it expires. */
export const CompletedUpload = Schema.Struct({ fileUuid: FileId, url: Schema.String }).annotate({
  identifier: "CompletedUpload"
})
export type CompletedUpload = typeof CompletedUpload.Type

export const UploadStatus = Schema.Literals(["open", "completed", "aborted", "expired"])

/** An upload as it stands, with the parts that have arrived. */
export const Upload = Schema.Struct({
  uuid: UploadId,
  status: UploadStatus,
  fileName: Schema.String,
  fileSize: Count,
  partSize: Count,
  numberOfParts: Count,
  parts: Schema.Array(Schema.Struct({ partNumber: Count, size: Count, eTag: Schema.String })),
  expiresAt: Timestamp,
  fileUuid: Schema.optionalKey(FileId)
}).annotate({ identifier: "Upload" })
export type Upload = typeof Upload.Type

/** The parts whose addresses are wanted anew. */
export const PartUrlsRequest = Schema.Struct({
  partNumbers: Schema.Array(PartNumber).check(
    Schema.isMinLength(1, { expected: "at least one part number", code: "required" }),
    atMost(1000, "part numbers")
  )
}).annotate({ identifier: "PartUrlsRequest" })

export const PartUrls = Schema.Struct({ parts: Schema.Array(PartUrl) }).annotate({ identifier: "PartUrls" })
