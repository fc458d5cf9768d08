import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import { FileId, FileNotFoundError, pathNameOf } from "../../domain/assets/File.ts"
import { ApiKeyId } from "../../domain/keys/ApiKey.ts"
import type { UploadId } from "../../domain/assets/Upload.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import { Sql } from "../../sql/Sql.ts"
import { traced } from "../../sql/Traced.ts"

/** A file that was uploaded; sizes in bytes. */
const StoredFile = Schema.Struct({
  uuid: FileId,
  fileName: Schema.String,
  extension: Schema.String,
  mimeType: Schema.String,
  size: Schema.Int,
  sha256: Schema.String,
  pathName: Schema.String,
  processing: Schema.Literals(["pending", "ready", "failed"]),
  uploadedBy: Schema.optionalKey(ApiKeyId)
})
export type StoredFile = typeof StoredFile.Type

type NewFile = Omit<StoredFile, "pathName" | "processing" | "uploadedBy">

/** The columns of a file as JSON, because the driver returns a size as text. */
const Row = Schema.Struct({ json: Schema.fromJsonString(StoredFile) })

const json = sql`json_strip_nulls(json_build_object('uuid', f.uuid, 'fileName', f.file_name, 'extension', f.extension, 'mimeType', f.mime_type,
  'size', f.size, 'sha256', f.sha256, 'pathName', f.path_name, 'processing', f.processing,
  'uploadedBy', (select u.api_key_uuid from upload_sessions u where u.file_uuid = f.uuid)))::text as json`

/** The result of rendering a file. */
export interface Rendered {
  readonly processing: "ready" | "failed"
  readonly width?: number | undefined
  readonly height?: number | undefined
  readonly duration?: number | undefined
}

/** The origins of addresses: that of the service, and that of the content delivery network. */
export const originsSql = ({ cdn, origin }: PublicUrl["Service"]): Fragment => sql`${origin}::text, ${cdn}::text`

/** The signed addresses of the file `f`. */
export const urlsSql = (publicUrl: PublicUrl["Service"]): Fragment =>
  sql`waypost_file_urls(f.uuid, f.path_name, f.url_name, ${originsSql(publicUrl)})`

/** The files in PostgreSQL; the bytes are in the storage. */
export class Files extends Context.Service<
  Files,
  {
    find(uuid: FileId): Effect.Effect<Option.Option<StoredFile>>
    /** An asset whose file has this content. */
    findDuplicate(sha256: string, size: number): Effect.Effect<Option.Option<{ fileUuid: FileId; assetUuid: string }>>
    /** Stores the file of an open upload and completes the upload; does nothing when the upload is no longer open. */
    insert(upload: UploadId, file: NewFile): Effect.Effect<void>
    /** The signed address of the original; an unattached file may have been deleted. */
    url(uuid: FileId): Effect.Effect<string, FileNotFoundError>
    /** Stores the result of rendering a file; a file that is ready stays so. */
    rendered(uuid: FileId, facts: Rendered): Effect.Effect<void>
    /** Deletes some files that have been unattached for a week, and their uploads; returns their uuids. */
    readonly deleteUnattached: Effect.Effect<ReadonlyArray<FileId>>
    /** Those of these uuids that are files, or of open uploads. */
    known(uuids: ReadonlyArray<string>): Effect.Effect<ReadonlySet<string>>
    /** Some of the latest files in use. */
    readonly latest: Effect.Effect<ReadonlyArray<FileId>>
    /** Milliseconds since 1970 by the clock of the database; the clock of this machine may be wrong. */
    readonly now: Effect.Effect<number>
    /** Milliseconds since a restore or a recovery began the generation of the log; Infinity if none did. */
    readonly sinceRestore: Effect.Effect<number>
    /** The key that signs addresses. */
    readonly secret: Effect.Effect<{ readonly innerKey: Uint8Array; readonly outerKey: Uint8Array }>
  }
>()("waypost/repositories/assets/Files") {
  static readonly layer = Layer.effect(
    Files,
    Effect.gen(function* () {
      const { cheap, pooled } = yield* Sql
      const publicUrl = yield* PublicUrl

      const findRow = SqlSchema.findOneOption({
        Request: FileId,
        Result: Row,
        execute: (uuid) => cheap((client) => client`select ${json} from files f where f.uuid = ${uuid}`)
      })
      const find = Effect.fnUntraced(function* (uuid: FileId) {
        return Option.map(yield* findRow(uuid), (row) => row.json)
      }, Effect.orDie)

      const findDuplicate = SqlSchema.findOneOption({
        Request: Schema.Struct({ sha256: Schema.String, size: Schema.Int }),
        Result: Schema.Struct({ fileUuid: FileId, assetUuid: Schema.String }),
        execute: ({ sha256, size }) => pooled`
          select f.uuid as "fileUuid", a.uuid as "assetUuid" from files f join assets a on a.file_uuid = f.uuid
            where f.sha256 = ${sha256} and f.size = ${size}::bigint order by a.created_at limit 1`
      })

      const insert = Effect.fnUntraced(function* (upload: UploadId, file: NewFile) {
        const { extension, fileName, mimeType, sha256, size, uuid } = file
        const pathName = pathNameOf(fileName)
        // An upload that was ended concurrently has lost its bytes; a file without bytes must not have a row.
        yield* pooled`
          with completed as (
            update upload_sessions set status = 'completed', claimed_until = null
            where uuid = ${upload} and status = 'open' returning share_uuid
          )
          insert into files (uuid, file_name, extension, mime_type, size, sha256, path_name, url_name, share_uuid)
            select ${uuid}::uuid, ${fileName}::text, ${extension}::text, ${mimeType}::text, ${size}::bigint,
              ${sha256}::text, ${pathName}::text, ${encodeURIComponent(pathName)}::text, share_uuid
              from completed`
      }, Effect.orDie)

      const findUrl = SqlSchema.findOneOption({
        Request: FileId,
        Result: Schema.Struct({ url: Schema.String }),
        execute: (uuid) => pooled`select ${urlsSql(publicUrl)}->>'original' as url from files f where f.uuid = ${uuid}`
      })
      const url = Effect.fnUntraced(function* (uuid: FileId) {
        const found = yield* Effect.orDie(findUrl(uuid))
        return yield* Effect.fromOption(
          Option.map(found, (row) => row.url),
          () => FileNotFoundError.of(uuid)
        )
      })

      const rendered = Effect.fnUntraced(function* (uuid: FileId, facts: Rendered) {
        const { duration = null, height = null, processing, width = null } = facts
        yield* pooled`update files
          set processing = ${processing}, width = ${width}, height = ${height}, duration = ${duration}
          where uuid = ${uuid} and processing <> 'ready'`
      }, Effect.orDie)

      // A write that attaches a file at the same time holds its row: then the file is no longer unattached here.
      const deleted = SqlSchema.findAll({
        Request: Schema.Void,
        Result: Schema.Struct({ uuid: FileId }),
        execute: () => pooled`
          with deleted as (
            delete from files where uuid = any (array(
              select uuid from files where unattached_since < now() - interval '7 days'
                order by unattached_since limit 100 for update skip locked
            )) and unattached_since < now() - interval '7 days' returning uuid
          ), uploads as (
            delete from upload_sessions where file_uuid in (select uuid from deleted)
          )
          select uuid from deleted`
      })

      const known = Effect.fnUntraced(function* (uuids: ReadonlyArray<string>) {
        const rows = yield* pooled<{ readonly uuid: string }>`
          select uuid from files where uuid = any (${uuids}::uuid[])
            union all select file_uuid from upload_sessions where file_uuid = any (${uuids}::uuid[]) and status = 'open'`
        return new Set(rows.map((row) => row.uuid))
      }, Effect.orDie)

      const findLatest = SqlSchema.findAll({
        Request: Schema.Void,
        Result: Schema.Struct({ uuid: FileId }),
        // A uuid begins with the time.
        execute: () => pooled`select uuid from files where unattached_since is null order by uuid desc limit 3`
      })

      const findNow = SqlSchema.findOne({
        Request: Schema.Void,
        Result: Schema.Struct({ now: Schema.Finite }),
        execute: () => pooled`select extract(epoch from now())::float8 * 1000 as now`
      })

      const findRestored = SqlSchema.findOne({
        Request: Schema.Void,
        Result: Schema.Struct({ since: Schema.NullOr(Schema.Finite) }),
        // The first generation began with the database.
        execute: () => pooled`
          select extract(epoch from now() - max(began_at))::float8 * 1000 as since from event_generations where number > 1`
      })

      const findSecret = SqlSchema.findOne({
        Request: Schema.Void,
        Result: Schema.Struct({ innerKey: Schema.Uint8Array, outerKey: Schema.Uint8Array }),
        execute: () =>
          pooled`select inner_key as "innerKey", outer_key as "outerKey" from secrets where name = 'addresses'`
      })

      return traced(Files, {
        find,
        findDuplicate: (sha256, size) => Effect.orDie(findDuplicate({ sha256, size })),
        insert,
        url,
        rendered,
        deleteUnattached: Effect.orDie(Effect.map(deleted(), (rows) => rows.map((row) => row.uuid))),
        known,
        latest: Effect.orDie(Effect.map(findLatest(), (rows) => rows.map((row) => row.uuid))),
        now: Effect.orDie(Effect.map(findNow(), (row) => row.now)),
        sinceRestore: Effect.orDie(Effect.map(findRestored(), ({ since }) => since ?? Infinity)),
        secret: Effect.orDie(findSecret())
      })
    })
  )
}
