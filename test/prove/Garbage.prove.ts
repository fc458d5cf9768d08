import { assert, describe, it } from "vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { filterPath, listPath, locationPath } from "../../scripts/bench/operations.ts"
import { memoryOf } from "../../scripts/bench/services.ts"
import { report } from "./figures.ts"
import { descriptorsOf } from "./Load.ts"
import { mutatorOf } from "./Mutations.ts"
import * as Running from "./Running.ts"
import { answersIn, converse, head, tagOf } from "./Sockets.ts"

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

    const statuses = new Map<number, number>()
    const wrong: Array<string> = []
    let closed = 0
    const send = async (bytes: Buffer, closes: boolean) => {
      const { text } = await converse(url, async (socket, heard) => {
        // What never becomes a whole request gets no answer in this time; half a connection that is closed gives up.
        if (closes) socket.end(bytes)
        else socket.write(bytes)
        for (let waited = 0; waited < patience && !socket.destroyed && heard() === ""; waited += 10) await sleep(10)
        await sleep(10)
        socket.destroy()
      })
      const answers = answersIn(text)
      if (answers.length === 0) closed++
      for (const answer of answers) {
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
        const refused = answer.status >= 400
        // The answer to HEAD has no body, and neither has that to a preflight.
        const noBody = answer.body === "" && /^(?:HEAD|OPTIONS)/.test(bytes.toString("latin1"))
        const tag = tagOf(answer)
        if (answer.status >= 500 || (refused && !noBody && (tag === undefined || tag === "Success")))
          wrong.push(`${JSON.stringify(bytes.toString("latin1")).slice(0, 400)} -> ${JSON.stringify(text)}`)
      }
    }
    const queue = broken.entries()
    let memoryBefore = 0
    let descriptorsBefore = 0
    const work = async () => {
      for (const [index, bytes] of queue) {
        if (index === first) {
          memoryBefore = memoryOf(pid)
          descriptorsBefore = descriptorsOf(pid)
        }
        await send(bytes, index % 4 === 0)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    await sleep(6500)
    const growth = memoryOf(pid) - memoryBefore

    await report(ctx, {
      requests,
      seed: String(seed),
      answers: [...statuses]
        .toSorted(([a], [b]) => a - b)
        .map(([status, count]) => `${status} × ${count}`)
        .join(" "),
      "closed without": closed,
      "growth MB": growth
    })
    assert.deepStrictEqual(wrong, [])
    assert.isAtLeast(
      [...statuses.values()].reduce((sum, count) => sum + count),
      requests / 4
    )
    assert.isBelow(growth, 30)
    assert.isAtMost(descriptorsOf(pid), descriptorsBefore)
    assert.strictEqual((await call("GET", locationPath(uuid!))).status, 200)
  })
})
