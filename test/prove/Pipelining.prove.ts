import { assert, describe, it } from "vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { locationPath } from "../support/Operations.ts"
import { report } from "../support/proofs/Figures.ts"
import * as Running from "../support/proofs/Running.ts"
import { answersIn, converse, head } from "../support/proofs/Sockets.ts"

const limit = 64
const requests = 3000

describe("pipelined requests", () => {
  it("of 3,000 pipelined requests at most the in-flight limit runs at once, and the others get a 503", async (ctx) => {
    await using running = await Running.start({
      MAX_IN_FLIGHT: String(limit),
      DATABASE_POOL_SIZE: String(limit + 20),
      // The limit of the process is what is proved, not the share of a key.
      KEY_SHARE: "1"
    })
    const { call, sql, url } = running
    const [uuid] = await Running.locations(sql, 1)
    await Running.slowChanges(sql, 1.5)
    const body = JSON.stringify({ name: "Changed" })
    const lines = ["Content-Type: application/json", `Content-Length: ${body.length}`]
    const one = head("PATCH", locationPath(uuid!), Running.key, ...lines) + body

    const working: Array<number> = []
    const watch = setInterval(() => {
      void sql`select count(*)::int as sleeping from pg_stat_activity where wait_event = 'PgSleep'`.then(([row]) =>
        working.push(Number(row!["sleeping"]))
      )
    }, 20)
    const { text } = await converse(url, async (socket, heard) => {
      socket.write(one.repeat(requests))
      while (!socket.destroyed && answersIn(heard()).length < requests) await sleep(100)
      socket.destroy()
    })
    clearInterval(watch)
    const maxWorking = Math.max(...working)
    const statuses = Map.groupBy(answersIn(text), ({ status }) => status)
    const count = (status: number) => statuses.get(status)?.length ?? 0

    await report(ctx, { "200": count(200), "503": count(503), "max in flight": maxWorking })
    assert.sameMembers([...statuses.keys()], [200, 503])
    assert.strictEqual(count(200) + count(503), requests)
    assert.isAtLeast(count(200), limit)
    assert.isAtMost(maxWorking, limit)
    assert.isAtLeast(maxWorking, limit / 2)
    assert.strictEqual((await call("GET", locationPath(uuid!))).status, 200)
  })
})
