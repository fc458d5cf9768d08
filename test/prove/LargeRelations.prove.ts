import { assert, describe, it } from "vitest"
import { report } from "../support/proofs/Figures.ts"
import { flood } from "../support/proofs/Floods.ts"
import { assertUnharmed, duringAttack, figures, keyWith } from "../support/proofs/Neighbours.ts"
import * as Running from "../support/proofs/Running.ts"

const members = 10_000
const connections = 12

describe("large relation writes of one key", () => {
  for (const [title, settings] of [
    ["leave other keys their reads and writes", {}],
    ["leave other keys their reads and writes with a rate limit", { RATE_LIMIT_PER_SECOND: "1000" }]
  ] as const) {
    it(`12 connections that replace 10,000 locations of users ${title}`, async (ctx) => {
      await using running = await Running.start(settings)
      const { sql, url } = running
      const uuids = await Running.locations(sql, 2 * members)
      const users = await Promise.all(
        Array.from({ length: connections }, (_, index) =>
          running.create("/v1/users", { username: `user${index}`, email: `user${index}@example.com` })
        )
      )
      const sets = [uuids.slice(0, members), uuids.slice(members)].map((locations) => JSON.stringify({ locations }))
      const key = await keyWith(running, "update:users", "update:locations")
      let turn = 0
      const { alone, during, result } = await duringAttack(running, () =>
        flood(url, connections, 15, (connection) => ({
          path: `/v1/users/${users[connection]}/locations`,
          key,
          init: { method: "PUT", body: sets[turn++ % 2]! }
        }))
      )
      await report(ctx, { ...figures(alone, during), attacker: [...result].join(" ") })
      assertUnharmed(during, { read: 150, write: 400 })
      assert.isTrue(result.has(200))
    })
  }
})
