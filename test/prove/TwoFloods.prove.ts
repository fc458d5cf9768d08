import { assert, describe, it } from "vitest"
import { locationPath } from "../support/Operations.ts"
import { report } from "../support/proofs/Figures.ts"
import { flood } from "../support/proofs/Floods.ts"
import { assertUnharmed, duringAttack, figures, keyWith } from "../support/proofs/Neighbours.ts"
import * as Running from "../support/proofs/Running.ts"

const connections = 60

describe("two keys that flood the service with the same work", () => {
  it("two keys that flood the service with updates get equal parts, and a third one is unharmed", async (ctx) => {
    await using running = await Running.start()
    const { sql, url } = running
    const uuids = await Running.locations(sql, 1000)
    const keys = [await keyWith(running, "update:locations"), await keyWith(running, "update:locations")]
    const updates = (key: string, offset: number) => {
      let number = 0
      return flood(url, connections, 10, (connection) => ({
        path: locationPath(uuids[offset + connection]!),
        key,
        init: { method: "PATCH", body: JSON.stringify({ name: `Update ${number++}` }) }
      }))
    }
    const { alone, during, result } = await duringAttack(running, () =>
      Promise.all(keys.map((key, index) => updates(key, index * connections)))
    )
    const [first, second] = result.map((statuses) => statuses.get(200) ?? 0)
    const part = first! / (first! + second!)
    await report(ctx, { ...figures(alone, during), "part of the first": part, updates: first! + second! })
    assertUnharmed(during, { read: 250, write: 250 })
    assert.isAtLeast(part, 0.4)
    assert.isAtMost(part, 0.6)
  })
})
