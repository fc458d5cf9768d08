import { assert, describe, it } from "vitest"
import { locationPath } from "../support/Operations.ts"
import { memoryOf } from "../support/Services.ts"
import { report } from "../support/proofs/Figures.ts"
import { fire, withMemory } from "../support/proofs/Load.ts"
import * as Running from "../support/proofs/Running.ts"

const connections = 200
const amount = 10_000

describe("10,000 requests", () => {
  it("10,000 requests over 200 connections all succeed in time, and a second run needs no more memory", async (ctx) => {
    await using running = await Running.start()
    const { pid, sql, url } = running
    const uuids = await Running.locations(sql, amount / 10)
    const share = uuids.length / connections
    const read = () =>
      fire({
        url,
        connections,
        headers: Running.headers,
        until: { requests: amount },
        requests: (connection) =>
          uuids.slice(connection * share, (connection + 1) * share).map((uuid) => ({ path: locationPath(uuid) }))
      })
    const first = await read()
    const afterFirst = memoryOf(pid)
    const { peak, result: second } = await withMemory(pid, read)

    await report(ctx, {
      "200": (first.statuses.get(200) ?? 0) + (second.statuses.get(200) ?? 0),
      "p99 ms": first.p99,
      "p99 again ms": second.p99,
      "RSS MB": peak,
      "growth MB": peak - afterFirst
    })
    for (const { broken, p99, statuses } of [first, second]) {
      assert.deepStrictEqual([...statuses], [[200, amount]])
      assert.strictEqual(broken, 0)
      assert.isBelow(p99, 500)
    }
    assert.isBelow(peak - afterFirst, 30)
  })
})
