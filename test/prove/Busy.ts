import { randomBytes } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import type { Running } from "../support/proofs/Running.ts"

/** What clients were told is there. */
export interface Acknowledged {
  readonly identifiers: Set<string>
  readonly files: Set<string>
}

type Send = Running["call"]

/** So many times a request is repeated: a loaded machine may have no time for it, but not for ever. */
const attempts = 50

/** Sends a request until it is accepted; what is not there any more may have been deleted by an attempt before. */
const patient =
  (call: Send, onRefused = () => {}): Send =>
  async (method, path, body) => {
    for (let attempt = 1; ; attempt++) {
      const answer = await call(method, path, body)
      if (answer.status < 300 || (method === "DELETE" && answer.status === 404 && attempt > 1)) return answer
      if (answer.status !== 503 || attempt === attempts) {
        throw new Error(`${method} ${path} was answered with ${answer.status}: ${answer.text}`)
      }
      onRefused()
      await sleep(100)
    }
  }

/** Uploads random bytes; the file and its address. */
export const upload = ({ call }: Pick<Running, "call">, size: number) => uploadWith(patient(call), size)

const uploadWith = async (send: Send, size: number) => {
  const bytes = new Uint8Array(randomBytes(size))
  const begun = await send("POST", "/v1/uploads/init-multi-part", { fileName: "photo.bin", fileSize: size })
  const { parts, uuid } = begun.body.data
  const put = await fetch(parts[0].url, { method: "PUT", body: bytes })
  const sent = [{ partNumber: 1, eTag: put.headers.get("etag") }]
  const done = await send("PUT", "/v1/uploads/complete-multi-part", { uuid, parts: sent })
  return done.body.data as { readonly fileUuid: string; readonly url: string }
}

/** What clients met in some time. */
interface Met {
  readonly written: number
  /** Requests that were told to come back later. */
  readonly refused: number
  /** The longest time without a write that was acknowledged, in seconds. */
  readonly longestWait: number
}

/** Clients that write, change, delete and upload, each one request after the other, until they are told to stop. */
export const busy = ({ call }: Pick<Running, "call">, writers: number, uploaders: number) => {
  const acknowledged: Acknowledged = { identifiers: new Set(), files: new Set() }
  const stopping = new AbortController()
  const met = { written: 0, refused: 0, longestWait: 0 }
  let last = performance.now()
  const wait = () => (performance.now() - last) / 1000
  const send = patient(call, () => void met.refused++)
  const write = async (writer: number) => {
    for (let turn = 0; !stopping.signal.aborted; turn++) {
      const identifier = `busy-${writer}-${turn}`
      const { body, status } = await call("POST", "/v1/locations", { name: "Busy", identifier })
      // Nothing was acknowledged then, and the name may be taken all the same.
      if (status === 503) {
        met.refused++
        continue
      }
      if (status !== 201) throw new Error(`A write was answered with ${status}`)
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
    /** Begins to watch; what clients have met from then until the function it gives is called. */
    watch: () => {
      const { refused, written } = met
      met.longestWait = 0
      last = performance.now()
      return (): Met => ({
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
