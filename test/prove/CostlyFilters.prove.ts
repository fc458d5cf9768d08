import { assert, describe, it } from "vitest"
import { costlyFilter } from "../support/proofs/CostlyFilter.ts"
import { report } from "../support/proofs/Figures.ts"
import { floodElsewhere } from "../support/proofs/Floods.ts"
import { assertUnharmed, duringAttack, figures, keyWith } from "../support/proofs/Neighbours.ts"
import * as Running from "../support/proofs/Running.ts"

const rows = 100_000

describe("costly filters of one key", () => {
  for (const connections of [10, 40, 520]) {
    it(`${connections} connections of one key with costly filters leave other keys their reads and writes`, async (ctx) => {
      await using running = await Running.start()
      await Running.locations(running.sql, rows)
      const key = await keyWith(running, "read:locations")
      const path = `/v1/locations?limit=1&filter=${costlyFilter}`
      const { alone, during, result } = await duringAttack(running, () =>
        floodElsewhere(running.url, connections, 15, { path, key })
      )
      await report(ctx, {
        ...figures(alone, during),
        attacker: [...result].map(([status, count]) => `${count}x${status}`).join(" ")
      })
      assertUnharmed(during, { read: 150, write: 400 })
      for (const status of result.keys()) assert.include([200, 429, 503], status)
    })
  }
})
