import { assert, describe, it } from "vitest"
import { brands } from "../support/Databases.ts"
import { run, type Slice } from "../support/LoadClients.ts"
import { locationPath, make, names, type Operation, reading } from "../support/Operations.ts"
import { costlyFilter } from "../support/proofs/CostlyFilter.ts"
import { report } from "../support/proofs/Figures.ts"
import { flood } from "../support/proofs/Floods.ts"
import { assertUnharmed, duringAttack, figures, keyWith } from "../support/proofs/Neighbours.ts"
import * as Running from "../support/proofs/Running.ts"
import * as Service from "../support/Service.ts"
import { cpuOf, memoryOf } from "../support/Services.ts"

const rows = 100_000

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

/** A service, for the load generator. */
const target = (name: string, { pid, url }: Service.Service) => ({
  name,
  url,
  pid,
  startTime: 0,
  memory: () => memoryOf(pid),
  cpu: () => cpuOf(pid),
  [Symbol.asyncDispose]: () => Promise.resolve()
})

describe("a key that is alone", () => {
  it("a key alone on an idle service keeps its rate with shares", { timeout: 480_000 }, async (ctx) => {
    await using shared = await Running.start({ KEY_SHARE: "0.75" })
    await using unshared = await Service.start({ KEY_SHARE: "1" }, { folder: shared.folder })
    const uuids = await Running.locations(shared.sql, rows)
    const operations = make({ uuids: uuids.slice(0, 4096), brands: await brands(shared.sql, rows) })
    const slow = reading("costly filter", [`/v1/locations?limit=1&filter=${costlyFilter}`])
    const sides = [target("shared", shared), target("unshared", unshared)] as const

    // Disturbances last for seconds: the two sides of a short round share them, and the median leaves out the rest.
    const ratioOf = async (
      operation: Operation<string>,
      { rounds, ...load }: { connections: number; seconds: number; rounds: number }
    ) => {
      const send = (side: (typeof sides)[number]) => run(side, operation, { ...load, key: Service.key })
      const ratios: Array<number> = []
      for (const side of sides) await send(side)
      for (let round = 0; round < rounds; round++) {
        const slices: [Slice?, Slice?] = []
        for (const index of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const))
          slices[index] = await send(sides[index])
        ratios.push(slices[0]!.perSecond / slices[1]!.perSecond)
      }
      return median(ratios)
    }

    const ratios: Record<string, number> = {}
    for (const name of names)
      ratios[name] = await ratioOf(operations[name], { connections: 32, seconds: 1.5, rounds: 15 })
    const costly = await ratioOf(slow, { connections: 8, seconds: 5, rounds: 5 })
    await report(ctx, { ...ratios, [slow.name]: costly })
    for (const [name, ratio] of Object.entries(ratios)) assert.isAtLeast(ratio, 0.9, name)
    assert.isAtLeast(costly, 0.75)
  })

  it("a key that returns after a pause is not slowed down by the writes of a key that was alone", async (ctx) => {
    await using running = await Running.start()
    const uuids = await Running.locations(running.sql, 1000)
    const key = await keyWith(running, "update:locations")
    let number = 0
    const attack = () =>
      flood(running.url, 60, 20, (connection) => ({
        path: locationPath(uuids[connection * 16]!),
        key,
        init: { method: "PATCH", body: JSON.stringify({ name: `Update ${number++}` }) }
      }))
    // A share counts as working for a second after its last request, so each request of the neighbour finds the other alone.
    const { alone, during, result } = await duringAttack(running, attack, { pause: 1500 })
    await report(ctx, { ...figures(alone, during), updates: result.get(200) ?? 0 })
    assertUnharmed(during, { read: 400, write: 400 })
    assert.isAbove(result.get(200) ?? 0, 1000)
  })
})
