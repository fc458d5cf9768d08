import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { closeSync, openSync, writeFileSync } from "node:fs"
import { createServer, type IncomingMessage, request } from "node:http"
import { connect } from "node:net"
import { join } from "node:path"
import { afterAll, beforeAll } from "vitest"
import * as Process from "../support/Process.ts"
import * as Service from "../support/Service.ts"

const { folder, remove } = Process.migratedFolder()
afterAll(remove)

/** Sends requests until `ending` has ended; returns their statuses, without those before the port was open. */
const knockUntil = async (port: number, ending: Promise<unknown>, interval = 50) => {
  const sent: Array<ReturnType<typeof statusOf>> = []
  const knock = setInterval(() => {
    sent.push(...[{}, { expect: "100-continue" }].map((headers) => statusOf(port, headers)))
  }, interval)
  await ending.finally(() => clearInterval(knock))
  return new Set(await Promise.all(sent).then((statuses) => statuses.filter((status) => status !== "ECONNREFUSED")))
}

const meOf = async (url: string, key: string) => (await Service.callTo(url, key)("GET", "/v1/me")).status

/** The status of a request, or the code of its error: ECONNREFUSED before the port is open. */
const statusOf = (port: number, headers: Readonly<Record<string, string>>) =>
  new Promise<number | string | undefined>((resolve) => {
    const signal = AbortSignal.timeout(240_000)
    const options = { host: "127.0.0.1", port, path: "/healthz", headers, agent: false, signal } as const
    const sent = request(options, (response) => resolve(response.resume().statusCode))
    sent.on("error", (error: NodeJS.ErrnoException) => resolve(error.code))
    sent.end()
  })

const others = ["1", "2"]

describe("a service process from its start to its stop", () => {
  let service: Service.Service
  let statuses: Awaited<ReturnType<typeof knockUntil>>
  let attached: ReadonlyArray<Service.Service> = []
  /** What the others answered while the first one ran. */
  let served: ReadonlyArray<number>
  beforeAll(async () => {
    const port = await Process.freePort()
    const starting = Service.start({ PORT: String(port) })
    statuses = await knockUntil(port, starting)
    service = await starting
    const starts = await Promise.allSettled(
      others.map((WORKERS) => Service.start({ WORKERS }, { folder: service.folder }))
    )
    // One that runs is stopped even if another one does not start.
    attached = starts.flatMap((start) => (start.status === "fulfilled" ? [start.value] : []))
    for (const start of starts) if (start.status === "rejected") throw start.reason
    served = await Promise.all(attached.map(({ key, url }) => meOf(url, key)))
  })
  afterAll(async () => {
    for (const one of [...attached, service]) await one[Symbol.asyncDispose]()
  })

  it("requests that arrive during the start, with Expect: 100-continue too, are served as soon as the service is ready", () => {
    assert.deepStrictEqual(statuses, new Set([200]))
  })

  it("the service takes the first key from BOOTSTRAP_API_KEY and does not print it", async () => {
    assert.notInclude(service.output(), service.key)
    assert.strictEqual(await meOf(service.url, service.key), 200)
  })

  it("a stop waits for requests in flight, but not for idle or silent connections", async () => {
    const { hostname, port } = new URL(service.url)
    const silent = connect(Number(port), hostname)
    await fetch(`${service.url}/healthz`)

    // The server requests the rest of the body, so its handler is running when the signal arrives.
    const outgoing = request(`${service.url}/v1/locations`, {
      method: "POST",
      headers: { ...Service.headers, expect: "100-continue", "transfer-encoding": "chunked" }
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
    // It would wait for others for 20 s. A busy machine needs long to stop the database.
    assert.isBelow(performance.now() - answered, 18_000)
    silent.destroy()
  })

  for (const [index, WORKERS] of others.entries()) {
    it(`a service on the database of another one says so, and exits with 1 when that one ends, WORKERS=${WORKERS}`, async () => {
      const other = attached[index]!
      const belongs = `The database of ${service.folder} belongs to process ${service.pid}`
      assert.include(other.output(), `${belongs}, and this service ends when that process does`)
      assert.strictEqual(served[index], 200)
      assert.strictEqual(await service.stop(), 0)
      assert.strictEqual(await other.exited, 1)
      assert.include(other.output(), `${belongs}, which has ended. Start again, or set DATABASE_URL.`)
    })
  }

  it("a service that starts after that one has ended has the database to itself", async () => {
    assert.deepStrictEqual(await Promise.all([service.stop(), ...attached.map(({ exited }) => exited)]), [0, 1, 1])
    await using next = await Service.start({}, { folder: service.folder })
    assert.notInclude(next.output(), "belongs to process")
    assert.strictEqual(await next.stop(), 0)
  })
})

describe("service process", () => {
  it("the service prints its URLs and, on the first start only, the key, and exits with 0 on SIGTERM", async () => {
    await using first = await Process.start({ DATA_DIR: folder })
    const key = Process.firstKey(first)
    assert.include(first.output(), `${first.url}/docs`)
    assert.strictEqual(await meOf(first.url, key), 200)
    assert.strictEqual(await first.stop(), 0)

    await using second = await Process.start({ DATA_DIR: folder })
    assert.notInclude(second.output(), "wp_")
    assert.strictEqual(await meOf(second.url, key), 200)
    second.process.kill("SIGINT")
    assert.strictEqual(await second.exited, 0)
  })

  it("requests that arrive during a start that fails are answered with 503, and do not hold up its message", async () => {
    const port = await Process.freePort()
    const own = Process.migratedFolder()
    // The storage cannot use it, which comes out when the port is open.
    writeFileSync(join(own.folder, "files"), "")
    const attempt = async () => {
      const running = Process.run({ DATA_DIR: own.folder, PORT: String(port) })
      const statuses = await knockUntil(port, running, 20)
      // At its end the kernel has accepted connections that the process never sees.
      statuses.delete("ECONNRESET")
      const { code, output } = await running
      assert.strictEqual(code, 1)
      assert.include(output, "Cannot use the storage")
      return statuses
    }
    // On a busy machine the port may be open for less time than passes between two requests.
    const statuses = await Process.until("requests arrive during a start", async () => {
      const statuses = await attempt()
      return statuses.size > 0 && statuses
    })
    assert.deepStrictEqual(statuses, new Set([503]))
    own.remove()
  })

  it("a stop during the start does not wait for requests that arrived", async () => {
    const port = await Process.freePort()
    const own = Process.migratedFolder()
    const output = openSync("/dev/null", "w")
    const child = Process.spawnWith({ DATA_DIR: own.folder, PORT: String(port) }, output)
    const exited = once(child, "exit")
    const isOpen = () =>
      new Promise<boolean>((resolve) => {
        const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false))
        socket.unref()
      })
    while (!(await isOpen())) await new Promise((resolve) => setTimeout(resolve, 2))
    const answered = statusOf(port, {})
    child.kill("SIGTERM")
    assert.deepStrictEqual(await exited, [0, null])
    assert.include(["ECONNREFUSED", "ECONNRESET", 200, 503], await answered)
    closeSync(output)
    own.remove()
  })

  it("invalid settings are reported with the variable, the problem and a valid value, and the exit code is 1", async () => {
    const { code, output } = await Process.run({ DATA_DIR: folder, PORT: "70000", LOG_LEVEL: "loud" })
    assert.strictEqual(code, 1)
    assert.include(output, `PORT: "70000" is not a whole number from 0 to 65535. For example: PORT=3000`)
    assert.include(output, `LOG_LEVEL: "loud" is not one of`)
  })

  it("a port in use is reported, and the exit code is 1", async () => {
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
