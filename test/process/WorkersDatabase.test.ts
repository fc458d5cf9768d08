import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { onTestFinished } from "vitest"
import * as Process from "../support/Process.ts"

/** The pid of the parent of a process. */
const parentOf = (pid: number) => Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1])

describe("embedded PostgreSQL of two workers", () => {
  it("the embedded PostgreSQL accepts the connections of all workers, and only its owner restarts it", async () => {
    const { folder, remove } = Process.migratedFolder()
    const service = await Process.start({ DATA_DIR: folder, WORKERS: "2", DATABASE_POOL_SIZE: "120" })
    onTestFinished(() => void service.process.kill("SIGKILL"))
    const options = readFileSync(join(folder, "postgres/postmaster.opts"), "utf8")
    assert.isAtLeast(Number(/max_connections=(\d+)/.exec(options)?.[1]), 2 * 120 + 10)

    const killed = Process.postmasterOf(folder)
    const [orphan] = Process.childrenOf(killed, "checkpointer")
    // It holds the shared memory of the killed server, so that no other server can start yet.
    process.kill(orphan!, "SIGSTOP")
    process.kill(killed, "SIGKILL")
    const [worker] = Process.workersOf(service)
    process.kill(worker!, "SIGKILL")
    // By now the owner polls with long pauses, and another worker has started.
    await sleep(4000)
    process.kill(orphan!, "SIGKILL")
    const headers = { authorization: Process.firstKey(service), connection: "close" }
    const status = () =>
      // A request that a worker never answers must not hold up the ones after it.
      fetch(`${service.url}/v1/locations`, { headers, signal: AbortSignal.timeout(5000) }).then(
        (response) => response.status,
        () => 0
      )
    await Process.until("requests succeed again", async () => (await status()) === 200, 40)
    assert.strictEqual(parentOf(parentOf(Process.postmasterOf(folder))), service.process.pid)
    assert.notStrictEqual(Process.postmasterOf(folder), killed)
    await Process.until("both workers answer", () => Process.workersOf(service).length === 2)
    service.process.kill("SIGTERM")
    assert.strictEqual(await service.exited, 0)
    remove()
  })
})
