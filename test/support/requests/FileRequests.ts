import { Effect } from "effect"
import { TestServer } from "../TestServer.ts"
import { eventually } from "../Until.ts"
import { send } from "./Requests.ts"

/** Uploads a file in parts of 5 MiB and returns its uuid and URL. */
export const upload = Effect.fnUntraced(function* (fileName: string, bytes: Uint8Array, contentType?: string) {
  const { fetch } = yield* TestServer
  const init = yield* send("POST", "/v1/uploads/init-multi-part", {
    body: { fileName, fileSize: bytes.length, ...(contentType === undefined ? {} : { contentType }) }
  })
  const { parts, uuid } = init.body.data
  const sent = yield* Effect.forEach(
    parts as ReadonlyArray<{ readonly partNumber: number; readonly url: string }>,
    Effect.fnUntraced(function* ({ partNumber, url }, index) {
      const start = index * 5 * 1024 * 1024
      const body = bytes.slice(start, index === parts.length - 1 ? bytes.length : start + 5 * 1024 * 1024)
      const { headers } = yield* Effect.promise(() => fetch(url, { method: "PUT", body }))
      return { partNumber, eTag: headers.get("etag") }
    })
  )
  const { body } = yield* send("PUT", "/v1/uploads/complete-multi-part", { body: { uuid, parts: sent } })
  return body.data as { readonly fileUuid: string; readonly url: string }
})

/** Uploads a file, creates an asset of it and returns both uuids and the URLs. */
export const createAsset = Effect.fnUntraced(function* (fileName: string, bytes: Uint8Array, fields: object = {}) {
  const { fileUuid } = yield* upload(fileName, bytes)
  const created = yield* send("POST", "/v1/assets", { body: { fileUuid, ...fields } })
  const uuid: string = created.body.data.uuid
  const { body } = yield* send("GET", `/v1/assets/${uuid}`)
  return {
    uuid,
    fileUuid,
    urls: body.data.urls as Readonly<Record<"original" | "thumbnail" | "preview" | "cdnUrl", string>>
  }
})

/** Requests a URL without a key. */
export const download = Effect.fnUntraced(function* (
  url: string,
  headers: Readonly<Record<string, string>> = {},
  method = "GET"
) {
  const { fetch } = yield* TestServer
  const response = yield* Effect.promise(() => fetch(url, { method, headers }))
  const bytes = new Uint8Array(yield* Effect.promise(() => response.arrayBuffer()))
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    // Only where it is asked for: to decode megabytes that are no text takes longer than to receive them.
    get text() {
      return new TextDecoder().decode(bytes)
    }
  }
})

/** Requests the URL of a thumbnail until it is answered with the thumbnail, or with an icon that is not replaced later. */
export const downloadFinal = (url: string, headers: Readonly<Record<string, string>> = {}) =>
  eventually("the thumbnail is made", download(url, headers), (answer) =>
    answer.headers.get("cache-control")!.includes("immutable")
  )
