import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { memoryOf } from "../../test/support/Services.ts"
import { exchange, head, tagOf } from "../../test/support/proofs/Sockets.ts"
import { tally } from "../../test/support/Tally.ts"
import type { Tool } from "./tool.ts"
import { inTurns, runTool } from "../../test/support/Programs.ts"
import type { Target } from "./target.ts"

/** A valid request. */
interface Whole {
  readonly name: string
  readonly bytes: Buffer
}

const json = (key: string, method: string, path: string, value: object): Whole => {
  const body = JSON.stringify(value)
  const lines = ["Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`]
  return { name: `${method} ${path}`, bytes: Buffer.from(head(method, path, key, ...lines) + body) }
}

const corpus = ({ key, part, uuids }: Target): ReadonlyArray<Whole> => {
  const part1000 = Buffer.concat([Buffer.from(head("PUT", part, "", "Content-Length: 1000")), Buffer.alloc(1000, "a")])
  const init = { fileName: "poster.pdf", fileSize: 2_400_000, contentType: "application/pdf" }
  const translations = [{ locale: "en", name: "Zomer", description: "é😀" }]
  return [
    {
      name: "GET list",
      bytes: Buffer.from(head("GET", "/v1/locations?limit=5&filter=name:contains:a&sortBy=name", key))
    },
    { name: "GET search", bytes: Buffer.from(head("GET", "/v1/assets/search?search=zomer&locale=nl", key)) },
    { name: "GET document", bytes: Buffer.from(head("GET", "/v1/openapi.json", "", "Range: bytes=0-10")) },
    json(key, "POST", "/v1/locations", {
      name: "Näme",
      identifier: "fuzz",
      coordinates: { latitude: 1, longitude: 2 }
    }),
    json(key, "PATCH", `/v1/locations/${uuids.location}`, { name: "Other", address: { city: "Utrecht" }, other: null }),
    json(key, "POST", "/v1/users", { username: "fuzz", email: "fuzz@example.com", groups: [uuids.group] }),
    json(key, "PATCH", `/v1/assets/${uuids.asset}`, { translations, focalPoint: { x: 0.5, y: 0.5 } }),
    json(key, "POST", "/v1/posts", {
      type: "news",
      translations: [{ locale: "en", title: "Fuzz", body: "<p>a &amp; b</p>" }]
    }),
    json(key, "PUT", `/v1/products/${uuids.product}/modules/price`, { model: "fixed", amountMinor: 250 }),
    json(key, "POST", "/v1/uploads/init-multi-part", init),
    json(key, "PUT", "/v1/uploads/complete-multi-part", { uuid: uuids.asset, parts: [{ partNumber: 1, eTag: "a" }] }),
    { name: "PUT part", bytes: part1000 }
  ]
}

const requests = 5000
const atOnce = 50
/** How long to wait for an answer, in milliseconds: half a request gets none until the connection ends. */
const patience = 1500

/**
 * Copies of a request that zzuf has broken with the seeds from 0 on. Every second time the head is left alone, because
 * a request with a broken head does not get far.
 */
const mutated = async (folder: string, { bytes, name }: Whole, index: number, count: number) => {
  const file = join(folder, `zzuf-${index}.bin`)
  writeFileSync(file, bytes)
  const body = bytes.indexOf("\r\n\r\n") + 4
  const copies = async (seeds: string, amount: number, ...range: ReadonlyArray<string>) => {
    const args = ["-s", seeds, "-r", "0.0001:0.01", ...range, "cat", file]
    const { bytes: all } = await runTool("zzuf", args, folder, 60)
    if (all.length !== amount * bytes.length)
      throw new Error(`zzuf gave ${all.length} bytes: ${all.toString("latin1")}`)
    return Array.from({ length: amount }, (_, copy) => all.subarray(copy * bytes.length, (copy + 1) * bytes.length))
  }
  const half = count >> 1
  const any = await copies(`0:${half}`, half)
  const rest = count - half
  const below = body < bytes.length ? ["-b", `${body}-`] : []
  return [...any, ...(await copies(`${half}:${count}`, rest, ...below))].map((broken) => ({ name, broken }))
}

/** Sends requests in which bits are wrong. */
export const zzuf: Tool = {
  name: "zzuf",
  needs: { command: "zzuf", package: "zzuf" },
  readsOnly: false,
  run: async (target) => {
    const { folder, pid, url } = target
    const all = corpus(target)
    const share = Math.ceil(requests / all.length)
    const each = await inTurns([...all.entries()], 2, ([index, whole]) => mutated(folder, whole, index, share))
    // Of every kind some, whatever part of them is looked at.
    const queue = Array.from({ length: share }, (_, copy) => each.map((copies) => copies[copy]!)).flat()
    const statuses: Array<number> = []
    const findings: Array<string> = []
    let [unanswered, sent, warm] = [0, 0, 0]
    await inTurns(queue, atOnce, async ({ broken, name }) => {
      if (++sent === queue.length / 2) warm = memoryOf(pid)
      const { answers, text } = await exchange(url, broken, { patience, closes: "unanswered" })
      if (answers.length === 0) unanswered++
      for (const answer of answers) {
        statuses.push(answer.status)
        const enveloped = answer.status < 400 || answer.body === "" || tagOf(answer) !== undefined
        if (answer.status >= 500 || !enveloped)
          findings.push(`${name}: ${JSON.stringify(broken.toString("latin1"))} -> ${text.slice(0, 600)}`)
      }
    })
    // Node waits this long for the next request of a connection.
    await sleep(6000)
    const growth = memoryOf(pid) - warm
    return {
      at: `${all.length} requests: raw HTTP, JSON bodies, parts of uploads`,
      figures: `${queue.length} broken copies, seeds 0 to ${share - 1}; ${tally(statuses)}; ${unanswered} without an answer; ${growth.toFixed(0)} MB more in the second half`,
      findings: [
        ...findings.slice(0, 10),
        ...(unanswered < queue.length / 4 ? [] : [`${unanswered} got no answer, so little is known`]),
        ...(growth < 30 ? [] : [`memory grows by ${Math.round(growth)} MB`])
      ]
    }
  }
}
