import { assert, describe, it } from "vitest"
import { once } from "node:events"
import { Agent, type IncomingMessage, request } from "node:http"
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { locationPath } from "../support/Operations.ts"
import { report } from "../support/proofs/Figures.ts"
import * as Running from "../support/proofs/Running.ts"

const rounds = 3
const loopers = 8
/** Seconds that a slow update takes in the database. */
const slow = 1.5
/** Milliseconds that a stop may take in addition to the longest request. */
const grace = 1000

interface Sent {
  /** From `performance.now()`. */
  readonly began: number
  /** The status, or the error code of the connection. */
  readonly outcome: number | string
}

/** A client that keeps its connection and repeats a request until it cannot connect. */
const loop = async (url: string, sent: Array<Sent>, path: string) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (let refused = false; !refused;) {
    const began = performance.now()
    const outcome = await send(url, "GET", path, { agent })
    sent.push({ began, outcome })
    refused = outcome === "ECONNREFUSED"
  }
  agent.destroy()
}

const send = (
  url: string,
  method: string,
  path: string,
  options: { readonly agent?: Agent; readonly body?: string; readonly ifMatch?: string } = {}
): Promise<number | string> =>
  new Promise((resolve) => {
    const { agent, body, ifMatch } = options
    const headers = { ...Running.headers, ...(ifMatch === undefined ? {} : { "if-match": ifMatch }) }
    const outgoing = request(`${url}${path}`, { method, headers, ...(agent === undefined ? {} : { agent }) })
    outgoing.on("response", (incoming: IncomingMessage) => {
      incoming.resume()
      incoming.on("end", () => resolve(incoming.statusCode!))
    })
    outgoing.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    outgoing.end(body)
  })

const drain = async () => {
  await using running = await Running.start()
  const { call, sql, url } = running
  const [first, second] = await Running.locations(sql, 2)
  const etag = (await call("GET", locationPath(second!))).headers.get("etag")!
  await Running.slowChanges(sql, slow)
  const { hostname, port } = new URL(url)
  const idle = connect(Number(port), hostname)
  await once(idle, "connect")

  const sent: Array<Sent> = []
  const noted = async (outcome: Promise<number | string>) => {
    const began = performance.now()
    sent.push({ began, outcome: await outcome })
  }
  const looping = Promise.all(Array.from({ length: loopers }, () => loop(url, sent, locationPath(first!))))
  await sleep(500)
  const body = JSON.stringify({ name: "Changed" })
  const slowOnes = [
    noted(send(url, "PATCH", locationPath(first!), { body })),
    // With If-Match it reads under a lock, then writes: the signal arrives during its transaction.
    noted(send(url, "PATCH", locationPath(second!), { body, ifMatch: etag }))
  ]
  await sleep(300)
  const signalled = performance.now()
  const code = await Promise.race([running.stop(), sleep(25_000, "late" as const)])
  const took = performance.now() - signalled
  await Promise.all([...slowOnes, looping])
  idle.destroy()
  const failed = sent.filter(({ began, outcome }) => began < signalled && outcome !== 200)
  const after = sent.filter(({ began }) => began >= signalled)
  return { code, failed, after, took, begun: sent.length - after.length }
}

describe("SIGTERM under load", () => {
  it("SIGTERM fails no request in progress, and the process exits with 0 soon after the last one", async (ctx) => {
    const outcomes = []
    for (let round = 0; round < rounds; round++) outcomes.push(await drain())
    const slowest = Math.max(...outcomes.map(({ took }) => took))

    await report(ctx, {
      begun: outcomes.reduce((sum, { begun }) => sum + begun, 0),
      failed: outcomes.reduce((sum, { failed }) => sum + failed.length, 0),
      "exit codes": outcomes.map(({ code }) => code).join(" "),
      "slowest stop ms": slowest
    })
    for (const { after, code, failed } of outcomes) {
      assert.deepStrictEqual(failed, [])
      assert.strictEqual(code, 0)
      // A later request is served, gets a 503, or cannot connect.
      for (const { outcome } of after) assert.include([200, 503, "ECONNREFUSED", "ECONNRESET"], outcome)
    }
    assert.isAtMost(slowest, slow * 1000 + grace)
  })
})
