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
/** Of so many requests the service gets warm. */
const first = 1500
const patience = 300

/** Requests as clients send them. */
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

describe("5,000 requests that were broken at random", () => {
  it("get a refusal in the envelope or a closed connection, and cost nothing", { timeout: 120_000 }, async (ctx) => {
    await using running = await Running.start()
    const { call, pid, sql, url } = running
    const [uuid] = await Running.locations(sql, 1)
    const init = await call("POST", "/v1/uploads/init-multi-part", { fileName: "file.bin", fileSize: 10 })
    const part = new URL(init.body.data.parts[0].url)
    const whole = corpus(uuid!, `${part.pathname}${part.search}`)
    const { mutate, pick } = mutatorOf(seed)
    const broken = Array.from({ length: requests }, () => mutate(pick(whole)))

    // The pool of the database is open before the descriptors are counted, and connections of ours are closed again.
    await Promise.all(Array.from({ length: atOnce }, () => call("GET", listPath)))
    await sleep(6500)
    const descriptorsBefore = descriptorsOf(pid)

    const statuses: Array<number> = []
    const wrong: Array<string> = []
    let closed = 0
    let memoryBefore = 0
    await inTurns([...broken.entries()], atOnce, async ([index, bytes]) => {
      if (index === first) memoryBefore = memoryOf(pid)
      const manner = index % 4 === 0 ? { patience, closes: "at once" as const } : { patience }
      const { answers, text } = await exchange(url, bytes, manner)
      if (answers.length === 0) closed++
      for (const answer of answers) {
        statuses.push(answer.status)
        const refused = answer.status >= 400
        // The answer to HEAD has no body, and neither has that to a preflight.
        const noBody = answer.body === "" && /^(?:HEAD|OPTIONS)/.test(bytes.toString("latin1"))
        const tag = tagOf(answer)
        if (answer.status >= 500 || (refused && !noBody && (tag === undefined || tag === "Success")))
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
      "closed without": closed,
      "growth MB": growth,
      descriptors: `${descriptorsBefore} to ${descriptorsAfter}`
    })
    assert.deepStrictEqual(wrong, [])
    assert.isAtLeast(statuses.length, requests / 4)
    assert.isBelow(growth, 30)
    assert.isAtMost(descriptorsAfter, descriptorsBefore)
    assert.strictEqual((await call("GET", locationPath(uuid!))).status, 200)
  })
})
