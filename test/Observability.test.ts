import { assert, describe, it } from "@effect/vitest"
import { createServer } from "node:http"
import { once } from "node:events"
import { afterAll } from "vitest"
import * as Process from "./support/Process.ts"

const { folder, remove } = Process.dataFolder()
afterAll(remove)

/** A collector that only remembers what was posted where. */
const collector = async () => {
  const posts = new Map<string, string>()
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk) => (body += String(chunk)))
    request.on("end", () => {
      posts.set(request.url ?? "", (posts.get(request.url ?? "") ?? "") + body)
      response.end("{}")
    })
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return { posts, url: `http://127.0.0.1:${port}`, close: () => server.close() }
}

describe("observability", () => {
  it("sends traces, metrics and logs to the configured collector, and flushes them when it stops", async () => {
    const { close, posts, url } = await collector()
    await using service = await Process.start({ DATA_DIR: folder, OTEL_EXPORTER_OTLP_ENDPOINT: url })
    const key = Process.firstKey(service)
    const response = await fetch(`${service.url}/v1/locations`, { headers: { authorization: key } })
    assert.strictEqual(response.status, 200)
    assert.strictEqual(await service.stop(), 0)
    close()
    assert.include(posts.get("/v1/traces"), "/v1/locations")
    assert.include(posts.get("/v1/metrics"), "http_request_duration_seconds")
    assert.include(posts.get("/v1/logs"), "Waypost serves")
    assert.notInclude([...posts.values()].join(""), key.slice(-49))
  })

  it("writes one JSON object a line when it does not write to a terminal", async () => {
    await using service = await Process.start({ DATA_DIR: folder, LOG_FORMAT: "", LOG_LEVEL: "debug" })
    await fetch(`${service.url}/v1/locations?filter=%0d%0a%1b[31mname`, { headers: { "x-request-id": "log-test" } })
    await service.stop()
    const lines = service
      .output()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    assert.isAbove(lines.length, 2)
    assert.isTrue(lines.some((line) => JSON.stringify(line).includes("log-test")))
  })
})
