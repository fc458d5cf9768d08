import { Array as Arr, Effect } from "effect"
import { randomUUID } from "node:crypto"
import { Sql } from "../../../src/sql/Sql.ts"
import { TestServer } from "../TestServer.ts"
import { createAll } from "./BulkRequests.ts"
import { send, unique } from "./Requests.ts"

type Fields = Readonly<Record<string, unknown>>

/** Uploads a small file and returns its uuid. */
export const upload = Effect.fnUntraced(function* (
  fileName = `${unique("file")}.txt`,
  bytes: Buffer = Buffer.from(fileName)
) {
  const { fetch } = yield* TestServer
  const init = { fileName, fileSize: bytes.length }
  const { parts, uuid } = (yield* send("POST", "/v1/uploads/init-multi-part", { body: init })).body.data
  const part = yield* Effect.promise(() => fetch(parts[0].url, { method: "PUT", body: new Uint8Array(bytes) }))
  const { body, status } = yield* send("PUT", "/v1/uploads/complete-multi-part", {
    body: { uuid, parts: [{ partNumber: 1, eTag: part.headers.get("etag") }] }
  })
  if (status !== 200) throw new Error(`Not uploaded: ${JSON.stringify(body)}`)
  return body.data.fileUuid as string
})

interface FileFields {
  readonly fileName?: string
  readonly fileSize?: number
}

/** Inserts rows of uploaded files without storing bytes, and returns their uuids. */
const fileRows = Effect.fnUntraced(function* (files: ReadonlyArray<FileFields>, mimeType = "text/plain") {
  const { pooled } = yield* Sql
  const rows = files.map(({ fileName = `${unique("file")}.txt`, fileSize = 1 }) => [randomUUID(), fileName, fileSize])
  yield* pooled.unsafe(
    `insert into files (uuid, file_name, extension, mime_type, size, sha256, path_name, url_name)
      select uuid, name, lower(substring(name from '[.]([^.]*)$')), $4, size, '', name, name
      from unnest($1::uuid[], $2::text[], $3::bigint[]) listed (uuid, name, size)`,
    [...[0, 1, 2].map((column) => rows.map((row) => row[column])), mimeType]
  )
  return rows.map(([uuid]) => String(uuid))
})

/** Inserts the row of an uploaded file without storing bytes, for tests that need many files. */
export const fileRow = (fileName: string, fileSize?: number, mimeType?: string) =>
  Effect.map(fileRows([{ fileName, fileSize: fileSize ?? 1 }], mimeType), ([uuid]) => uuid!)

/** Creates an asset and returns its uuid. Without `fileUuid` in the fields it gets a new file, named `fileName`. */
export const createAsset = Effect.fnUntraced(function* (fields: Fields = {}, fileName?: string) {
  const fileUuid = fields["fileUuid"] ?? (yield* fileRow(fileName ?? `${unique("file")}.txt`))
  const { body, status } = yield* send("POST", "/v1/assets", { body: { ...fields, fileUuid } })
  if (status !== 201) throw new Error(`Not created: ${JSON.stringify(body)}`)
  return body.data.uuid as string
})

/** Creates assets, each with a new file, with few requests that a busy machine answers in time; returns their uuids. */
export const createAssets = Effect.fnUntraced(function* (
  assets: ReadonlyArray<FileFields & { readonly fields: Fields }>
) {
  const files = yield* fileRows(assets)
  const records = assets.map(({ fields }, index) => ({ ...fields, fileUuid: files[index]! }))
  return (yield* Effect.forEach(Arr.chunksOf(records, 40), (some) => createAll("assets", some))).flat()
})

/** Creates an asset category or a meta tag and returns its uuid. */
const createOf = (path: string) =>
  Effect.fnUntraced(function* (fields: Fields) {
    const { body, status } = yield* send("POST", path, { body: fields })
    if (status !== 201) throw new Error(`Not created: ${JSON.stringify(body)}`)
    return body.data.uuid as string
  })
export const createCategory = createOf("/v1/asset-categories")
export const createMetaTag = createOf("/v1/meta-tags")

/** The asset as GET returns it. */
export const readAsset = (uuid: string, include?: string) =>
  Effect.map(
    send("GET", `/v1/assets/${uuid}${include === undefined ? "" : `?include=${include}`}`),
    ({ body }) => body.data
  )

export const patchAsset = (uuid: string, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
  send("PATCH", `/v1/assets/${uuid}`, { body, headers })

/** When the file was detached from its last owner; undefined while it is attached. */
export const unattachedSince = Effect.fnUntraced(function* (file: string) {
  const { pooled } = yield* Sql
  const rows = yield* pooled<{ readonly unattached_since: unknown }>`
    select unattached_since from files where uuid = ${file}`
  return rows[0]!.unattached_since ?? undefined
})
