import { Effect } from "effect"
import { createHash } from "node:crypto"
import type { Session } from "./UploadRequests.ts"
import { type Sent, Wire } from "../wire/Wire.ts"

export const send = (method: string, path: string, sent?: Sent) =>
  Effect.flatMap(Wire, ({ send }) => send(method, path, sent))

/** The path and query of a URL of the service. */
export const pathOf = (url: string) => url.replace(/^https?:\/\/[^/]+/, "")

/** Starts an upload and returns its session. */
export const begin = (fileSize: number, key?: string) =>
  Effect.map(
    send("POST", "/v1/uploads/init-multi-part", {
      body: JSON.stringify({ fileName: "file.bin", fileSize }),
      ...(key === undefined ? {} : { key })
    }),
    ({ body }) => body.data as Session
  )

/** Sends a part like a browser page of another origin: with an Origin header and without a key. */
export const put = (url: string, body: Uint8Array, sent: Sent = {}) =>
  send("PUT", pathOf(url), {
    key: null,
    body,
    ...sent,
    headers: { origin: "https://uploads.example", "content-type": "application/octet-stream", ...sent.headers }
  })

/** The parts that the service has received. */
export const partsOf = (uuid: string) => Effect.map(send("GET", `/v1/uploads/${uuid}`), ({ body }) => body.data.parts)

export const complete = (uuid: string, parts: ReadonlyArray<object>) =>
  send("PUT", "/v1/uploads/complete-multi-part", { body: JSON.stringify({ uuid, parts }) })

export const md5 = (bytes: Uint8Array) => createHash("md5").update(bytes).digest("hex")
