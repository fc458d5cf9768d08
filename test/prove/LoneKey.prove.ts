import { assert, describe, it } from "vitest"
import { brands } from "../support/Databases.ts"
import { run, type Slice } from "../support/LoadClients.ts"
import { make, names, type Operation, reading } from "../support/Operations.ts"
import { costlyFilter } from "../support/proofs/CostlyFilter.ts"
import { report } from "../support/proofs/Figures.ts"
import * as Running from "../support/proofs/Running.ts"
import * as Service from "../support/Service.ts"
import { cpuOf, memoryOf } from "../support/Services.ts"

const rows = 100_000
const rounds = 5

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

    const ratioOf = async (operation: Operation<string>, load: { connections: number; seconds: number }) => {
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
    for (const name of names) ratios[name] = await ratioOf(operations[name], { connections: 32, seconds: 3 })
    const costly = await ratioOf(slow, { connections: 8, seconds: 5 })
    await report(ctx, { ...ratios, [slow.name]: costly })
    for (const [name, ratio] of Object.entries(ratios)) assert.isAtLeast(ratio, 0.9, name)
    assert.isAtLeast(costly, 0.75)
  })
})
