import { assert, describe, it } from "vitest"
import { connect, createServer, type AddressInfo, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { locationPath } from "../support/Operations.ts"
import * as Process from "../support/Process.ts"
import { report } from "../support/proofs/Figures.ts"
import * as Running from "../support/proofs/Running.ts"
import { answersIn, converse, head, tagOf } from "../support/proofs/Sockets.ts"

const gracefulShutdownTimeout = 20_000
/** Tolerance for a loaded machine, in milliseconds. */
const slack = 2000

/** A TCP proxy in front of a database that can be made to swallow all traffic. */
const proxyTo = async (socketPath: string) => {
  const open = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(socketPath)
    for (const socket of [near, far]) {
      open.add(socket)
      socket.on("error", () => socket.destroy()).on("close", () => open.delete(socket))
    }
    near.pipe(far).pipe(near)
  })
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  return {
    port: (server.address() as AddressInfo).port,
    swallow: () => {
      for (const socket of open) socket.unpipe().pause()
      server.removeAllListeners("connection")
    },
    close: () => {
      server.close()
      for (const socket of open) socket.destroy()
    }
  }
}

describe.concurrent("SIGTERM with an unresponsive database", () => {
  it(
    "the process exits within the shutdown timeout, and stuck requests get a 503",
    { timeout: 90_000 },
    async (ctx) => {
      await using other = await Running.start()
      const [uuid] = await Running.locations(other.sql, 1)
      const { path, username } = await Running.socketOf(other.folder)
      const proxy = await proxyTo(path)
      const { folder, remove } = Process.dataFolder()
      const service = await Process.start({
        DATA_DIR: folder,
        DATABASE_URL: `postgres://${username}@127.0.0.1:${proxy.port}/postgres`
      })
      const call = Running.callTo(service.url)
      assert.strictEqual((await call("GET", locationPath(uuid!))).status, 200)
      const init = await call("POST", "/v1/uploads/init-multi-part", { fileName: "file.bin", fileSize: 1000 })
      const part = new URL(init.body.data.parts[0].url)

      proxy.swallow()
      const body = JSON.stringify({ name: "Changed" })
      const json = "Content-Type: application/json"
      const hold = (bytes: string) => converse(service.url, async (socket) => void socket.write(bytes))
      const stuck = {
        read: hold(head("GET", locationPath(uuid!), Running.key)),
        list: hold(head("GET", "/v1/locations", Running.key)),
        write: hold(head("PATCH", locationPath(uuid!), Running.key, json, `Content-Length: ${body.length}`) + body)
      }
      const silent = {
        connection: hold(""),
        headers: hold("GET /v1/locations HTTP/1.1\r\nHost: "),
        body: hold(`${head("POST", "/v1/locations", Running.key, json, "Content-Length: 100")}{`),
        part: hold(`${head("PUT", `${part.pathname}${part.search}`, "", "Content-Length: 1000")}a`)
      }
      await sleep(300)
      const signalled = performance.now()
      service.process.kill("SIGTERM")
      const code = await Promise.race([service.exited, sleep(40_000, "never" as const)])
      const took = performance.now() - signalled
      if (code === "never") service.process.kill("SIGKILL")
      const answers = Object.fromEntries(
        await Promise.all(
          Object.entries({ ...stuck, ...silent }).map(async ([name, heard]) => {
            const [answer] = answersIn((await heard).text)
            return [name, answer === undefined ? "closed" : `${answer.status} ${tagOf(answer)}`] as const
          })
        )
      )
      proxy.close()
      remove()

      await report(ctx, { "exit after s": took / 1000, "exit code": code ?? "none", ...answers })
      assert.isAtMost(took, gracefulShutdownTimeout + 2000)
      assert.strictEqual(code, 0)
      for (const name of Object.keys(stuck)) assert.strictEqual(answers[name], "503 ServiceUnavailableError", name)
      assert.strictEqual(answers["connection"], "closed")
    }
  )
})

/** Sends SIGTERM; returns the exit code and the time taken, after `limit` milliseconds at most. */
const stopOf = async (service: Process.Service, limit: number) => {
  const signalled = performance.now()
  service.process.kill("SIGTERM")
  const code = await Promise.race([service.exited, sleep(limit + slack, "never" as const)])
  return { code, took: performance.now() - signalled }
}

/** Kills the service and frozen processes, and removes the folder. */
const release = async ({ folder, remove }: ReturnType<typeof Process.dataFolder>, service: Process.Service) => {
  service.process.kill("SIGKILL")
  await service.exited
  try {
    process.kill(Process.postmasterOf(folder), "SIGKILL")
  } catch {
    // It has already exited.
  }
  await sleep(1000)
  remove()
}

describe.concurrent("SIGTERM with frozen processes", () => {
  it("the process exits with 1 after 22 seconds when PostgreSQL is frozen", { timeout: 60_000 }, async (ctx) => {
    const data = Process.dataFolder()
    const service = await Process.start({ DATA_DIR: data.folder })
    process.kill(Process.postmasterOf(data.folder), "SIGSTOP")
    const { code, took } = await stopOf(service, 22_000)
    await release(data, service)
    await report(ctx, { "exit after s": took / 1000, "exit code": code ?? "none" })
    assert.strictEqual(code, 1)
    assert.isAtMost(took, 22_000 + slack)
    assert.include(service.output(), "Shutdown timed out after 22 seconds")
  })

  it(
    "the process exits with 1 after DRAIN_SECONDS and 30 seconds when a worker is also frozen",
    { timeout: 60_000 },
    async (ctx) => {
      const data = Process.dataFolder()
      const service = await Process.start({ DATA_DIR: data.folder, WORKERS: "2", DRAIN_SECONDS: "1" })
      process.kill(Process.workersOf(service)[0]!, "SIGSTOP")
      process.kill(Process.postmasterOf(data.folder), "SIGSTOP")
      const { code, took } = await stopOf(service, 31_000)
      await release(data, service)
      await report(ctx, { "exit after s": took / 1000, "exit code": code ?? "none" })
      assert.strictEqual(code, 1)
      assert.isAtMost(took, 31_000 + slack)
      assert.include(service.output(), "Shutdown timed out after 31 seconds")
    }
  )
})

describe.concurrent("SIGTERM with WORKERS and DRAIN_SECONDS", () => {
  it("the process waits for a slow request that arrived late in the drain period", { timeout: 60_000 }, async (ctx) => {
    const data = Process.dataFolder()
    const settings = { WORKERS: "2", DRAIN_SECONDS: "14", BOOTSTRAP_API_KEY: Running.key }
    const service = await Process.start({ DATA_DIR: data.folder, ...settings })
    const stopped = stopOf(service, 36_000)
    await sleep(13_000)
    const body = JSON.stringify({ name: "Late", identifier: "late" })
    const json = "Content-Type: application/json"
    const heard = await converse(service.url, async (socket) => {
      socket.write(head("POST", "/v1/locations", Running.key, json, `Content-Length: ${body.length}`))
      // 26.5 seconds after the signal, and within the body timeout.
      await sleep(13_500)
      socket.write(body)
    })
    const { code, took } = await stopped
    await release(data, service)
    const [answer] = answersIn(heard.text)
    await report(ctx, { "exit after s": took / 1000, "exit code": code ?? "none", status: answer?.status ?? "none" })
    assert.strictEqual(answer?.status, 201)
    assert.strictEqual(code, 0)
  })
})
