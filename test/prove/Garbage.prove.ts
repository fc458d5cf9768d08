import { assert, describe, it } from "vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { inTurns } from "../support/Programs.ts"
import { filterPath, listPath, locationPath } from "../support/Operations.ts"
import { memoryOf } from "../support/Services.ts"
import { tally } from "../support/Tally.ts"
import { report } from "../support/proofs/Figures.ts"
import { descriptorsOf } from "../support/proofs/Load.ts"
import { mutatorOf } from "./Mutations.ts"
import * as Running from "../support/proofs/Running.ts"
import { exchange, head, tagOf } from "../support/proofs/Sockets.ts"

const seed = 20_261_121
const requests = 5000
const atOnce = 50
/** Requests that warm up the service before memory is measured. */
const warmUp = 1500
const patience = 300

/** Valid requests. */
const corpus = (uuid: string, upload: string) => {
  const body = JSON.stringify({ name: "Garbage", identifier: "garbage", address: { city: "Utrecht" } })
  const json = "Content-Type: application/json"
  const withBody = (method: string, path: string, text: string) =>
    head(method, path, Running.key, json, `Content-Length: ${Buffer.byteLength(text)}`) + text
  return [
    head("GET", listPath, Running.key),
    head("GET", filterPath("a"), Running.key, "If-None-Match: *"),
    head("HEAD", locationPath(uuid), Running.key),
    head("OPTIONS", "/v1/locations", "", "Origin: https://example.com", "Access-Control-Request-Method: PUT"),
    head("GET", "/healthz", ""),
    head("GET", "/docs", "", "Range: bytes=0-10"),
    withBody("POST", "/v1/locations", body),
    withBody("PATCH", locationPath(uuid), JSON.stringify({ name: "Näme", other: null })),
    head("POST", "/v1/locations", Running.key, json, "Transfer-Encoding: chunked") +
      `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    head("PUT", upload, "", "Content-Length: 10") + "0123456789",
    head("DELETE", locationPath("00000000-0000-7000-8000-000000000000"), Running.key),
    head("GET", listPath, Running.key) + head("GET", "/v1/me", Running.key, "Connection: close")
  ].map((text) => Buffer.from(text))
}

describe("malformed HTTP", () => {
  it(
    "5,000 randomly mutated requests get an error envelope or a closed connection and leak no resources",
    { timeout: 120_000 },
    async (ctx) => {
      await using running = await Running.start()
      const { call, pid, sql, url } = running
      const [uuid] = await Running.locations(sql, 1)
      const init = await call("POST", "/v1/uploads/init-multi-part", { fileName: "file.bin", fileSize: 10 })
      const part = new URL(init.body.data.parts[0].url)
      const whole = corpus(uuid!, `${part.pathname}${part.search}`)
      const { mutate, pick } = mutatorOf(seed)
      const broken = Array.from({ length: requests }, () => mutate(pick(whole)))

      // Open the database pool, and let the client connections close, before counting descriptors.
      await Promise.all(Array.from({ length: atOnce }, () => call("GET", listPath)))
      await sleep(6500)
      const descriptorsBefore = descriptorsOf(pid)

      const statuses: Array<number> = []
      const wrong: Array<string> = []
      let closed = 0
      let memoryBefore = 0
      await inTurns([...broken.entries()], atOnce, async ([index, bytes]) => {
        if (index === warmUp) memoryBefore = memoryOf(pid)
        const sending = index % 4 === 0 ? { patience, closes: "at once" as const } : { patience }
        const { answers, text } = await exchange(url, bytes, sending)
        if (answers.length === 0) closed++
        for (const answer of answers) {
          statuses.push(answer.status)
          const refused = answer.status >= 400
          // Responses to HEAD and to preflights have no body.
          const hasNoBody = answer.body === "" && /^(?:HEAD|OPTIONS)/.test(bytes.toString("latin1"))
          const tag = tagOf(answer)
          if (answer.status >= 500 || (refused && !hasNoBody && (tag === undefined || tag === "Success")))
            wrong.push(`${JSON.stringify(bytes.toString("latin1")).slice(0, 400)} -> ${JSON.stringify(text)}`)
        }
      })
      await sleep(6500)
      const growth = memoryOf(pid) - memoryBefore
      const descriptorsAfter = descriptorsOf(pid)

      await report(ctx, {
        requests,
        seed: String(seed),
        answers: tally(statuses),
        "closed without response": closed,
        "growth MB": growth,
        descriptors: `${descriptorsBefore} to ${descriptorsAfter}`
      })
      assert.deepStrictEqual(wrong, [])
      assert.isAtLeast(statuses.length, requests / 4)
      assert.isBelow(growth, 30)
      assert.isAtMost(descriptorsAfter, descriptorsBefore)
      assert.strictEqual((await call("GET", locationPath(uuid!))).status, 200)
    }
  )
})
