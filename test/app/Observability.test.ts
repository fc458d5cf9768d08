import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { TestClock } from "effect/testing"
import { createServer } from "node:http"
import { once } from "node:events"
import { closeSync, existsSync, openSync } from "node:fs"
import { join } from "node:path"
import { Writable } from "node:stream"
import { setTimeout as sleep } from "node:timers/promises"
import { beforeAll, onTestFinished } from "vitest"
import { warning } from "../../src/app/Observability.ts"
import { lineWriter } from "../../src/app/StandardOutput.ts"
import * as Process from "../support/Process.ts"
import * as Service from "../support/Service.ts"
import { promiseAtBest } from "../support/Until.ts"

/** A collector that records the posted bodies by path, each on a line. */
const collector = async () => {
  const posts = new Map<string, string>()
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk) => (body += String(chunk)))
    request.on("end", () => {
      posts.set(request.url ?? "", `${posts.get(request.url ?? "") ?? ""}${body}\n`)
      response.end("{}")
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return { posts, url: `http://127.0.0.1:${port}`, close: () => server.close() }
}

interface Span {
  readonly name: string
  readonly spanId: string
  readonly parentSpanId?: string
}

interface Traces {
  readonly resourceSpans: ReadonlyArray<{ readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<Span> }> }>
}

/** The exported spans. */
const spansOf = (lines: string) =>
  lines
    .trim()
    .split("\n")
    .flatMap((line) => (JSON.parse(line) as Traces).resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))

interface Metrics {
  readonly resourceMetrics: ReadonlyArray<{
    readonly resource: { readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: object }> }
    readonly scopeMetrics: ReadonlyArray<{ readonly metrics: ReadonlyArray<{ readonly name: string }> }>
  }>
}

/** What the processes that serve exported: their attributes, and the names of their metrics. */
const servingProcesses = (lines: string) =>
  lines
    .trim()
    .split("\n")
    .flatMap((line) => (JSON.parse(line) as Metrics).resourceMetrics)
    .map(({ resource, scopeMetrics }) => ({
      attributes: new Map(resource.attributes.map(({ key, value }) => [key, String(Object.values(value)[0])])),
      names: scopeMetrics.flatMap(({ metrics }) => metrics.map(({ name }) => name))
    }))
    .filter(({ names }) => names.includes("waypost_unsealed_change_age_seconds"))

/** What a service exports from its start to its stop, and what the test does with it. */
const exported = async <A>(
  settings: Readonly<Record<string, string>>,
  use: (service: Service.Service) => Promise<A>
) => {
  const { close, posts, url } = await collector()
  await using service = await Service.start({
    OTEL_EXPORTER_OTLP_ENDPOINT: url,
    OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test,service.instance.id=given",
    ...settings
  })
  const found = await use(service)
  const code = await service.stop()
  close()
  return { posts, found, code, lines: service.output().trim().split("\n") }
}

/** Closes the log pipe of a service; returns how it answers requests afterwards. */
const unlogged = async ({ key, process, url }: Service.Service) => {
  process.stdout!.destroy()
  process.stderr!.destroy()
  const statuses: Array<number> = []
  for (let number = 0; number < 8; number++) {
    // A separate connection for each, so that every worker gets some.
    const headers = { authorization: key, "content-type": "application/json", connection: "close" }
    const body = JSON.stringify({ name: "Unlogged", identifier: `unlogged-${number}` })
    statuses.push((await fetch(`${url}/v1/locations`, { method: "POST", headers, body })).status)
    await sleep(50)
  }
  return statuses
}

/**
 * A service of one process with requests whose filters and searches are secret, then with more at once than it serves, and at
 * last with a closed log pipe.
 */
const watched = () =>
  exported({ WORKERS: "1", LOG_FORMAT: "", LOG_LEVEL: "debug", MAX_IN_FLIGHT: "1" }, async (service) => {
    const { key, url } = service
    const headers = { authorization: key }
    const statuses: Array<number> = []
    for (const query of ["", "?filter=contact.email:equals:hidden@example.com", "?search=hidden"]) {
      const { status } = await fetch(`${url}/v1/locations${query}`, { headers })
      statuses.push(status)
    }
    await fetch(`${url}/v1/locations?filter=%0d%0a%1b[31mname`, { headers: { "x-request-id": "log-test" } })
    const answersOf = (paths: ReadonlyArray<string>) =>
      Promise.all(paths.map((path) => fetch(`${url}${path}`, { headers })))
    const answers = await answersOf([`/${"x".repeat(3000)}`, "/v1/locations;a"])
    await Process.until("two requests were in flight at once", async () => {
      answers.push(...(await answersOf(Array(30).fill("/v1/locations"))))
      return answers.some(({ status }) => status === 503)
    })
    const ids = answers.map((answer) => answer.headers.get("x-request-id")!)
    await Process.until("the requests are logged", () => ids.every((id) => service.output().includes(id)))
    return { key, statuses, answers, unlogged: await unlogged(service) }
  })

describe("logs and telemetry", () => {
  let telemetry: Awaited<ReturnType<typeof watched>>
  let two: Awaited<ReturnType<typeof exported<ReadonlyArray<number>>>>
  beforeAll(async () => {
    telemetry = await watched()
    two = await exported({ WORKERS: "2" }, unlogged)
  })

  it("the service sends traces, metrics and logs to the configured collector, and flushes them at shutdown, without keys, filters and searches", () => {
    const {
      code,
      found: { key, statuses },
      posts
    } = telemetry
    assert.deepStrictEqual(statuses, [200, 200, 400])
    assert.strictEqual(code, 0)
    assert.include(posts.get("/v1/traces"), "/v1/locations")
    const spans = spansOf(posts.get("/v1/traces") ?? "")
    const list = spans.find(({ name }) => name === "Locations.list")
    const request = spans.find(({ name }) => name === "GET")
    assert.isDefined(request)
    assert.strictEqual(list?.parentSpanId, request?.spanId)
    assert.isTrue(spans.some(({ name, parentSpanId }) => name === "postgres" && parentSpanId === list?.spanId))
    assert.include(posts.get("/v1/metrics"), "http_request_duration_seconds")
    assert.include(posts.get("/v1/logs"), "Waypost serves")
    assert.include(posts.get("/v1/traces"), "filter=REDACTED")
    assert.notInclude([...posts.values()].join(""), "hidden")
    assert.notInclude([...posts.values()].join(""), key.slice(-49))
  })

  for (const workers of [1, 2]) {
    it(`each process sends its gauges, and the counters of deliveries before the first attempt, under an identity of its own, WORKERS=${workers}`, () => {
      const { code, posts } = workers === 1 ? telemetry : two
      assert.strictEqual(code, 0)
      const metrics = posts.get("/v1/metrics") ?? ""
      // An alert sees no first increase of a series that begins with it.
      for (const outcome of ["delivered", "failed", "givenUp"]) {
        assert.include(metrics, JSON.stringify({ key: "outcome", value: { stringValue: outcome } }))
      }
      const processes = servingProcesses(metrics)
      const valuesOf = (key: string) => new Set(processes.map(({ attributes }) => attributes.get(key)))
      assert.deepStrictEqual([...valuesOf("deployment.environment.name")], ["test"])
      assert.strictEqual(valuesOf("process.pid").size, workers)
      assert.strictEqual(valuesOf("service.instance.id").size, workers)
      // A given identity is that of one process.
      assert.strictEqual(valuesOf("service.instance.id").has("given"), workers === 1)
      for (const { names } of processes) {
        assert.includeMembers(names, [
          "http_requests_in_flight",
          "process_cpu_seconds_total",
          "process_resident_memory_bytes",
          "nodejs_heap_size_used_bytes",
          "process_uptime_seconds",
          "process_info"
        ])
      }
    })
  }

  it("the service logs one JSON object per line when stdout is not a terminal", () => {
    const lines = telemetry.lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    assert.isAbove(lines.length, 2)
    assert.isTrue(lines.some((line) => JSON.stringify(line).includes("log-test")))
  })

  it("LOG_LEVEL=debug logs every request with its status, also one that is rejected before its route is known", () => {
    const {
      found: { answers },
      lines
    } = telemetry
    const statuses = answers.map(({ status }) => status)
    assert.includeMembers(statuses, [414, 404, 503])
    for (const { headers, status } of answers) {
      const id = headers.get("x-request-id")!
      assert.lengthOf(
        lines.filter((line) => line.includes(id) && line.includes(` ${status}`)),
        1,
        `${status}`
      )
    }
  })

  for (const workers of [1, 2]) {
    it(`the service keeps serving after its log pipe is closed, WORKERS=${workers}`, () => {
      const statuses = workers === 1 ? telemetry.found.unlogged : two.found
      assert.deepStrictEqual([...new Set(statuses)], [201])
      assert.strictEqual((workers === 1 ? telemetry : two).code, 0)
    })
  }

  describe("a stop with more of the log than a pipe takes", () => {
    const requests = 100

    /** A service with that, and a function that lets the test read it. */
    const unread = async () => {
      const service = await Service.start({ LOG_LEVEL: "debug" })
      onTestFinished(() => service[Symbol.asyncDispose]())
      const output = service.process.stdout!
      output.pause()
      for (let number = 0; number < requests; number++) await fetch(`${service.url}/${"x".repeat(2000)}`)
      return { service, closed: once(output, "close"), read: () => output.resume() }
    }

    // It does for two seconds.
    it("waits until the log is read", () =>
      promiseAtBest(async () => {
        const { closed, read, service } = await unread()
        service.process.kill("SIGTERM")
        await Process.until(
          "the database has stopped",
          () => !existsSync(join(service.folder, "postgres/postmaster.pid"))
        )
        await sleep(100)
        read()
        assert.strictEqual(await service.exited, 0)
        await closed
        const lines = service.output().trim().split("\n")
        assert.lengthOf(
          lines.filter((line) => (JSON.parse(line) as { readonly message: string }).message.startsWith("GET /xxx")),
          requests
        )
      }))

    it("ends when the log is not read", async () => {
      const { service } = await unread()
      service.process.kill("SIGTERM")
      assert.strictEqual(await service.exited, 0)
    })
  })

  it("the service starts, serves and stops when the disk of its log is full", async () => {
    const own = Process.migratedFolder()
    const port = String(await Process.freePort())
    const full = openSync("/dev/full", "w")
    const child = Process.spawnWith({ DATA_DIR: own.folder, PORT: port }, full)
    onTestFinished(() => void child.kill("SIGKILL"))
    const exited = once(child, "exit")
    const status = () =>
      fetch(`http://127.0.0.1:${port}/v1/me`).then(
        (response) => response.status,
        () => 0
      )
    while (child.exitCode === null && (await status()) === 0) await sleep(50)
    for (let count = 0; count < 3; count++) {
      assert.strictEqual(await status(), 401)
      await sleep(50)
    }
    child.kill("SIGTERM")
    assert.deepStrictEqual(await exited, [0, null])
    closeSync(full)
    own.remove()
  })
})

describe("the log", () => {
  it("keeps 8 MiB for a reader that takes nothing, and says afterwards how many lines were lost", () => {
    const written: Array<string> = []
    let taken = () => {}
    const stream = new Writable({
      write: (chunk, _, callback) => {
        written.push(String(chunk))
        taken = callback
      }
    })
    const write = lineWriter(stream)
    const lines = `${"x".repeat(1023)}\n`.repeat(1024)
    for (let number = 0; number < 20; number++) write(lines)
    const kept = stream.writableLength / lines.length
    assert.strictEqual(kept, 9)
    for (let number = 0; number < kept; number++) taken()
    write("the next line\n")
    taken()
    const [lost, next] = written.at(-1)!.trim().split("\n")
    const { message } = JSON.parse(lost!) as { readonly message: string }
    assert.strictEqual(
      message,
      `The log lacks lines before this one, because its reader was too slow: ${(20 - kept) * 1024}`
    )
    assert.strictEqual(next, "the next line")
  })
})

describe("the client of the exporter", () => {
  it.effect("warns once a minute with the reason while the collector takes nothing, and not while it does", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      const collect = Logger.make(({ logLevel, message }) => void lines.push(`${logLevel} ${String(message)}`))
      let status = 200
      const collector = HttpClient.make((request) =>
        status === 0
          ? Effect.fail(
              new HttpClientError.HttpClientError({
                reason: new HttpClientError.TransportError({
                  request,
                  cause: new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED 127.0.0.1:4318") })
                })
              })
            )
          : Effect.succeed(HttpClientResponse.fromWeb(request, new Response("", { status })))
      )
      yield* Effect.gen(function* () {
        const client = yield* HttpClient.HttpClient
        const send = Effect.exit(client.post("http://collector/v1/logs"))
        yield* send
        assert.deepStrictEqual(lines, [])
        status = 404
        yield* send
        yield* TestClock.adjust("59 seconds")
        yield* send
        status = 0
        yield* TestClock.adjust("2 seconds")
        yield* send
      }).pipe(
        Effect.provide([
          Layer.provide(warning("http://collector"), Layer.succeed(HttpClient.HttpClient, collector)),
          Logger.layer([collect])
        ])
      )
      const refused = "Warn http://collector did not take traces, metrics or logs"
      assert.deepStrictEqual(lines, [`${refused}: it answers 404`, `${refused}: connect ECONNREFUSED 127.0.0.1:4318`])
    })
  )
})
