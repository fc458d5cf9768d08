import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { onTestFinished } from "vitest"
import * as Process from "../support/Process.ts"

/** Who has started a process. */
const parentOf = (pid: number) => Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1])

describe("The embedded PostgreSQL of two workers", () => {
  it("takes the connections of all of them, and is started again by its owner alone", { timeout: 90_000 }, async () => {
    const { folder, remove } = Process.dataFolder()
    const service = await Process.start({ DATA_DIR: folder, WORKERS: "2", DATABASE_POOL_SIZE: "120" })
    onTestFinished(() => void service.process.kill("SIGKILL"))
    const options = readFileSync(join(folder, "postgres/postmaster.opts"), "utf8")
    assert.isAtLeast(Number(/max_connections=(\d+)/.exec(options)?.[1]), 2 * 120 + 10)

    const killed = Process.postmasterOf(folder)
    const [orphan] = Process.childrenOf(killed, "checkpointer")
    // It holds the memory of the killed server, so that nobody can start another one yet.
    process.kill(orphan!, "SIGSTOP")
    process.kill(killed, "SIGKILL")
    const [worker] = Process.workersOf(service)
    process.kill(worker!, "SIGKILL")
    // By now the owner looks but seldom, and another worker has begun.
    await sleep(4000)
    process.kill(orphan!, "SIGKILL")
    const headers = { authorization: Process.firstKey(service), connection: "close" }
    const status = () =>
      fetch(`${service.url}/v1/locations`, { headers }).then(
        (response) => response.status,
        () => 0
      )
    await Process.until("it answers again", async () => (await status()) === 200, 40)
    assert.strictEqual(parentOf(parentOf(Process.postmasterOf(folder))), service.process.pid)
    assert.notStrictEqual(Process.postmasterOf(folder), killed)
    await Process.until("both workers answer", () => Process.workersOf(service).length === 2)
    service.process.kill("SIGTERM")
    assert.strictEqual(await service.exited, 0)
    remove()
  })
})
