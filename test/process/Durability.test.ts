import { assert, describe, it } from "@effect/vitest"
import { afterAll } from "vitest"
import * as Process from "../support/Process.ts"
import { assertWhole, survive } from "../support/Kills.ts"

const { folder, remove } = Process.migratedFolder()
afterAll(remove)

const kills = 3
const writers = 8

describe("kill -9 during writes", () => {
  it("kill -9 during writes loses no acknowledged write, duplicates none, and keeps totals exact", async () => {
    const survived = await survive(folder, {
      kills,
      writers,
      // Kill it during writes, not before.
      time: async (acknowledged) => {
        while (acknowledged() < 50) await new Promise((resolve) => setTimeout(resolve, 20))
      }
    })
    assertWhole(survived, { kills, writers })
    assert.isAtLeast(survived.acknowledged.length, kills * 50)
  })
})
