import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { createServer, type IncomingMessage, request } from "node:http"
import { connect } from "node:net"
import { afterAll } from "vitest"
import * as ApiKeySecret from "../../src/domain/ApiKeySecret.ts"
import * as Process from "../support/Process.ts"

const { folder, remove } = Process.dataFolder()
afterAll(remove)

const bootstrapKey = ApiKeySecret.format(new Uint8Array(16).fill(7), new Uint8Array(32).fill(9)).key

const headers = (key: string) => ({ authorization: key, "content-type": "application/json" })

describe("the process", () => {
  it("prints address, documentation and, on the first start only, the key; SIGTERM ends it with 0", async () => {
    const first = await Process.start({ DATA_DIR: folder })
    const key = Process.firstKey(first)
    assert.include(first.output(), `${first.url}/docs`)
    assert.strictEqual((await fetch(`${first.url}/v1/me`, { headers: headers(key) })).status, 200)
    first.process.kill("SIGTERM")
    assert.strictEqual(await first.exited, 0)

    const second = await Process.start({ DATA_DIR: folder })
    assert.notInclude(second.output(), "wp_")
    assert.strictEqual((await fetch(`${second.url}/v1/me`, { headers: headers(key) })).status, 200)
    second.process.kill("SIGINT")
    assert.strictEqual(await second.exited, 0)
  })

  it("answers what comes in while it starts, as soon as it is ready", async () => {
    const own = Process.dataFolder()
    const port = await Process.freePort()
    const early: Array<Promise<number>> = []
    const knock = setInterval(() => {
      // Before the port is open there is nobody to wait for.
      early.push(
        fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(20_000) }).then(
          ({ status }) => status,
          refused
        )
      )
    }, 50)
    const refused = (error: Error) => {
      if (error.name === "TimeoutError") throw error
      return 0
    }
    const service = await Process.start({ DATA_DIR: own.folder, BOOTSTRAP_API_KEY: bootstrapKey, PORT: String(port) })
    clearInterval(knock)
    const statuses = await Promise.all(early)
    assert.sameMembers([...new Set(statuses)], [0, 200])
    service.process.kill("SIGTERM")
    assert.strictEqual(await service.exited, 0)
    own.remove()
  })

  it("takes the first key from BOOTSTRAP_API_KEY and does not print it", async () => {
    const own = Process.dataFolder()
    const service = await Process.start({ DATA_DIR: own.folder, BOOTSTRAP_API_KEY: bootstrapKey })
    assert.notInclude(service.output(), bootstrapKey)
    assert.strictEqual((await fetch(`${service.url}/v1/me`, { headers: headers(bootstrapKey) })).status, 200)
    service.process.kill("SIGTERM")
    assert.strictEqual(await service.exited, 0)
    own.remove()
  })

  it("answers the request in flight before it stops, and does not wait for idle or silent connections", async () => {
    const own = Process.dataFolder()
    const service = await Process.start({ DATA_DIR: own.folder, BOOTSTRAP_API_KEY: bootstrapKey })
    const { hostname, port } = new URL(service.url)
    const silent = connect(Number(port), hostname)
    await fetch(`${service.url}/healthz`)

    // The server asks for the rest of the body, so its handler is running when the signal comes.
    const outgoing = request(`${service.url}/v1/locations`, {
      method: "POST",
      headers: { ...headers(bootstrapKey), expect: "100-continue", "transfer-encoding": "chunked" }
    })
    outgoing.flushHeaders()
    await once(outgoing, "continue")
    service.process.kill("SIGTERM")
    await new Promise((resolve) => setTimeout(resolve, 300))
    outgoing.end(JSON.stringify({ name: "In flight", identifier: "in-flight" }))
    const [response] = (await once(outgoing, "response")) as [IncomingMessage]
    assert.strictEqual(response.statusCode, 201)
    assert.strictEqual(response.headers.connection, "close")
    const answered = performance.now()
    assert.strictEqual(await service.exited, 0)
    assert.isBelow(performance.now() - answered, 10_000)
    silent.destroy()
    own.remove()
  })

  it("refuses wrong settings with the variable, the problem and a valid value, and ends with 1", async () => {
    const { code, output } = await Process.run({ DATA_DIR: folder, PORT: "70000", LOG_LEVEL: "loud" })
    assert.strictEqual(code, 1)
    assert.include(output, `PORT: "70000" is not a whole number from 0 to 65535. For example: PORT=3000`)
    assert.include(output, `LOG_LEVEL: "loud" is not one of`)
  })

  it("says so when the port is taken, and ends with 1", async () => {
    const other = createServer().listen(0, "127.0.0.1")
    await new Promise((resolve) => other.once("listening", resolve))
    const address = other.address()
    const port = typeof address === "object" && address !== null ? String(address.port) : ""
    const { code, output } = await Process.run({ DATA_DIR: folder, PORT: port })
    other.close()
    assert.strictEqual(code, 1)
    assert.include(output, port)
  })
})
