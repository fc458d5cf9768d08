import { assert, describe, it } from "vitest"
import { connect, createServer, type AddressInfo, type Socket } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { locationPath } from "../../scripts/bench/operations.ts"
import * as Process from "../support/Process.ts"
import { report } from "./figures.ts"
import * as Running from "./Running.ts"
import { answersIn, converse, head, tagOf } from "./Sockets.ts"

const gracefulShutdownTimeout = 20_000

/** A line to a database, on a port of its own, that can be made to swallow what is sent over it. */
const lineTo = async (socketPath: string) => {
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

describe("SIGTERM while everything hangs", () => {
  it("ends within the time for it, and requests that are stuck get a 503", { timeout: 90_000 }, async (ctx) => {
    await using other = await Running.start()
    const [uuid] = await Running.locations(other.sql, 1)
    const { path, username } = await Running.socketOf(other.folder)
    const line = await lineTo(path)
    const { folder, remove } = Process.dataFolder()
    const service = await Process.start({
      DATA_DIR: folder,
      DATABASE_URL: `postgres://${username}@127.0.0.1:${line.port}/postgres`
    })
    const call = Running.callTo(service.url)
    assert.strictEqual((await call("GET", locationPath(uuid!))).status, 200)
    const init = await call("POST", "/v1/uploads/init-multi-part", { fileName: "file.bin", fileSize: 1000 })
    const part = new URL(init.body.data.parts[0].url)

    line.swallow()
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
    line.close()
    remove()

    await report(ctx, { "exit after s": took / 1000, "exit code": code ?? "none", ...answers })
    assert.isAtMost(took, gracefulShutdownTimeout + 2000)
    assert.strictEqual(code, 0)
    for (const name of Object.keys(stuck)) assert.strictEqual(answers[name], "503 ServiceUnavailableError", name)
    assert.strictEqual(answers["connection"], "closed")
  })
})
