import { assert, describe, it } from "vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { locationPath } from "../support/Operations.ts"
import { fire, withMemory } from "../support/proofs/Load.ts"
import { report } from "../support/proofs/Figures.ts"
import * as Running from "../support/proofs/Running.ts"

const limit = 64
const connections = 500
/** Responses arrive in rounds as large as the limit; the fifth round ends before the load does. */
const seconds = 8.3
/** Seconds that a slow update takes in the database. */
const slow = 1.5

/** One key may use the whole limit, because the limit of the process is what is proved. */
const settings = { MAX_IN_FLIGHT: String(limit), DATABASE_POOL_SIZE: String(limit + 3), KEY_SHARE: "1" }

describe("overload", () => {
  it("requests above the in-flight limit get a 503, others succeed, and latency recovers after the load", async (ctx) => {
    await using running = await Running.start(settings)
    const { pid, sql, url } = running
    const uuids = await Running.locations(sql, connections)
    const normal = (seconds: number) =>
      fire({
        url,
        connections: 10,
        headers: Running.headers,
        until: { seconds },
        requests: (connection) => [{ path: locationPath(uuids[connection]!) }]
      })
    await normal(1)
    const before = await normal(2)

    const change = (connection: number) => [
      { method: "PATCH", path: locationPath(uuids[connection]!), body: JSON.stringify({ name: "Changed" }) }
    ]
    // The service opens its database connections on first use, so open them before the measurement.
    await Running.slowChanges(sql, 0.2)
    await fire({ url, connections: limit, headers: Running.headers, until: { requests: 2 * limit }, requests: change })
    await Running.slowChanges(sql, slow)
    const { peak, result: overload } = await withMemory(pid, () =>
      fire({
        url,
        connections,
        headers: Running.headers,
        until: { seconds },
        requests: change
      })
    )
    await sleep(2000)
    const after = await normal(2)

    const answered = overload.statuses.get(200) ?? 0
    await report(ctx, {
      "200": answered,
      "until s": overload.lastSuccess,
      "503": overload.statuses.get(503) ?? 0,
      broken: overload.broken,
      "p99 before ms": before.p99,
      "p99 after ms": after.p99,
      "RSS MB": peak
    })
    assert.sameMembers([...overload.statuses.keys()], [200, 503])
    assert.strictEqual(overload.broken, 0)
    assert.strictEqual(overload.withoutRetryAfter, 0)
    assert.deepStrictEqual(
      [...new Set([...overload.errorBodies].map((text) => JSON.parse(text)._tag))],
      ["ServiceUnavailableError"]
    )
    assert.isAtLeast(answered, (0.9 * limit * seconds) / slow)
    assert.deepStrictEqual([...after.statuses.keys()], [200])
    assert.isAtMost(after.p99, Math.max(2 * before.p99, before.p99 + 10))
    assert.isAtMost(peak, 350)
  })
})
