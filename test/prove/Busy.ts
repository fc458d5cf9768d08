import { randomBytes } from "node:crypto"
import { setTimeout as sleep } from "node:timers/promises"
import type { Running } from "./Running.ts"

/** What clients were told is there. */
export interface Acknowledged {
  readonly identifiers: Set<string>
  readonly files: Set<string>
}

/** Until it is: a loaded machine may have no time for a request, which then says so. */
const accepted = async (send: () => ReturnType<Running["call"]>) => {
  for (;;) {
    const { body, status, text } = await send()
    if (status < 300) return { body }
    if (status !== 503) throw new Error(`Answered with ${status}: ${text}`)
    await sleep(100)
  }
}

/** Uploads random bytes; the file and its address. */
export const upload = async ({ call }: Pick<Running, "call">, size: number) => {
  const bytes = new Uint8Array(randomBytes(size))
  const begun = await accepted(() =>
    call("POST", "/v1/uploads/init-multi-part", { fileName: "photo.bin", fileSize: size })
  )
  const { parts, uuid } = begun.body.data
  const put = await fetch(parts[0].url, { method: "PUT", body: bytes })
  const sent = [{ partNumber: 1, eTag: put.headers.get("etag") }]
  const done = await accepted(() => call("PUT", "/v1/uploads/complete-multi-part", { uuid, parts: sent }))
  return done.body.data as { readonly fileUuid: string; readonly url: string }
}

/** Clients that write, change, delete and upload, each one request after the other, until they are told to stop. */
export const busy = (running: Pick<Running, "call">, writers: number, uploaders: number) => {
  const acknowledged: Acknowledged = { identifiers: new Set(), files: new Set() }
  const stopping = new AbortController()
  let written = 0
  const write = async (writer: number) => {
    for (let turn = 0; !stopping.signal.aborted; turn++) {
      const identifier = `busy-${writer}-${turn}`
      const { body, status } = await running.call("POST", "/v1/locations", { name: "Busy", identifier })
      // A loaded machine may have no time for it; then nothing was acknowledged.
      if (status === 503) continue
      if (status !== 201) throw new Error(`A write was answered with ${status}`)
      written++
      const path = `/v1/locations/${body.data.uuid}`
      if (turn % 5 === 4) await running.call("DELETE", path)
      else {
        acknowledged.identifiers.add(identifier)
        await running.call("PATCH", path, { name: "Busier" })
      }
    }
  }
  const send = async () => {
    while (!stopping.signal.aborted) {
      const { fileUuid } = await upload(running, 20_000)
      const { body } = await accepted(() => running.call("POST", "/v1/assets", { fileUuid }))
      acknowledged.files.add(fileUuid)
      if (acknowledged.files.size % 7 === 0) {
        await running.call("DELETE", `/v1/assets/${body.data.uuid}`)
      }
    }
  }
  const working = Promise.all([
    ...Array.from({ length: writers }, (_, writer) => write(writer)),
    ...Array.from({ length: uploaders }, send)
  ])
  return {
    acknowledged,
    written: () => written,
    stop: async () => {
      stopping.abort()
      await working
    }
  }
}
