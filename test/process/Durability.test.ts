import { assert, describe, it } from "@effect/vitest"
import { afterAll } from "vitest"
import * as Process from "../support/Process.ts"
import { assertWhole, survive } from "../support/Kills.ts"

const { folder, remove } = Process.dataFolder()
afterAll(remove)

const kills = 3
const writers = 8

describe("kill -9 during writes", () => {
  it(
    "nothing that was acknowledged is lost, nothing is there twice, and totals stay exact",
    { timeout: 90_000 },
    async () => {
      const survived = await survive(folder, {
        kills,
        writers,
        // Killed while it is writing, not before.
        time: async (acknowledged) => {
          while (acknowledged() < 50) await new Promise((resolve) => setTimeout(resolve, 20))
        }
      })
      assertWhole(survived, { kills, writers })
      assert.isAtLeast(survived.acknowledged.length, kills * 50)
    }
  )
})
