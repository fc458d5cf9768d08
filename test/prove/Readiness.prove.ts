import { assert, describe, it } from "vitest"
import { setTimeout as sleep } from "node:timers/promises"
import * as Database from "../support/proofs/Database.ts"
import { report } from "../support/proofs/Figures.ts"
import { type Service, start } from "../support/Service.ts"

/** Asks until the service answers with this status; returns the milliseconds until that answer arrived. */
const untilReadyz = async ({ url }: Service, status: number) => {
  const began = performance.now()
  for (;;) {
    const response = await fetch(`${url}/readyz`)
    await response.arrayBuffer()
    const millis = performance.now() - began
    if (response.status === status) return millis
    assert.isBelow(millis, 30_000, `readiness ${response.status}, expected ${status}`)
    await sleep(20)
  }
}

describe("readiness", () => {
  for (const [title, end, restore] of [
    ["was stopped", (database) => database.stop("SIGINT"), (database) => database.start()],
    [
      "does not answer",
      async (database) => {
        const pids = (await database.backends()).map(({ pid }) => pid)
        const frozen = [database.postmaster(), ...pids]
        for (const pid of frozen) process.kill(pid, "SIGSTOP")
        return () => frozen.forEach((pid) => process.kill(pid, "SIGCONT"))
      },
      (_database, thaw) => thaw?.()
    ]
  ] satisfies ReadonlyArray<
    [
      title: string,
      end: (database: Database.Database) => Promise<(() => void) | void>,
      restore: (database: Database.Database, thaw: (() => void) | void) => unknown
    ]
  >) {
    it(`readiness is 503 within 3 s when the database ${title}, and 200 again afterwards`, async (ctx) => {
      const database = await Database.make()
      try {
        await using service = await start({ DATABASE_URL: database.url })
        await untilReadyz(service, 200)
        const thaw = await end(database)
        const unready = await untilReadyz(service, 503)
        await restore(database, thaw)
        const ready = await untilReadyz(service, 200)
        await report(ctx, { "503 after ms": unready, "200 again after ms": ready })
        assert.isAtMost(unready, 3000)
        assert.isAtMost(ready, 10_000)
      } finally {
        await database.remove()
      }
    })
  }
})
