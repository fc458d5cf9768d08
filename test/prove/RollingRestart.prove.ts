import { assert, describe, it } from "@effect/vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll } from "vitest"
import * as Process from "../support/Process.ts"
import * as Balancer from "../support/proofs/Balancer.ts"
import { report } from "../support/proofs/Figures.ts"
import { type Installation, install } from "../support/Nodes.ts"
import * as RestartLoad from "../support/proofs/RestartLoad.ts"
import { brokenOf } from "../support/proofs/BrokenInvariants.ts"

const restarts = 4

describe("rolling restart", () => {
  let installation: Installation
  beforeAll(async () => {
    installation = await install()
  })
  afterAll(() => installation?.close())

  it("four restarts of two nodes behind a load balancer fail no request", { timeout: 300_000 }, async (context) => {
    const ports = [await Process.freePort(), await Process.freePort()]
    // The balancer checks readiness ten times a second, so it notices within a second.
    const start = (port: number) => installation.node({ PORT: String(port), DRAIN_SECONDS: "1" })
    const nodes = [await start(ports[0]!), await start(ports[1]!)]
    await using balancer = await Balancer.start(ports)
    const ready = async (port: number) => {
      while (!balancer.isReady(port)) await sleep(20)
    }
    await Promise.all(ports.map(ready))

    const load = RestartLoad.start(balancer.url)
    const codes: Array<number | null> = []
    for (let restart = 0; restart < restarts; restart++) {
      await sleep(1000)
      const which = restart % 2
      codes.push(await nodes[which]!.stop())
      nodes[which] = await start(ports[which]!)
      await ready(ports[which]!)
    }
    await sleep(1000)
    const { failures, lost, requests } = await load.stop()
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
