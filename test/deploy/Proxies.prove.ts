import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { createHash, randomBytes } from "node:crypto"
import { once } from "node:events"
import { watch } from "node:fs"
import { connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { own } from "../support/Children.ts"
import { type Installation, install } from "../support/Nodes.ts"
import { freePort } from "../support/Process.ts"
import { report } from "../support/proofs/Figures.ts"
import type { Service } from "../support/Service.ts"
import { type Proxy, start } from "./Proxy.ts"

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex")

/** Takes no connection at a port and rejects none, as a machine that is off; disposing of it frees the port. */
const silence = async (port: number) => {
  const script = `const server = require("node:net").createServer()
    server.listen({ port: ${port}, host: "127.0.0.1", backlog: 1 }, () => {
      console.log("listens")
      setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))
    })`
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] })
  const { stop } = own(child)
  await once(child.stdout, "data")
  // The kernel takes two connections, and leaves all after them without an answer.
  const sockets = Array.from({ length: 4 }, () => connect(port, "127.0.0.1").on("error", () => undefined))
  await once(sockets[0]!, "connect")
  return {
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await stop()
    }
  }
}

describe.each(["nginx", "caddy"] as const)("deploy: two instances behind %s", (program) => {
  const nodes: Array<Service> = []
  const ports: Array<number> = []
  let installation: Installation
  let proxy: Proxy
  const startNode = (port: number) =>
    installation.node({ PORT: String(port), PUBLIC_URL: proxy.url, DRAIN_SECONDS: "5" })

  beforeAll(async () => {
    installation = await install()
    ports.push(await freePort(), await freePort())
    proxy = await start(program, await freePort(), [ports[0]!, ports[1]!])
    for (const port of ports) nodes.push(await startNode(port))
    while ((await proxy.send("GET", "/readyz")).status !== 200) await sleep(50)
  })
  afterAll(async () => {
    await proxy?.[Symbol.asyncDispose]()
    await installation?.close()
  })

  it("keeps the entity tag, so that a conditional write succeeds", async () => {
    const created = await proxy.send("POST", "/v1/locations", JSON.stringify({ name: "A", identifier: "a" }))
    assert.strictEqual(created.status, 201, created.text)
    const path = `/v1/locations/${created.body.data.uuid}`
    const read = await proxy.send("GET", path, undefined, { "accept-encoding": "gzip, br" })
    const tag = String(read.headers["etag"])
    assert.match(tag, /^"/)
    const change = JSON.stringify({ name: "B" })
    assert.strictEqual((await proxy.send("PATCH", path, change, { "if-match": tag })).status, 200)
    assert.strictEqual((await proxy.send("PATCH", path, change, { "if-match": tag })).status, 412)
    assert.strictEqual(read.headers["strict-transport-security"], "max-age=31536000")
  })

  it("passes on the longest query and the largest body that the service takes, and its errors above", async () => {
    const query = `?filter=name:in:${"x".repeat(100)},`.padEnd(8 * 1024, "y")
    const longest = await proxy.send("GET", `/v1/locations${query}`)
    assert.notStrictEqual(longest.status, 414, longest.text)
    assert.isString(longest.body._tag)
    for (const bytes of [1024 * 1024 + 1, 3 * 1024 * 1024]) {
      const { body, status } = await proxy.send("POST", "/v1/locations", JSON.stringify({ name: "x".repeat(bytes) }))
      assert.strictEqual(status, 413)
      assert.strictEqual(body._tag, "PayloadTooLargeError")
      assert.isString(body.requestId)
    }
  })

  it("hides the metrics, however their path is written", async () => {
    const paths = [
      "/metrics",
      "/metrics/",
      "/metrics?x",
      "//metrics",
      "/metrics//",
      "/%6detrics",
      "/metrics%2f",
      "/METRICS"
    ]
    for (const path of paths) assert.strictEqual((await proxy.send("GET", `${proxy.url}${path}`)).status, 404, path)
  })

  it("passes on the parts of an upload without keeping them, and the file", async () => {
    const buffered: Array<string> = []
    const watcher = watch(proxy.buffers, { recursive: true }, (_, name) => buffered.push(String(name)))
    const file = randomBytes(20 * 1024 * 1024)
    const begun = await proxy.send(
      "POST",
      "/v1/uploads/init-multi-part",
      JSON.stringify({ fileName: "data.bin", contentType: "application/octet-stream", fileSize: file.length })
    )
    assert.strictEqual(begun.status, 201, begun.text)
    const { partSize, parts, uuid } = begun.body.data
    const tags: Array<{ partNumber: number; eTag: string }> = []
    for (const { partNumber, url } of parts) {
      assert.isTrue(url.startsWith(`${proxy.url}/uploads/`), url)
      const part = file.subarray((partNumber - 1) * partSize, partNumber * partSize)
      const { headers, status, text } = await proxy.send("PUT", url, part)
      assert.strictEqual(status, 200, text)
      tags.push({ partNumber, eTag: String(headers["etag"]) })
    }
    const completed = await proxy.send("PUT", "/v1/uploads/complete-multi-part", JSON.stringify({ uuid, parts: tags }))
    assert.strictEqual(completed.status, 200, completed.text)
    watcher.close()
    assert.lengthOf(parts, 3)
    assert.deepStrictEqual(buffered, [])
    const { url } = completed.body.data
    assert.isTrue(url.startsWith(`${proxy.url}/files/`), url)
    const got = await proxy.send("GET", url)
    assert.strictEqual(got.status, 200)
    assert.strictEqual(sha256(got.bytes), sha256(file))
    const part = await proxy.send("GET", url, undefined, { range: "bytes=10-19" })
    assert.strictEqual(part.status, 206)
    assert.deepStrictEqual(part.bytes, file.subarray(10, 20))
  })

  it("a restart of each instance in turn fails no request of nginx, and at most one in a thousand of Caddy", async (context) => {
    const ending = new AbortController()
    const failures: Array<string> = []
    let requests = 0
    const client = async (name: number) => {
      for (let turn = 0; !ending.signal.aborted; turn++) {
        const identifier = `restart-${name}-${turn}`
        for (const [method, path, body] of [
          ["POST", "/v1/locations", JSON.stringify({ name: "Restart", identifier })],
          ["GET", "/v1/locations?limit=1", undefined]
        ] as const) {
          const { status, text } = await proxy
            .send(method, path, body)
            .catch((error: Error) => ({ status: 0, text: error.message }))
          requests++
          if (status >= 300 || status === 0) failures.push(`${method} ${status} ${text}`)
        }
      }
    }
    const load = Promise.all(Array.from({ length: 8 }, (_, name) => client(name)))
    const codes: Array<number | null> = []
    for (const [index, port] of ports.entries()) {
      await sleep(2500)
      codes.push(await nodes[index]!.stop())
      nodes[index] = await startNode(port)
    }
    await sleep(2500)
    ending.abort()
    await load
    await report(context, { [`requests through ${program}`]: requests, failed: failures.length })
    // Caddy answered one POST in some thousand with 503 in two of five runs; why is not known yet.
    const allowed = program === "caddy" ? Math.ceil(requests / 1000) : 0
    assert.isAtMost(failures.length, allowed, `${failures.join("\n")}\n${proxy.output().slice(-20_000)}`)
    assert.deepStrictEqual(
      failures.filter((failure) => !/^(?:GET|POST) 503 /.test(failure)),
      []
    )
    assert.deepStrictEqual(codes, [0, 0])
    assert.isAbove(requests, 500)
  })

  it("fails no request while an instance takes no connections, as on a machine that is off", async () => {
    await nodes[1]!.stop()
    await using _ = await silence(ports[1]!)
    for (let turn = 0; turn < 4; turn++) {
      const body = JSON.stringify({ name: "Off", identifier: `off-${turn}` })
      const created = await proxy.send("POST", "/v1/locations", body)
      assert.strictEqual(created.status, 201, created.text)
    }
  })

  it("answers 503 in the form of the service when no instance can be reached", async () => {
    await Promise.all(nodes.map((node) => node.stop()))
    const { body, headers, status } = await proxy.send("GET", "/v1/locations")
    assert.strictEqual(status, 503)
    assert.strictEqual(body._tag, "ServiceUnavailableError")
    assert.isString(body.requestId)
    assert.strictEqual(headers["retry-after"], "1")
    assert.strictEqual(headers["content-type"], "application/json")
  })
})
