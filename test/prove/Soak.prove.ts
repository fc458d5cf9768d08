import type { Request } from "autocannon"
import { assert, describe, it } from "vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { filterPath, listPath, locationPath, newLocation } from "../support/Operations.ts"
import { report } from "../support/proofs/Figures.ts"
import { descriptorsOf, fire } from "../support/proofs/Load.ts"
import * as Running from "../support/proofs/Running.ts"

const seconds = 50
const perSecond = 300
const connections = 20
/** The maximum of database connections, which are opened on first use. */
const poolSize = 10
/** Seconds between two garbage collections; the first ten seconds are warm-up. */
const every = 10

const heapNow = async ({ pid, service }: Running.Running) => {
  const logged = () => [...service.output().matchAll(/^heap (\d+)$/gm)].map(([, bytes]) => Number(bytes))
  const before = logged().length
  process.kill(pid, "SIGUSR2")
  while (logged().length === before) await sleep(10)
  return logged().at(-1)! / 1e6
}

/** The slope of the regression line through the values. */
const slopeOf = (values: ReadonlyArray<number>) => {
  const middle = (values.length - 1) / 2
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const square = values.reduce((sum, _, index) => sum + (index - middle) ** 2, 0)
  return values.reduce((sum, value, index) => sum + (index - middle) * (value - mean), 0) / square
}

/** A realistic mix of requests, including invalid ones. */
const mix = (uuids: ReadonlyArray<string>) => {
  let number = 0
  const create = (request: Request) => ({ ...request, body: JSON.stringify(newLocation(`soak-${number++}`)) })
  return (connection: number): ReadonlyArray<Request> => {
    const own = uuids.slice(connection * 20, connection * 20 + 20)
    return own.flatMap((uuid, turn): ReadonlyArray<Request> => [
      { path: locationPath(uuid) },
      { path: listPath },
      { method: "PATCH", path: locationPath(uuid), body: JSON.stringify({ name: `Turn ${turn}` }) },
      { path: locationPath(uuid) },
      { path: filterPath("ak") },
      { method: "POST", path: "/v1/locations", setupRequest: create },
      { path: `${locationPath(uuid)}?turn=${turn}` },
      { path: "/v1/locations?sortBy=nothing" },
      { method: "POST", path: "/v1/locations", body: `{"name":${turn}}` },
      { path: "/v1/nothing" }
    ])
  }
}

describe("soak", () => {
  it("50 seconds of mixed traffic leak no memory, descriptors or connections", { timeout: 120_000 }, async (ctx) => {
    const preload = new URL("../support/heap.ts", import.meta.url).href
    await using running = await Running.start({
      NODE_OPTIONS: `--import=${preload}`,
      DATABASE_POOL_SIZE: String(poolSize)
    })
    const { pid, sql, url } = running
    const uuids = await Running.locations(sql, connections * 20)
    const requests = mix(uuids)
    const traffic = (seconds: number) =>
      fire({ url, connections, headers: Running.headers, overallRate: perSecond, until: { seconds }, requests })
    await traffic(2)
    await sleep(500)
    const descriptorsBefore = descriptorsOf(pid)
    const backendsBefore = await Running.backendsOf(running)

    const heaps: Array<number> = []
    const collect = setInterval(() => void heapNow(running).then((heap) => heaps.push(heap)), every * 1000)
    const outcome = await traffic(seconds)
    clearInterval(collect)
    heaps.push(await heapNow(running))
    // Idle connections are closed after five seconds.
    await sleep(7000)
    const slope = slopeOf(heaps)
    const [descriptors, backendsAfter] = [descriptorsOf(pid), await Running.backendsOf(running)]

    await report(ctx, {
      requests: [...outcome.statuses.values()].reduce((sum, count) => sum + count),
      "heap MB": heaps.map((heap) => heap.toFixed(1)).join(" "),
      "growth MB per 10 s": slope,
      descriptors: `${descriptorsBefore} to ${descriptors}`,
      "database connections": `${backendsBefore} to ${backendsAfter}`
    })
    assert.sameMembers([...outcome.statuses.keys()], [200, 201, 400, 404])
    assert.strictEqual(outcome.broken, 0)
    assert.isAtLeast(heaps.length, 5)
    assert.isBelow(slope, 1)
    assert.isAtMost(descriptors - backendsAfter, descriptorsBefore - backendsBefore)
    assert.isAtMost(backendsAfter, poolSize)
  })
})
