import { once } from "node:events"
import { Agent, type IncomingMessage, request } from "node:http"
import { setTimeout as sleep } from "node:timers/promises"
import { noise } from "../../../test/support/Random.ts"
import type { Service } from "../../../test/support/Services.ts"

/** As large as the parts of uploads are. */
export const partSize = 8 * 1024 * 1024

const step = 8192
const bytes = noise(2 * partSize, 1)

/** The bytes of a part: other ones for each of the first thousand, without the cost of making them. */
export const partOf = (number: number, size = partSize): Buffer => {
  const from = (number % (partSize / step)) * step
  return bytes.subarray(from, from + size)
}

/** Does something for every number below `count`, some at a time. */
export const each = async (count: number, parallel: number, work: (index: number) => Promise<void>): Promise<void> => {
  let next = 0
  const worker = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: parallel }, worker))
}

type Answer = Readonly<Record<string, unknown>>

/** Asks one of the service's own operations; what it refuses ends the benchmark. */
export const ask = async <A>(
  service: Service,
  key: string,
  method: string,
  path: string,
  body?: unknown,
  again = 30
): Promise<A> => {
  const headers = { authorization: key, "content-type": "application/json" }
  const init = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await fetch(service.url + path, { method, headers, ...init })
  const answer = (await response.json()) as Answer
  // Joining many gigabytes outlasts a request; it goes on, and whoever asks again waits for it.
  if (response.status === 503 && path === completePath && again > 0) {
    await sleep(200)
    return ask(service, key, method, path, body, again - 1)
  }
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`)
  return answer["data"] as A
}

interface Session {
  readonly uuid: string
  readonly parts: ReadonlyArray<{ readonly partNumber: number; readonly url: string }>
}

export interface Uploaded {
  readonly fileUuid: string
  readonly url: string
}

const completePath = "/v1/uploads/complete-multi-part"

interface Upload {
  readonly fileName: string
  readonly fileSize: number
  /** Parts that are on their way at the same time. */
  readonly parallel: number
  readonly bytesOf: (part: number) => Buffer
  readonly sha256?: string
}

/** Milliseconds, of the parts and of the completion. */
export interface Times {
  readonly parts: number
  readonly completion: number
}

const agent = new Agent({ keepAlive: true })

/** Sends a part and tells its entity tag. `fetch` would need fifteen times the processor, which the service needs. */
const put = async (url: string, bytes: Buffer) => {
  const sending = request(url, { method: "PUT", agent, headers: { "content-length": bytes.length } })
  sending.end(bytes)
  const [response] = (await once(sending, "response")) as [IncomingMessage]
  await once(response.resume(), "end")
  if (response.statusCode !== 200) throw new Error(`A part was answered ${response.statusCode}`)
  return response.headers.etag ?? ""
}

/** Brings a file in as the service's clients do. */
export const upload = async (
  service: Service,
  key: string,
  { bytesOf, fileName, fileSize, parallel, sha256 }: Upload
): Promise<Uploaded & Times> => {
  const { parts, uuid } = await ask<Session>(service, key, "POST", "/v1/uploads/init-multi-part", {
    fileName,
    fileSize,
    ...(sha256 === undefined ? {} : { sha256 })
  })
  const sent: Array<{ partNumber: number; eTag: string }> = []
  const began = performance.now()
  await each(parts.length, parallel, async (index) => {
    const { partNumber, url } = parts[index]!
    sent.push({ partNumber, eTag: await put(url, bytesOf(index)) })
  })
  const arrived = performance.now()
  const file = await ask<Uploaded>(service, key, "PUT", completePath, { uuid, parts: sent })
  return { ...file, parts: arrived - began, completion: performance.now() - arrived }
}
