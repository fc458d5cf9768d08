import { randomBytes } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import type { Running } from "../support/proofs/Running.ts"

/** The records and files whose creation was acknowledged. */
export interface Acknowledged {
  readonly identifiers: Set<string>
  readonly files: Set<string>
}

type Send = Running["call"]

/** Attempts per request: a loaded machine may time out, but not forever. */
const attempts = 50

/** Repeats a request until it succeeds. A repeated DELETE may get a 404: an earlier attempt may have been applied. */
const retrying =
  (call: Send, onRefused = () => {}): Send =>
  async (method, path, body) => {
    for (let attempt = 1; ; attempt++) {
      const answer = await call(method, path, body)
      if (answer.status < 300 || (method === "DELETE" && answer.status === 404 && attempt > 1)) return answer
      if (answer.status !== 503 || attempt === attempts) {
        throw new Error(`${method} ${path} returned ${answer.status}: ${answer.text}`)
      }
      onRefused()
      await sleep(100)
    }
  }

/** Uploads random bytes; returns the file and its URL. */
export const upload = ({ call }: Pick<Running, "call">, size: number) => uploadWith(retrying(call), size)

const uploadWith = async (send: Send, size: number) => {
  const bytes = new Uint8Array(randomBytes(size))
  const begun = await send("POST", "/v1/uploads/init-multi-part", { fileName: "photo.bin", fileSize: size })
  const { parts, uuid } = begun.body.data
  const put = await fetch(parts[0].url, { method: "PUT", body: bytes })
  const sent = [{ partNumber: 1, eTag: put.headers.get("etag") }]
  const done = await send("PUT", "/v1/uploads/complete-multi-part", { uuid, parts: sent })
  return done.body.data as { readonly fileUuid: string; readonly url: string }
}

/** What clients observed in some period. */
interface Observed {
  readonly written: number
  /** Requests that got a 503. */
  readonly refused: number
  /** The longest time without an acknowledged write, in seconds. */
  readonly longestWait: number
}

/** Clients that create, change, delete and upload, each one request after the other, until stopped. */
export const busy = ({ call }: Pick<Running, "call">, writers: number, uploaders: number) => {
  const acknowledged: Acknowledged = { identifiers: new Set(), files: new Set() }
  const stopping = new AbortController()
  const met = { written: 0, refused: 0, longestWait: 0 }
  let last = performance.now()
  const wait = () => (performance.now() - last) / 1000
  const send = retrying(call, () => void met.refused++)
  const write = async (writer: number) => {
    for (let turn = 0; !stopping.signal.aborted; turn++) {
      const identifier = `busy-${writer}-${turn}`
      const { body, status } = await call("POST", "/v1/locations", { name: "Busy", identifier })
      // The write is not acknowledged, but the identifier may be taken.
      if (status === 503) {
        met.refused++
        continue
      }
      if (status !== 201) throw new Error(`A write returned ${status}`)
      met.written++
      met.longestWait = Math.max(met.longestWait, wait())
      last = performance.now()
      const path = `/v1/locations/${body.data.uuid}`
      if (turn % 5 === 4) await send("DELETE", path)
      else {
        acknowledged.identifiers.add(identifier)
        await send("PATCH", path, { name: "Busier" })
      }
    }
  }
  const uploads = async () => {
    while (!stopping.signal.aborted) {
      const { fileUuid } = await uploadWith(send, 20_000)
      const { body } = await send("POST", "/v1/assets", { fileUuid })
      acknowledged.files.add(fileUuid)
      if (acknowledged.files.size % 7 === 0) await send("DELETE", `/v1/assets/${body.data.uuid}`)
    }
  }
  const working = Promise.all([
    ...Array.from({ length: writers }, (_, writer) => write(writer)),
    ...Array.from({ length: uploaders }, uploads)
  ])
  return {
    acknowledged,
    written: () => met.written,
    /** Starts observing; the function it returns ends that. */
    watch: () => {
      const { refused, written } = met
      met.longestWait = 0
      last = performance.now()
      return (): Observed => ({
        written: met.written - written,
        refused: met.refused - refused,
        longestWait: Math.max(met.longestWait, wait())
      })
    },
    stop: async () => {
      stopping.abort()
      await working
    }
  }
}
