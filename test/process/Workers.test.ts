import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { Agent, get, type IncomingMessage, request } from "node:http"
import { createServer } from "node:net"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import postgres from "postgres"
import { afterAll, beforeAll, onTestFinished } from "vitest"
import * as ApiKeySecret from "../../src/domain/keys/ApiKeySecret.ts"
import { socketOf } from "../support/proofs/Running.ts"
import { mebibyte, type Session } from "../support/requests/UploadRequests.ts"
import * as Process from "../support/Process.ts"

const { folder, remove } = Process.migratedFolder()
const key = ApiKeySecret.format(new Uint8Array(16).fill(1), new Uint8Array(32).fill(2)).key
const headers = { authorization: key, "content-type": "application/json" }
/** Uses a new connection for each request, so that both workers get some. */
const alone = { ...headers, connection: "close" }
const settings = { DATA_DIR: folder, BOOTSTRAP_API_KEY: key }
afterAll(remove)

/** The pid of the parent of a process. */
const parentOf = (pid: number) => Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1])

/** The pid of the process that serves a request on a new connection; 0 if none does. */
const answering = (url: string) =>
  new Promise<number>((resolve) => {
    const outgoing = get(`${url}/metrics`, { agent: new Agent() }, (response: IncomingMessage) => {
      let text = ""
      response.on("data", (chunk) => (text += String(chunk)))
      response.on("end", () => resolve(Number(/process_info\{pid="(\d+)"\}/.exec(text)?.[1] ?? 0)))
    })
    outgoing.on("error", () => resolve(0))
  })

const everyAnswering = async (url: string) =>
  [...new Set(await Promise.all(Array.from({ length: 16 }, () => answering(url))))].toSorted((a, b) => a - b)

/** Waits until two workers run and both serve requests; returns their pids. */
const bothAnswer = (service: Process.Service) =>
  Process.until("both workers answer", async () => {
    const workers = Process.workersOf(service).toSorted((a, b) => a - b)
    if (workers.length < 2) return false
    // A worker that has just begun takes no connection for a while; to ask it costs more than to wait.
    await sleep(100)
    return (await everyAnswering(service.url)).join() === workers.join() && workers
  })

/** How many requests fill the pipe of the log. */
const refused = 200

describe("two workers", () => {
  let service: Process.Service
  /** The lines of the log from the time when its pipe was filled. */
  let lines: Promise<ReadonlyArray<string>>
  beforeAll(async () => {
    service = await Process.start({ ...settings, WORKERS: "2", LOG_LEVEL: "debug" })
  })
  afterAll(() => service.process.kill("SIGKILL"))

  it("two workers share the port, and both serve requests", async () => {
    assert.lengthOf(await bothAnswer(service), 2)
    assert.lengthOf(Process.workersOf(service), 2)
  })

  it("an upload whose parts and completions reach both workers creates one file", async () => {
    const call = async (method: string, path: string, body: unknown) => {
      const response = await fetch(`${service.url}${path}`, { method, headers: alone, body: JSON.stringify(body) })
      return { status: response.status, body: (await response.json()) as { readonly data: Record<string, unknown> } }
    }
    // One byte more than a part has.
    const bytes = Buffer.alloc(8 * mebibyte + 1, "abcdefghijk")
    const begun = await call("POST", "/v1/uploads/init-multi-part", { fileName: "a.bin", fileSize: bytes.length })
    const session = begun.body.data as unknown as Session
    const parts = await Promise.all(
      session.parts.map(async ({ partNumber, url }, index) => {
        const start = index * session.partSize
        const body = bytes.subarray(start, index === session.parts.length - 1 ? bytes.length : start + session.partSize)
        const sent = await fetch(url, { method: "PUT", headers: { connection: "close" }, body })
        return { partNumber, eTag: sent.headers.get("etag") }
      })
    )
    const completions = await Promise.all(
      Array.from({ length: 20 }, () => call("PUT", "/v1/uploads/complete-multi-part", { uuid: session.uuid, parts }))
    )
    assert.deepStrictEqual([...new Set(completions.map(({ status }) => status))], [200])
    assert.strictEqual(new Set(completions.map(({ body }) => JSON.stringify(body.data["uuid"]))).size, 1)
  })

  it("a killed worker is replaced, and the other one keeps serving", async () => {
    const [killed, other] = Process.workersOf(service)
    process.kill(killed!, "SIGKILL")
    await Process.until("the worker has exited", () => !Process.isRunning(killed!))
    // Another worker may already be there.
    const answered = await everyAnswering(service.url)
    assert.include(answered, other)
    assert.notInclude(answered, killed)
    assert.notInclude(answered, 0)
    await bothAnswer(service)
    assert.include(service.output(), "starting another one")
  })

  it("a killed worker is replaced while a backup copies rows", async () => {
    const sql = postgres({ ...(await socketOf(folder)), max: 1 })
    onTestFinished(() => sql.end({ timeout: 1 }))
    await sql.begin(async (sql) => {
      await sql`lock table waypost_migrations, jobs_migrations in access share mode`
      const [killed] = Process.workersOf(service)
      process.kill(killed!, "SIGKILL")
      await Process.until("the worker has exited", () => !Process.isRunning(killed!))
      assert.notInclude(await bothAnswer(service), killed)
    })
  })

  it("workers finish their requests on SIGTERM and leave no process running", async () => {
    const workers = Process.workersOf(service)
    const output = service.process.stdout!
    const start = service.output().length
    lines = once(output, "close").then(() => service.output().slice(start).trim().split("\n"))
    output.pause()
    for (let sent = 0; sent < refused; sent += 20) {
      const some = Array.from({ length: 20 }, () => fetch(`${service.url}/${"x".repeat(2000)}`, { headers: alone }))
      await Promise.all(some)
    }
    const begun = await Promise.all(
      Array.from({ length: 16 }, async (_, index) => {
        const outgoing = request(`${service.url}/v1/locations`, {
          method: "POST",
          agent: new Agent(),
          headers: { ...headers, expect: "100-continue", "transfer-encoding": "chunked" }
        })
        outgoing.flushHeaders()
        await once(outgoing, "continue")
        return { outgoing, body: JSON.stringify({ name: "In flight", identifier: `in-flight-${index}` }) }
      })
    )
    service.process.kill("SIGTERM")
    await sleep(300)
    const statuses = await Promise.all(
      begun.map(async ({ body, outgoing }) => {
        outgoing.end(body)
        const [response] = (await once(outgoing, "response")) as [IncomingMessage]
        return response.statusCode
      })
    )
    // The log is read once nothing but its lines keeps the service.
    await Process.until("the workers have ended", () => !workers.some(Process.isRunning))
    output.resume()
    assert.deepStrictEqual([...new Set(statuses)], [201])
    assert.strictEqual(await service.exited, 0)
    assert.deepStrictEqual(workers.filter(Process.isRunning), [])
  })

  it("lines of the log of two workers are whole when their pipe is full, and none is lost at a stop", async () => {
    const messages = (await lines).map((line) => (JSON.parse(line) as { readonly message: string }).message)
    assert.lengthOf(
      messages.filter((message) => message.startsWith("GET /xxx")),
      refused
    )
  })
})

describe("two workers with an embedded PostgreSQL", () => {
  const limit = 20
  let service: Process.Service
  beforeAll(async () => {
    service = await Process.start({
      ...settings,
      WORKERS: "2",
      DATABASE_POOL_SIZE: "120",
      DRAIN_SECONDS: "6",
      RATE_LIMIT_PER_SECOND: String(limit)
    })
  })
  afterAll(() => service.process.kill("SIGKILL"))

  it("workers share the rate limit of a key", async () => {
    const status = async () => (await fetch(`${service.url}/v1/me`, { headers: alone })).status
    await bothAnswer(service)
    const began = performance.now()
    const statuses: Array<number> = []
    for (let round = 0; round < 15; round++, await sleep(200)) {
      statuses.push(...(await Promise.all(Array.from({ length: 12 }, status))))
    }
    const max = limit * (1 + (performance.now() - began) / 1000)
    const count = (code: number) => statuses.filter((each) => each === code).length
    assert.isAtMost(count(200), max)
    assert.isAtLeast(count(200), limit * 2)
    assert.strictEqual(count(200) + count(429), statuses.length)
  })

  it("the embedded PostgreSQL accepts the connections of all workers, and only its owner restarts it", async () => {
    const options = readFileSync(join(folder, "postgres/postmaster.opts"), "utf8")
    assert.isAtLeast(Number(/max_connections=(\d+)/.exec(options)?.[1]), 2 * 120 + 10)

    const killed = Process.postmasterOf(folder)
    const [orphan] = Process.childrenOf(killed, "checkpointer")
    // It holds the shared memory of the killed server, so that no other server can start yet.
    process.kill(orphan!, "SIGSTOP")
    onTestFinished(() => void (Process.isRunning(orphan!) && process.kill(orphan!, "SIGKILL")))
    process.kill(killed, "SIGKILL")
    const [worker] = Process.workersOf(service)
    process.kill(worker!, "SIGKILL")
    // By now the owner polls with long pauses, and another worker has started.
    await sleep(4000)
    process.kill(orphan!, "SIGKILL")
    const status = () =>
      // A request that a worker never answers must not hold up the ones after it.
      fetch(`${service.url}/v1/locations`, { headers: alone, signal: AbortSignal.timeout(5000) }).then(
        (response) => response.status,
        () => 0
      )
    await Process.until("requests succeed again", async () => (await status()) === 200)
    assert.strictEqual(parentOf(parentOf(Process.postmasterOf(folder))), service.process.pid)
    assert.notStrictEqual(Process.postmasterOf(folder), killed)
    await Process.until("there are two workers again", () => Process.workersOf(service).length === 2)
  })

  it("workers keep the port open for DRAIN_SECONDS and finish the requests that arrive until then", async () => {
    const workers = await bothAnswer(service)
    service.process.kill("SIGTERM")
    const status = async (path: string) => (await fetch(`${service.url}${path}`, { headers: alone })).status
    await Process.until("readiness is withdrawn", async () => (await status("/readyz")) === 503)
    assert.strictEqual(await status("/v1/me"), 200)
    const outgoing = request(`${service.url}/v1/locations`, {
      method: "POST",
      headers: { ...headers, expect: "100-continue", "transfer-encoding": "chunked" }
    })
    outgoing.flushHeaders()
    await once(outgoing, "continue")
    await Process.until("the port is closed", () =>
      status("/healthz").then(
        () => false,
        () => true
      )
    )
    outgoing.end(JSON.stringify({ name: "Late", identifier: "while-draining" }))
    const [response] = (await once(outgoing, "response")) as [IncomingMessage]
    assert.strictEqual(response.statusCode, 201)
    assert.strictEqual(await service.exited, 0)
    assert.deepStrictEqual(workers.filter(Process.isRunning), [])
  })
})

describe("workers", () => {
  it("workers do not share the port with another program", async () => {
    const other = createServer().listen(0, "127.0.0.1")
    await once(other, "listening")
    const address = other.address()
    const port = typeof address === "object" && address !== null ? String(address.port) : ""
    const { code, output } = await Process.run({ ...settings, WORKERS: "2", PORT: port })
    other.close()
    assert.strictEqual(code, 1)
    assert.include(output, `Cannot listen`)
    assert.include(output, port)
  })

  it("WORKERS=0 starts one worker per core, and workers exit when their parent is killed", async () => {
    const service = await Process.start({ ...settings, WORKERS: "0" })
    const workers = Process.workersOf(service)
    assert.strictEqual(workers.length, availableParallelism())
    service.process.kill("SIGKILL")
    await Process.until("the workers have exited", () => !workers.some(Process.isRunning))
  })
})
