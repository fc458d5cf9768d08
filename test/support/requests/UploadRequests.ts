import { Effect } from "effect"
import { createHash } from "node:crypto"
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
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

/** Starts an upload and returns its session. */
export const begin = Effect.fnUntraced(function* (fileSize: number, fields: object = {}, as: As = {}) {
  const { body, status, text } = yield* initialize({ fileName: "file.bin", fileSize, ...fields }, as)
  if (status !== 201) throw new Error(`Not started: ${text}`)
  return body.data as Session
})

/** Sends bytes to the signed URL of a part, without a key. */
export const put = Effect.fnUntraced(function* (url: string, bytes: Uint8Array) {
  const { fetch } = yield* TestServer
  const response = yield* Effect.promise(() => fetch(url, { method: "PUT", body: new Uint8Array(bytes) }))
  return { status: response.status, headers: response.headers, text: yield* Effect.promise(() => response.text()) }
})

/** Sends one part of an upload and returns its entry for the completion. */
export const putPart = Effect.fnUntraced(function* ({ parts }: Session, partNumber: number, bytes: Uint8Array) {
  const { url } = parts.find((part) => part.partNumber === partNumber)!
  const { headers, status, text } = yield* put(url, bytes)
  if (status !== 200) throw new Error(`Part ${partNumber} not accepted: ${status} ${text}`)
  return { partNumber, eTag: headers.get("etag")! } satisfies SentPart
})

/** Sends a file in parts of exactly 5 MiB; the last part is the rest. */
export const putFixedParts = (session: Session, bytes: Uint8Array) =>
  Effect.forEach(session.parts, ({ partNumber }, index) => {
    const start = index * 5 * mebibyte
    const end = index === session.numberOfParts - 1 ? bytes.length : start + 5 * mebibyte
    return putPart(session, partNumber, bytes.subarray(start, end))
  })

export const complete = (uuid: string, parts: ReadonlyArray<unknown>, as: As = {}) =>
  send("PUT", "/v1/uploads/complete-multi-part", { body: { uuid, parts }, ...as })

/** Uploads a file and returns the body of the completion. */
export const upload = Effect.fnUntraced(function* (bytes: Uint8Array, fields: object = {}) {
  const session = yield* begin(bytes.length, fields)
  const answer = yield* complete(session.uuid, yield* putFixedParts(session, bytes))
  if (answer.status !== 200) throw new Error(`Not completed: ${answer.text}`)
  return answer.body.data as { readonly fileUuid: string; readonly url: string }
})

/** The path of a stored object below the storage folder. */
export const objectPath =
  /^objects\/[0-9a-f]{2}\/[0-9a-f]{2}\/(?:(?:thumbnail|preview)_)?[0-9a-f-]{36}(?:\.webp|\.jpg)?$/

/** The paths of all files below a folder. */
export const filesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile())
    .toSorted()

/**
 * The paths of all stored objects and parts. A check of the storage writes below `temporary/` for a moment, so this waits up
 * to two seconds until that folder is empty; a file that stays there is among the paths.
 */
export const stored = Effect.flatMap(Settings, ({ DATA_DIR }) =>
  Effect.promise(async () => {
    for (let attempt = 0; ; attempt++) {
      const paths = filesBelow(join(DATA_DIR, "files"))
      if (attempt === 100 || !paths.some((path) => path.startsWith("temporary/"))) return paths
      await sleep(20)
    }
  })
)

/** Restores the state after a crash between joining the parts and inserting the row: an object without a row. */
export const uncomplete = (uuid: string, fileUuid: string) =>
  Effect.flatMap(Sql, ({ pooled }) =>
    Effect.andThen(
      pooled.unsafe("delete from files where uuid = $1", [fileUuid]),
      pooled.unsafe("update upload_sessions set status = 'open' where uuid = $1", [uuid])
    )
  )
