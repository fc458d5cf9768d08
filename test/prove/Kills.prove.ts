import { assert, describe, it } from "vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { assertWhole, lostOf, survive } from "../support/Kills.ts"
import * as Process from "../support/Process.ts"
import { report } from "../support/proofs/Figures.ts"
import { brokenIn } from "../support/proofs/BrokenInvariants.ts"

const kills = 5
const writers = 16
/** Milliseconds from a start to the kill. */
const life = 800
const maxRestart = 3000

describe("kill -9 under load", () => {
  it("five kills with 16 writers lose no acknowledged write, and the service restarts within 3 s", async (ctx) => {
    const { folder, remove } = Process.dataFolder()
    const survived = await survive(folder, {
      kills,
      writers,
      time: () => sleep(life),
      inspect: async () => assert.deepStrictEqual(await brokenIn(ctx, folder), [])
    }).finally(remove)
    const { acknowledged, restarts, stored } = survived

    await report(ctx, {
      acknowledged: acknowledged.length,
      lost: lostOf(survived).length,
      "committed, not acknowledged": stored.length - acknowledged.length,
      "slowest restart ms": Math.max(...restarts)
    })
    assertWhole(survived, { kills, writers })
    // Each kill happened during writes.
    assert.isAtLeast(acknowledged.length, kills * writers)
    assert.isAtMost(Math.max(...restarts), maxRestart)
  })
})
