import { Array as Arr, Context, Effect, Layer, Option, Schema } from "effect"
import type { ApiKeyId } from "../../domain/keys/ApiKey.ts"
import { openUploads, UploadId, UploadStatus } from "../../domain/assets/Upload.ts"
import { FileId } from "../../domain/assets/File.ts"
import { timestampJson } from "../../sql/Columns.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import { removeInParts } from "../../sql/Parts.ts"
import { Sql } from "../../sql/Sql.ts"
import { lockSql, transaction, write } from "../../sql/Transactions.ts"
import { traced } from "../../sql/Traced.ts"
import { isOrPrecedes } from "../keys/KeyLines.ts"
import { type Quota, secondsUntilFreed } from "./UnattachedBytes.ts"

/** A new upload. */
export interface NewUpload {
  readonly uuid: UploadId
  readonly apiKeyUuid: ApiKeyId
  readonly fileUuid: FileId
  readonly fileName: string
  readonly fileSize: number
  readonly contentType: string
  readonly sha256: string | undefined
  readonly partSize: number
  readonly numberOfParts: number
}

/** Why an upload does not begin. */
export type NotBegun =
  | { readonly _tag: "TooManyOpen" }
  | { readonly _tag: "TooManyUnattached"; readonly freedInSeconds: number }

const Row = Schema.Struct({
  uuid: UploadId,
  fileUuid: FileId,
  status: UploadStatus,
  fileName: Schema.String,
  fileSize: Schema.Int,
  contentType: Schema.String,
  sha256: Schema.optionalKey(Schema.String),
  partSize: Schema.Int,
  numberOfParts: Schema.Int,
  storageId: Schema.optionalKey(Schema.String),
  expiresAt: Schema.String
})

/** A stored upload; an open one whose time has passed reads as expired. */
export type StoredUpload = typeof Row.Type

const json = sql`json_strip_nulls(json_build_object(
  'uuid', u.uuid, 'fileUuid', u.file_uuid,
  'status', case when u.status = 'open' and u.expires_at <= now() then 'expired' else u.status end,
  'fileName', u.file_name, 'fileSize', u.file_size, 'contentType', u.content_type, 'sha256', u.sha256,
  'partSize', u.part_size, 'numberOfParts', u.number_of_parts, 'storageId', u.storage_id,
  'expiresAt', ${timestampJson(sql`u.expires_at`)}
))::text as json`

/** The uploads `u` of a key and of its predecessors: a successor may continue the uploads of the key it replaced. */
const ownUploads = (key: ApiKeyId) => sql`upload_sessions u join api_keys began on began.uuid = u.api_key_uuid
  join api_keys own on own.uuid = ${key}::uuid and ${isOrPrecedes("began", "own")}`

/** Whether the key of an upload `u`, or one of its successors, is neither revoked nor expired. */
const hasActiveKey = sql`exists (
    select from api_keys began join api_keys later on ${isOrPrecedes("began", "later")}
      where began.uuid = u.api_key_uuid and later.revoked_at is null and coalesce(later.expires_at, 'infinity') > now())`

/** How long a claim holds without being renewed, in seconds. */
export const claimSeconds = 30
const claimed = sql.literal(`claimed_until = now() + interval '${claimSeconds} seconds'`)

/** Uploads in progress, in PostgreSQL. */
export class Uploads extends Context.Service<
  Uploads,
  {
    /**
     * Nothing is stored when the key has too many open, or too many bytes (`maxFileSize` is the size limit of a file), or
     * when the quota of unattached bytes is used up.
     */
    begin(upload: NewUpload, maxFileSize: number, quota: Quota): Effect.Effect<StoredUpload, NotBegun>
    /** Stores the name of the upload in the storage. */
    started(uuid: UploadId, storageId: string): Effect.Effect<void>
    /** The upload, if this key or one it succeeded began it. */
    find(uuid: UploadId, apiKeyUuid: ApiKeyId): Effect.Effect<Option.Option<StoredUpload>>
    /** Whether the upload is open and now the caller's alone to complete, for half a minute. */
    claim(uuid: UploadId): Effect.Effect<boolean>
    /**
     * The key of an open upload by its name in the storage, and whether that key or a successor is active; none if no open
     * upload has this name.
     */
    keyOf(storageId: string): Effect.Effect<Option.Option<{ readonly uuid: ApiKeyId; readonly isActive: boolean }>>
    renew(uuid: UploadId): Effect.Effect<void>
    release(uuid: UploadId): Effect.Effect<void>
    /** Ends an open upload that no request is completing; returns whether it did. */
    end(uuid: UploadId, status: "aborted" | "expired"): Effect.Effect<boolean>
    /** Ends an open upload whose bytes are rejected; returns whether it did. */
    discard(uuid: UploadId): Effect.Effect<boolean>
    /** Some open uploads that have expired. */
    readonly overdue: Effect.Effect<ReadonlyArray<StoredUpload>>
    /** Removes the uploads that ended without a file and whose time passed a week ago. */
    readonly removeEnded: Effect.Effect<void>
  }
>()("waypost/repositories/assets/Uploads") {
  static readonly layer = Layer.effect(
    Uploads,
    Effect.gen(function* () {
      const { cheap, pooled } = yield* Sql
      const decode = Schema.decodeUnknownEffect(Schema.Array(Schema.Struct({ json: Schema.fromJsonString(Row) })))
      const read = (query: Fragment) =>
        Effect.orDie(Effect.map(Effect.flatMap(pooled`${query}`, decode), (rows) => rows.map(({ json }) => json)))
      const one = (query: Fragment) => Effect.map(read(query), Arr.head)
      const execute = (change: Fragment) =>
        Effect.map(Effect.orDie(write(pooled, pooled`update upload_sessions set ${change}`)), (rows) => rows.length > 0)
      const unclaimed = sql`status = 'open' and (claimed_until is null or claimed_until < now())`

      const begin = Effect.fnUntraced(function* (upload: NewUpload, maxFileSize: number, quota: Quota) {
        const { apiKeyUuid, contentType, fileName, fileSize, fileUuid, numberOfParts, partSize, uuid } = upload
        const insert = one(sql`with held as (
            select count(*) as uploads, coalesce(sum(u.file_size), 0) as bytes from ${ownUploads(apiKeyUuid)}
            where u.share_uuid = ${quota.share}::uuid and u.status = 'open' and u.expires_at > now()
          ), u as (
            insert into upload_sessions
              (uuid, api_key_uuid, share_uuid, file_uuid, file_name, file_size, content_type, sha256, part_size, number_of_parts)
            select ${uuid}::uuid, ${apiKeyUuid}::uuid, ${quota.share}::uuid, ${fileUuid}::uuid, ${fileName}::text, ${fileSize}::bigint,
              ${contentType}::text, ${upload.sha256 ?? null}::text, ${partSize}::bigint, ${numberOfParts}::int from held
            where uploads < ${openUploads.count}::int
              and bytes + ${fileSize}::bigint <= ${openUploads.maxFiles * maxFileSize}::bigint
            returning *
          ) select ${json} from u`)
        const begun = Effect.gen(function* () {
          // One at a time for each share, or several could pass the count before any of them is inserted.
          yield* Effect.orDie(pooled`${lockSql("waypost uploads", quota.share)}`)
          const freedInSeconds = yield* secondsUntilFreed(pooled, quota, fileSize)
          if (Option.isSome(freedInSeconds))
            return yield* Effect.fail<NotBegun>({ _tag: "TooManyUnattached", freedInSeconds: freedInSeconds.value })
          return yield* Effect.fromOption(yield* insert, (): NotBegun => ({ _tag: "TooManyOpen" }))
        })
        return yield* transaction(pooled, begun)
      })

      return traced(Uploads, {
        begin,
        started: (uuid, storageId) => execute(sql`storage_id = ${storageId} where uuid = ${uuid}`),
        find: (uuid, apiKeyUuid) =>
          one(sql`select ${json} from ${ownUploads(apiKeyUuid)} where u.uuid = ${uuid}::uuid`),
        keyOf: (storageId) =>
          cheap(
            (client) => client<{ readonly uuid: ApiKeyId; readonly isActive: boolean }>`
              select u.api_key_uuid as uuid, ${hasActiveKey} as "isActive" from upload_sessions u
                where u.storage_id = ${storageId} and u.status = 'open' and u.expires_at > now()`
          ).pipe(Effect.map(Arr.head), Effect.orDie),
        claim: (uuid) =>
          execute(sql`${claimed} where uuid = ${uuid} and expires_at > now() and ${unclaimed} returning uuid`),
        renew: (uuid) => execute(sql`${claimed} where uuid = ${uuid}`),
        release: (uuid) => execute(sql`claimed_until = null where uuid = ${uuid}`),
        end: (uuid, status) => execute(sql`status = ${status} where uuid = ${uuid} and ${unclaimed} returning uuid`),
        discard: (uuid) => execute(sql`status = 'aborted' where uuid = ${uuid} and status = 'open' returning uuid`),
        overdue: read(
          sql`select ${json} from upload_sessions u where ${unclaimed} and expires_at <= now() order by expires_at limit 100`
        ),
        removeEnded: Effect.orDie(
          removeInParts(
            (limit) => pooled`
              delete from upload_sessions where uuid = any (array(
                select uuid from upload_sessions
                  where status in ('aborted', 'expired') and expires_at < now() - interval '7 days'
                  order by expires_at limit ${limit}::int
              )) returning true`
          )
        )
      })
    })
  )
}
