import { assert, describe, it } from "@effect/vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll } from "vitest"
import * as Process from "../support/Process.ts"
import { callTo } from "../support/Service.ts"
import * as Balancer from "./Balancer.ts"
import { report } from "../support/proofs/Figures.ts"
import { type Installation, install } from "../support/Nodes.ts"
import { brokenOf } from "../support/proofs/BrokenInvariants.ts"

const restarts = 4
const clients = 16

/** A connection error counts as a failed request. */
const unsent = ({ cause, message }: Error) => ({
  status: 0,
  body: { message: cause instanceof Error ? cause.message : message }
})

describe("rolling restart", () => {
  let installation: Installation
  beforeAll(async () => {
    installation = await install()
  })
  afterAll(() => installation?.close())

  it("four restarts of two nodes behind a load balancer fail no request", { timeout: 120_000 }, async (context) => {
    const ports = [await Process.freePort(), await Process.freePort()]
    // The balancer checks readiness ten times a second, so it notices within a second.
    const start = (port: number) => installation.node({ PORT: String(port), DRAIN_SECONDS: "1" })
    const nodes = [await start(ports[0]!), await start(ports[1]!)]
    await using balancer = await Balancer.start(ports)
    /** Sends each request on a new connection. */
    const call = (method: string, path: string, body?: unknown) =>
      callTo(balancer.url)(method, path, body, { connection: "close" }).catch(unsent)
    const ready = async (port: number) => {
      while (!balancer.isReady(port)) await sleep(20)
    }
    await Promise.all(ports.map(ready))

    const ending = new AbortController()
    let requests = 0
    const failures: Array<string> = []
    const created: Array<string> = []
    const client = async (name: number) => {
      for (let turn = 0; !ending.signal.aborted; turn++) {
        const identifier = `rolling-${name}-${turn}`
        const creation = await call("POST", "/v1/locations", { name: "Rolling", identifier })
        requests++
        if (creation.status !== 201) failures.push(`POST ${creation.status} ${JSON.stringify(creation.body)}`)
        else created.push(creation.body.data.uuid)
        const uuid = created.at(-1)
        for (const [method, body] of [["GET"], ["PATCH", { name: `Turn ${turn}` }]] as const) {
          const answer = await call(method, `/v1/locations/${uuid}`, body)
          requests++
          if (answer.status !== 200) failures.push(`${method} ${answer.status} ${JSON.stringify(answer.body)}`)
        }
      }
    }
    const load = Promise.all(Array.from({ length: clients }, (_, name) => client(name)))

    const codes: Array<number | null> = []
    for (let restart = 0; restart < restarts; restart++) {
      await sleep(1000)
      const which = restart % 2
      codes.push(await nodes[which]!.stop())
      nodes[which] = await start(ports[which]!)
      await ready(ports[which]!)
    }
    await sleep(1000)
    ending.abort()
    await load
    const lost: Array<string> = []
    for (const uuid of created) {
      const { status } = await call("GET", `/v1/locations/${uuid}`)
      if (status !== 200) lost.push(uuid)
    }
    await report(context, {
      requests,
      failed: failures.length,
      lost: lost.length,
      "connections refused": balancer.refused()
    })
    assert.deepStrictEqual(await brokenOf(context, (statement) => installation.sql.unsafe(statement)), [])
    assert.deepStrictEqual(failures, [])
    assert.deepStrictEqual(lost, [])
    assert.deepStrictEqual(codes, [0, 0, 0, 0])
    assert.isAbove(requests, 1000)
  })
})
