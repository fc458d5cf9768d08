import { Effect } from "effect"
import { crc32 } from "node:zlib"
import { TestServer } from "../TestServer.ts"

export interface Sent {
  /** A JSON body. */
  readonly body?: unknown
  /** A body as it is, sent as JSON. */
  readonly raw?: string
  /** The key, the one that holds everything unless given; `null` sends none. */
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- the tests look inside, and an assertion tells what is missing
  readonly body: any
}

/** Sends a request to the service in memory; the answer is checked against its schema on the way. */
export const send = Effect.fnUntraced(function* (method: string, path: string, sent: Sent = {}) {
  const { fetch, fullKey } = yield* TestServer
  const body = sent.raw ?? (sent.body === undefined ? undefined : JSON.stringify(sent.body))
  const headers = {
    ...(sent.key === null ? {} : { authorization: sent.key ?? fullKey }),
    ...(body === undefined ? {} : { "content-type": "application/json" }),
    ...sent.headers
  }
  const response = yield* Effect.promise(() =>
    fetch(path, { method, headers, ...(body === undefined ? {} : { body }) })
  )
  const text = yield* Effect.promise(() => response.text())
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text === "" ? undefined : JSON.parse(text)
  } satisfies Answer
})

let count = 0

/** An identifier no other test of the file uses. */
export const unique = (prefix = "id") => `${prefix}-${++count}`

/** Creates a location and gives its uuid. */
export const create = Effect.fnUntraced(function* (fields: Readonly<Record<string, unknown>> = {}) {
  const { body, status } = yield* send("POST", "/v1/locations", {
    body: { name: "Branch", identifier: unique(), ...fields }
  })
  if (status !== 201) throw new Error(`Not created: ${JSON.stringify(body)}`)
  return body.data.uuid as string
})

/** The record as it is read. */
export const read = (uuid: string) => Effect.map(send("GET", `/v1/locations/${uuid}`), ({ body }) => body.data)

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** The checksum of contract.md, section 2, written down independently of the service. */
export const checksum = (text: string): string => {
  let rest = crc32(text)
  let digits = ""
  for (let place = 0; place < 6; place++) {
    digits = alphabet[rest % 62]! + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}

/** A well-formed key with the given id and secret. */
export const keyOf = (id: string, secret: string) => `wp_${id}_${secret}${checksum(`wp_${id}_${secret}`)}`

/** A well-formed key that nobody was given. */
export const unknownKey = keyOf("0".repeat(21) + "1", "0".repeat(42) + "1")
