import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { crc32 } from "node:zlib"
import { TestServer } from "../TestServer.ts"

export interface Sent {
  /** A JSON body. */
  readonly body?: unknown
  /** A body that is sent unchanged, as JSON. */
  readonly raw?: string
  /** The API key. Default: a key with every permission; `null` sends none. */
  readonly key?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a request to the service in memory. The response is decoded with its schema, strictly. */
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
  const { headers: responseHeaders, status } = response
  const isStream = responseHeaders.get("content-type") === "text/event-stream"
  return { status, headers: responseHeaders, text, body: text === "" || isStream ? undefined : JSON.parse(text) }
})

export type Answer = Effect.Success<ReturnType<typeof send>>

/** The typed client with a key that has every permission, for requests that are valid. */
export const client = Effect.flatMap(TestServer, ({ client, fullKey }) => client(fullKey))

/** Asserts the status and the tag of an error and returns its body, for assertions on its other members. */
export const expectError = (response: Pick<Answer, "status" | "body">, status: number, tag: string, label = "") => {
  const actual = [response.status, response.body?._tag]
  assert.deepStrictEqual(actual, [status, tag], `${label} ${JSON.stringify(response.body)}`)
  return response.body
}

/** The status, the tag and the path and code of each issue of an error, for comparison in one assertion. */
export const problemsOf = ({ body, status }: Pick<Answer, "status" | "body">): ReadonlyArray<unknown> => [
  status,
  body._tag,
  ...(body.issues ?? []).map(({ code, path }: Readonly<Record<string, string>>) => `${path} ${code}`)
]

/** A uuid that no record has. */
export const unknownUuid = "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30"

/** Three uuids that no record has, sorted. */
export const unknownUuids: ReadonlyArray<string> = [1, 2, 3].map((last) => unknownUuid.slice(0, -1) + last)

let count = 0

/** An identifier that is unique within the test file. */
export const unique = (prefix = "id") => `${prefix}-${++count}`

/** Creates a location and returns its uuid. */
export const create = Effect.fnUntraced(function* (fields: Readonly<Record<string, unknown>> = {}) {
  const { body, status } = yield* send("POST", "/v1/locations", {
    body: { name: "Branch", identifier: unique(), ...fields }
  })
  if (status !== 201) throw new Error(`Not created: ${JSON.stringify(body)}`)
  return body.data.uuid as string
})

/** The location as GET returns it. */
export const read = (uuid: string) => Effect.map(send("GET", `/v1/locations/${uuid}`), ({ body }) => body.data)

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/** The checksum of contract.md, section 2, implemented independently of the service. */
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

/** A well-formed key that the service never issued. */
export const unknownKey = keyOf("0".repeat(21) + "1", "0".repeat(42) + "1")
