import { Context, Effect, Layer, Option, Schema } from "effect"
import type { ApiKeyId } from "../../domain/keys/ApiKey.ts"
import type { FileId } from "../../domain/assets/File.ts"
import { openUploads, UploadId, UploadStatus } from "../../domain/assets/Upload.ts"
import { FileId as FileIdSchema } from "../../domain/assets/File.ts"
import { Sql } from "../../sql/Sql.ts"
import { transaction, write } from "../../sql/SqlErrors.ts"

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

const Row = Schema.Struct({
  uuid: UploadId,
  fileUuid: FileIdSchema,
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

const json = `json_strip_nulls(json_build_object(
  'uuid', u.uuid, 'fileUuid', u.file_uuid,
  'status', case when u.status = 'open' and u.expires_at <= now() then 'expired' else u.status end,
  'fileName', u.file_name, 'fileSize', u.file_size, 'contentType', u.content_type, 'sha256', u.sha256,
  'partSize', u.part_size, 'numberOfParts', u.number_of_parts, 'storageId', u.storage_id,
  'expiresAt', to_char(u.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
))::text as json`

/** A key and its predecessors: a successor may continue the uploads of the key it replaced. */
const ownKeys = `with recursive own as (
    select $1::uuid as uuid union select k.uuid from api_keys k join own on k.replaced_by_uuid = own.uuid
  )`

/** How long a claim holds without being renewed, in seconds. */
export const claimSeconds = 30

/** Uploads in progress, in PostgreSQL. */
export class Uploads extends Context.Service<
  Uploads,
  {
    /** Nothing is stored when the key has too many open, or too many bytes (`maxFileSize` is the size limit of a file). */
    begin(upload: NewUpload, maxFileSize: number): Effect.Effect<Option.Option<StoredUpload>>
    /** Stores the name of the upload in the storage. */
    started(uuid: UploadId, storageId: string): Effect.Effect<void>
    /** The upload, if this key or one it succeeded began it. */
    find(uuid: UploadId, apiKeyUuid: ApiKeyId): Effect.Effect<Option.Option<StoredUpload>>
    /** Whether the upload is open and now the caller's alone to complete, for half a minute. */
    claim(uuid: UploadId): Effect.Effect<boolean>
    renew(uuid: UploadId): Effect.Effect<void>
    release(uuid: UploadId): Effect.Effect<void>
    /** Ends an open upload that no request is completing; returns whether it did. */
    end(uuid: UploadId, status: "aborted" | "expired"): Effect.Effect<boolean>
    /** Ends an upload whose bytes differ from the declaration. */
    discard(uuid: UploadId): Effect.Effect<void>
    /** Some open uploads that have expired. */
    readonly overdue: Effect.Effect<ReadonlyArray<StoredUpload>>
  }
>()("waypost/repositories/assets/Uploads") {
  static readonly layer = Layer.effect(
    Uploads,
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Row))
      const read = Effect.fnUntraced(function* (text: string, values: ReadonlyArray<unknown>) {
        const rows = yield* Effect.orDie(pooled.unsafe<{ readonly json: string }>(text, values))
        return yield* Effect.orDie(Effect.forEach(rows, (row) => decode(row.json)))
      })
      const one = (text: string, values: ReadonlyArray<unknown>) =>
        Effect.map(read(text, values), (rows) => Option.fromUndefinedOr(rows[0]))
      const execute = (text: string, values: ReadonlyArray<unknown>) =>
        Effect.map(Effect.orDie(write(pooled, pooled.unsafe(text, values))), (rows) => rows.length > 0)

      const begin = Effect.fnUntraced(function* (upload: NewUpload, maxFileSize: number) {
        const insert = one(
          `${ownKeys}, held as (
            select count(*) as uploads, coalesce(sum(file_size), 0) as bytes from upload_sessions
            where api_key_uuid in (select uuid from own) and status = 'open' and expires_at > now()
          ), u as (
            insert into upload_sessions
              (uuid, api_key_uuid, file_uuid, file_name, file_size, content_type, sha256, part_size, number_of_parts)
            select $2::uuid, $1::uuid, $3::uuid, $4::text, $5::bigint, $6::text, $7::text, $8::bigint, $9::int from held
            where uploads < $10::int and bytes + $5::bigint <= $11::bigint
            returning *
          ) select ${json} from u`,
          [
            upload.apiKeyUuid,
            upload.uuid,
            upload.fileUuid,
            upload.fileName,
            upload.fileSize,
            upload.contentType,
            upload.sha256 ?? null,
            upload.partSize,
            upload.numberOfParts,
            openUploads.count,
            openUploads.maxFiles * maxFileSize
          ]
        )
        // One at a time for each key, or several could pass the count before any of them is inserted.
        const lock = pooled.unsafe("select pg_advisory_xact_lock(hashtext('waypost uploads'), hashtext($1))", [
          upload.apiKeyUuid
        ])
        return yield* transaction(pooled, Effect.andThen(lock, insert))
      })

      return Uploads.of({
        begin,
        started: (uuid, storageId) =>
          execute("update upload_sessions set storage_id = $2 where uuid = $1", [uuid, storageId]),
        find: (uuid, apiKeyUuid) =>
          one(
            `${ownKeys} select ${json} from upload_sessions u
              where u.uuid = $2::uuid and u.api_key_uuid in (select uuid from own)`,
            [apiKeyUuid, uuid]
          ),
        claim: (uuid) =>
          execute(
            `update upload_sessions set claimed_until = now() + interval '${claimSeconds} seconds'
              where uuid = $1 and status = 'open' and expires_at > now()
                and (claimed_until is null or claimed_until < now()) returning uuid`,
            [uuid]
          ),
        renew: (uuid) =>
          execute(
            `update upload_sessions set claimed_until = now() + interval '${claimSeconds} seconds' where uuid = $1`,
            [uuid]
          ),
        release: (uuid) => execute("update upload_sessions set claimed_until = null where uuid = $1", [uuid]),
        end: (uuid, status) =>
          execute(
            `update upload_sessions set status = $2
              where uuid = $1 and status = 'open' and (claimed_until is null or claimed_until < now()) returning uuid`,
            [uuid, status]
          ),
        discard: (uuid) =>
          execute("update upload_sessions set status = 'aborted' where uuid = $1 and status = 'open'", [uuid]),
        overdue: read(
          `select ${json} from upload_sessions u where u.status = 'open' and u.expires_at <= now()
            and (u.claimed_until is null or u.claimed_until < now()) order by u.expires_at limit 100`,
          []
        )
      })
    })
  )
}
