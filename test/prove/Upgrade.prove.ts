import { assert, describe, it } from "@effect/vitest"
import { setTimeout as sleep } from "node:timers/promises"
import { migrationTables } from "../../src/sql/Migrations.ts"
import { install } from "../support/Nodes.ts"
import * as Process from "../support/Process.ts"
import * as Balancer from "../support/proofs/Balancer.ts"
import { brokenOf } from "../support/proofs/BrokenInvariants.ts"
import { report } from "../support/proofs/Figures.ts"
import * as RestartLoad from "../support/proofs/RestartLoad.ts"
import * as Versions from "../support/proofs/Versions.ts"
import { callTo, key } from "../support/Service.ts"

/** Seconds for which both versions answer. */
const together = 10

describe("an upgrade", () => {
  it(
    "replaces two nodes of the latest release, one after the other, while every table changes, and fails no request",
    { timeout: 600_000 },
    async (context) => {
      using before = Versions.released()
      using next = Versions.next()
      await using installation = await install(Process.dataFolder())
      await using stack = new AsyncDisposableStack()
      const ports = [await Process.freePort(), await Process.freePort()]
      const start = async ({ main }: Versions.Version, port: number) => {
        const settings = {
          DATA_DIR: installation.folder,
          BOOTSTRAP_API_KEY: key,
          PORT: String(port),
          DRAIN_SECONDS: "1"
        }
        return stack.use(await Process.start(settings, [], { main }))
      }
      const nodes: Array<Process.Service> = []
      for (const port of ports) nodes.push(await start(before, port))
      const migrations = async () => {
        const rows = await installation.sql`select migration_id from ${installation.sql(migrationTables.waypost)}`
        return rows.length
      }
      const first = await migrations()

      await using balancer = await Balancer.start(ports)
      const ready = async (port: number) => {
        while (!balancer.isReady(port)) await sleep(20)
      }
      await Promise.all(ports.map(ready))
      const call = callTo(balancer.url)
      const operations = Array.from({ length: 1000 }, (_, number) => ({
        op: "create",
        data: { name: "Before", identifier: `before-${number}` }
      }))
      const { status } = await call("POST", "/v1/locations/bulk", { operations })
      assert.strictEqual(status, 200)

      const load = RestartLoad.start(balancer.url)
      await sleep(2000)
      const codes: Array<number | null> = []
      for (const [index, port] of ports.entries()) {
        codes.push(await nodes[index]!.stop())
        nodes[index] = await start(next, port)
        await ready(port)
        await sleep((index === 0 ? together : 2) * 1000)
      }
      const { failures, lost, requests } = await load.stop()
      const applied = (await migrations()) - first
      const { body } = await call("GET", "/v1/locations?filter=name:contains:Before&limit=1")
      await report(context, {
        from: before.commit,
        migrations: applied,
        "start that migrates, ms": nodes[0]!.startMillis,
        requests,
        failed: failures.length,
        lost: lost.length
      })
      assert.deepStrictEqual(await brokenOf(context, (statement) => installation.sql.unsafe(statement)), [])
      assert.deepStrictEqual(failures, [])
      assert.deepStrictEqual(lost, [])
      assert.deepStrictEqual(codes, [0, 0])
      assert.strictEqual(body.pagination.total, 1000)
      assert.isAtLeast(applied, 1)
      assert.isAbove(requests, 1000)
    }
  )
})
