import { Effect } from "effect"
import { createHash } from "node:crypto"
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { Settings } from "../../../src/settings/Config.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { TestServer } from "../TestServer.ts"
import { send, type Sent } from "./Requests.ts"

export const mebibyte = 1024 * 1024

export const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")

export interface Session {
  readonly uuid: string
  readonly numberOfParts: number
  readonly partSize: number
  readonly expiresAt: string
  readonly requiredHeaders: object
  readonly parts: ReadonlyArray<{ readonly partNumber: number; readonly url: string }>
  readonly duplicateOf?: { readonly fileUuid: string; readonly assetUuid: string }
}

export interface SentPart {
  readonly partNumber: number
  readonly eTag: string
}

type As = Pick<Sent, "key">

export const initialize = (body: unknown, as: As = {}) => send("POST", "/v1/uploads/init-multi-part", { body, ...as })

/** An upload that has begun. */
export const begin = Effect.fnUntraced(function* (fileSize: number, fields: object = {}, as: As = {}) {
  const { body, status, text } = yield* initialize({ fileName: "file.bin", fileSize, ...fields }, as)
  if (status !== 201) throw new Error(`Not begun: ${text}`)
  return body.data as Session
})

/** Sends bytes to the address of a part, as anybody can. */
export const put = Effect.fnUntraced(function* (url: string, bytes: Uint8Array) {
  const { fetch } = yield* TestServer
  const response = yield* Effect.promise(() => fetch(url, { method: "PUT", body: new Uint8Array(bytes) }))
  return { status: response.status, headers: response.headers, text: yield* Effect.promise(() => response.text()) }
})

/** Sends one part of an upload and gives what its completion needs. */
export const putPart = Effect.fnUntraced(function* ({ parts }: Session, partNumber: number, bytes: Uint8Array) {
  const { url } = parts.find((part) => part.partNumber === partNumber)!
  const { headers, status, text } = yield* put(url, bytes)
  if (status !== 200) throw new Error(`Part ${partNumber} not taken: ${status} ${text}`)
  return { partNumber, eTag: headers.get("etag")! } satisfies SentPart
})

/** Cuts a file as the counterpart's client does: exactly 5 MiB for each part but the last, which gets all the rest. */
export const putAsCounterpart = (session: Session, bytes: Uint8Array) =>
  Effect.forEach(session.parts, ({ partNumber }, index) => {
    const start = index * 5 * mebibyte
    const end = index === session.numberOfParts - 1 ? bytes.length : start + 5 * mebibyte
    return putPart(session, partNumber, bytes.subarray(start, end))
  })

export const complete = (uuid: string, parts: ReadonlyArray<unknown>, as: As = {}) =>
  send("PUT", "/v1/uploads/complete-multi-part", { body: { uuid, parts }, ...as })

/** A file brought in whole; what its completion answered. */
export const upload = Effect.fnUntraced(function* (bytes: Uint8Array, fields: object = {}) {
  const session = yield* begin(bytes.length, fields)
  const answer = yield* complete(session.uuid, yield* putAsCounterpart(session, bytes))
  if (answer.status !== 200) throw new Error(`Not completed: ${answer.text}`)
  return answer.body.data as { readonly fileUuid: string; readonly url: string }
})

/** What the service calls what it stores, as a path below its folder of files. */
export const objectPath =
  /^objects\/[0-9a-f]{2}\/[0-9a-f]{2}\/(?:(?:thumbnail|preview)_)?[0-9a-f-]{36}(?:\.webp|\.jpg)?$/

/** What a folder holds, as paths below it; folders are left out. */
export const filesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name)).isFile())
    .toSorted()

/** All that is stored of files and uploads on the disk. */
export const stored = Effect.map(Settings, ({ DATA_DIR }) => filesBelow(join(DATA_DIR, "files")))

/** As a crash leaves an upload whose parts were joined just before: the object is there, its row is not. */
export const uncomplete = (uuid: string, fileUuid: string) =>
  Effect.flatMap(Sql, ({ pooled }) =>
    Effect.andThen(
      pooled.unsafe("delete from files where uuid = $1", [fileUuid]),
      pooled.unsafe("update upload_sessions set status = 'open' where uuid = $1", [uuid])
    )
  )
