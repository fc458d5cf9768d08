import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { once } from "node:events"
import { createServer } from "node:http"
import { type AddressInfo, connect } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import { onTestFinished } from "vitest"
import { type ReadLimits, resetSlowReaders } from "../../src/http/streams/SlowReaders.ts"
import { TimeLimits } from "../../src/http/transport/Timeout.ts"
import { begin, complete, pathOf, put } from "../support/requests/UploadParts.ts"
import { mebibyte } from "../support/requests/UploadRequests.ts"
import { until } from "../support/Until.ts"
import { layer as listening, Wire } from "../support/wire/Wire.ts"

/** More than the buffers of the kernel hold. */
const large = Buffer.alloc(24 * mebibyte)
const never = 3_600_000

/** A connection that asks for a path and reads nothing by itself. */
const ask = async (port: number, path: string) => {
  const socket = connect(port, "127.0.0.1")
  const state = { received: 0, closed: false }
  socket.on("error", () => undefined)
  socket.on("close", () => (state.closed = true))
  onTestFinished(() => void socket.destroy())
  await once(socket, "connect")
  socket.write(`GET ${path} HTTP/1.1\r\nHost: waypost.test\r\n\r\n`)
  /** Takes what has arrived, again and again, until all of the large answer is there or the connection is closed. */
  const read = async (pause: number) => {
    for (; !state.closed && state.received < large.length; await sleep(pause)) {
      const chunk: Buffer | null = socket.read()
      state.received += chunk?.length ?? 0
    }
  }
  /** A socket that does not read notices a reset only when it writes; a server ignores empty lines before a request. */
  const closed = () => until("the connection is closed", () => state.closed || void socket.write("\r\n"))
  return { read, state, closed }
}

const serve = async (limits: ReadLimits) => {
  const server = createServer((request, response) => {
    if (request.url === "/large") response.end(large)
    else if (request.url === "/quiet") response.write("begun")
    else response.end("small")
  })
  resetSlowReaders(server, limits)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return (path: string) => ask(port, path)
}

describe("slow readers", () => {
  it("a client that takes nothing of an answer is disconnected", async () => {
    const get = await serve({ stall: 300, minRate: 0, average: never, whole: never })
    const { closed, state } = await get("/large")
    await closed()
    assert.isTrue(state.closed)
  })

  it("a client that takes an answer steadily, but too slowly, is disconnected", async () => {
    const get = await serve({ stall: never, minRate: 1024 * mebibyte, average: 300, whole: never })
    const { read, state } = await get("/large")
    await read(10)
    assert.isTrue(state.closed)
    assert.isBelow(state.received, large.length)
  })

  it("a client that takes an answer slowly, but above the rate, gets all of it", async () => {
    const get = await serve({ stall: never, minRate: 1024, average: 1000, whole: never })
    const { read, state } = await get("/large")
    await read(10)
    assert.isAtLeast(state.received, large.length)
  })

  it("a client that takes a large answer above the rate, but much too slowly for its size, is disconnected", async () => {
    const get = await serve({ stall: never, minRate: 1024, average: 300, whole: 300 })
    const { read, state } = await get("/large")
    await read(10)
    assert.isTrue(state.closed)
    assert.isBelow(state.received, large.length)
  })

  it("a stream that is quiet and a connection that is idle stay open", async () => {
    const get = await serve({ stall: 300, minRate: mebibyte, average: 300, whole: never })
    const open = [await get("/quiet"), await get("/small")]
    for (let times = 0; times < 2; times++) await (await get("/large")).closed()
    assert.deepStrictEqual(
      open.map(({ state }) => state.closed),
      [false, false]
    )
  })
})

const limits = Effect.map(TimeLimits, (all) => ({
  ...all,
  read: { stall: 500, minRate: 1024, average: 1000, whole: never }
}))

layer(listening().pipe(Layer.provide(Layer.effect(TimeLimits, limits))), { excludeTestServices: true })(
  "slow readers of the service",
  (it) => {
    it.effect("a client that reads nothing of a file that it downloads is disconnected", () =>
      Effect.gen(function* () {
        const { port } = yield* Wire
        const { parts, uuid } = yield* begin(large.length)
        const sent: Array<object> = []
        for (const [index, { partNumber, url }] of parts.entries()) {
          const { headers } = yield* put(url, large.subarray(index * 8 * mebibyte, (index + 1) * 8 * mebibyte))
          sent.push({ partNumber, eTag: headers.etag })
        }
        const { body } = yield* complete(uuid, sent)
        yield* Effect.promise(async () => (await ask(port, pathOf(body.data.url))).closed())
      })
    )
  }
)
