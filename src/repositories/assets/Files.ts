import { Context, Effect, Layer, Option, Schema } from "effect"
import { FileId, FileNotFoundError, pathNameOf } from "../../domain/assets/File.ts"
import type { UploadId } from "../../domain/assets/Upload.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import { Sql } from "../../sql/Sql.ts"

/** A file that was uploaded; sizes in bytes and pixels, `duration` in seconds. */
const Row = Schema.Struct({
  uuid: FileId,
  fileName: Schema.String,
  extension: Schema.String,
  mimeType: Schema.String,
  size: Schema.Int,
  sha256: Schema.String,
  pathName: Schema.String,
  processing: Schema.Literals(["pending", "ready", "failed"])
})
export type StoredFile = typeof Row.Type

const json = `json_build_object('uuid', f.uuid, 'fileName', f.file_name, 'extension', f.extension, 'mimeType', f.mime_type,
  'size', f.size, 'sha256', f.sha256, 'pathName', f.path_name, 'processing', f.processing)::text as json`

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

/** The files, in PostgreSQL; the bytes are in the storage. */
export class Files extends Context.Service<
  Files,
  {
    find(uuid: FileId): Effect.Effect<Option.Option<StoredFile>>
    /** An asset whose file has this content, if there is one. */
    findDuplicate(sha256: string, size: number): Effect.Effect<Option.Option<{ fileUuid: FileId; assetUuid: string }>>
    /** Stores the file of an open upload and completes the upload; does nothing when the upload is no longer open. */
    insert(upload: UploadId, file: Omit<StoredFile, "pathName" | "processing">): Effect.Effect<void>
    /** The signed address of the original; an unattached file may have been deleted. */
    url(uuid: FileId): Effect.Effect<string, FileNotFoundError>
    rendered(uuid: FileId, facts: Rendered): Effect.Effect<void>
    /** Deletes some files that have been unattached for a week; returns their uuids. */
    readonly deleteUnattached: Effect.Effect<ReadonlyArray<FileId>>
    /** Those of these uuids that are files, or of open uploads. */
    known(uuids: ReadonlyArray<string>): Effect.Effect<ReadonlySet<string>>
    /** Milliseconds since 1970 by the clock of the database; the clock of this machine may be wrong. */
    readonly now: Effect.Effect<number>
    /** The key that signs addresses. */
    readonly secret: Effect.Effect<{ readonly innerKey: Uint8Array; readonly outerKey: Uint8Array }>
  }
>()("waypost/repositories/assets/Files") {
  static readonly layer = Layer.effect(
    Files,
    Effect.gen(function* () {
      const { pipelined, pooled } = yield* Sql
      const publicUrl = yield* PublicUrl
      const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Row))

      const find = Effect.fnUntraced(function* (uuid: FileId) {
        const rows = yield* pipelined.unsafe<{ readonly json: string }>(
          `select ${json} from files f where f.uuid = $1`,
          [uuid]
        )
        return rows[0] === undefined ? Option.none() : Option.some(yield* decode(rows[0].json))
      }, Effect.orDie)

      const findDuplicate = Effect.fnUntraced(function* (sha256: string, size: number) {
        const rows = yield* pooled.unsafe<{ readonly fileUuid: FileId; readonly assetUuid: string }>(
          `select f.uuid as "fileUuid", a.uuid as "assetUuid" from files f join assets a on a.file_uuid = f.uuid
            where f.sha256 = $1 and f.size = $2::bigint order by a.created_at limit 1`,
          [sha256, size]
        )
        return Option.fromUndefinedOr(rows[0])
      }, Effect.orDie)

      const insert = Effect.fnUntraced(function* (upload: UploadId, file: Omit<StoredFile, "pathName" | "processing">) {
        const pathName = pathNameOf(file.fileName)
        // An upload that was ended concurrently has lost its bytes; there must be no row without bytes.
        yield* pooled.unsafe(
          `with completed as (
            update upload_sessions set status = 'completed', claimed_until = null
            where uuid = $9 and status = 'open' returning uuid
          )
          insert into files (uuid, file_name, extension, mime_type, size, sha256, path_name, url_name)
            select $1::uuid, $2::text, $3::text, $4::text, $5::bigint, $6::text, $7::text, $8::text from completed`,
          [
            file.uuid,
            file.fileName,
            file.extension,
            file.mimeType,
            file.size,
            file.sha256,
            pathName,
            encodeURIComponent(pathName),
            upload
          ]
        )
      }, Effect.orDie)

      const url = Effect.fnUntraced(function* (uuid: FileId) {
        const rows = yield* Effect.orDie(
          pooled<{ readonly url: string }>`
            select ${urlsSql(publicUrl)}->>'original' as url from files f where f.uuid = ${uuid}`
        )
        return yield* Effect.fromOption(Option.fromUndefinedOr(rows[0]?.url), () => FileNotFoundError.of(uuid))
      })

      // A concurrent attach holds the row lock, so the file is seen as attached.
      const deleteUnattached = pooled
        .unsafe<{ readonly uuid: FileId }>(
          `delete from files where uuid = any (array(
            select uuid from files where unattached_since < now() - interval '7 days'
              order by unattached_since limit 100 for update skip locked
          )) and unattached_since < now() - interval '7 days' returning uuid`
        )
        .pipe(
          Effect.map((rows) => rows.map((row) => row.uuid)),
          Effect.orDie
        )

      const known = Effect.fnUntraced(function* (uuids: ReadonlyArray<string>) {
        const rows = yield* pooled.unsafe<{ readonly uuid: string }>(
          `select uuid from files where uuid = any ($1::uuid[])
            union all select file_uuid from upload_sessions where file_uuid = any ($1::uuid[]) and status = 'open'`,
          [uuids]
        )
        return new Set(rows.map((row) => row.uuid))
      }, Effect.orDie)

      const now = pooled
        .unsafe<{ readonly now: number }>("select extract(epoch from now())::float8 * 1000 as now")
        .pipe(
          Effect.map((rows) => rows[0]!.now),
          Effect.orDie
        )

      const secret = pooled
        .unsafe<{ readonly innerKey: Uint8Array; readonly outerKey: Uint8Array }>(
          `select inner_key as "innerKey", outer_key as "outerKey" from secrets where name = 'addresses'`
        )
        .pipe(
          Effect.map((rows) => rows[0]!),
          Effect.orDie
        )

      return Files.of({
        find,
        findDuplicate,
        insert,
        url,
        rendered: (uuid, { duration, height, processing, width }) =>
          pooled
            .unsafe("update files set processing = $2, width = $3, height = $4, duration = $5 where uuid = $1", [
              uuid,
              processing,
              width ?? null,
              height ?? null,
              duration ?? null
            ])
            .pipe(Effect.orDie, Effect.asVoid),
        deleteUnattached,
        known,
        now,
        secret
      })
    })
  )
}
