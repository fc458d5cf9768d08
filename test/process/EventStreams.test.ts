import { connect } from "node:net"
import { afterAll, assert, describe, it } from "vitest"
import { open } from "../support/changes/Streams.ts"
import * as Running from "../support/proofs/Running.ts"
import { promiseAtBest, until } from "../support/Until.ts"

/** A client that opens a stream and reads nothing of it. */
const stalled = (url: string, key: string) => {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.on("error", () => undefined)
  socket.pause()
  socket.write(`GET /v1/events/stream HTTP/1.1\r\nHost: a\r\nAuthorization: ${key}\r\n\r\n`)
  return socket
}

const followersOf = async ({ call }: Running.Running) =>
  Number(/^waypost_event_followers (\d+)$/m.exec((await call("GET", "/metrics")).text)?.[1])

/** A change of 400 KB, so that a few are more than the buffers of a socket hold. */
const alter = ({ sql }: Running.Running, uuid: string, count: number) =>
  sql`update locations set other = jsonb_build_object('extraDna1', repeat(${String.fromCharCode(97 + count)}::text, 200000))
    where uuid = ${uuid}`

describe("streams of a process", () => {
  let running: Running.Running | undefined
  const end = async () => {
    await running?.[Symbol.asyncDispose]()
    running = undefined
  }
  afterAll(end)

  /** Runs a test with the service of all tests, or with a new one after a failure. */
  const attempt = (test: (service: Running.Running) => Promise<void>) =>
    promiseAtBest(async () => {
      running ??= await Running.start({ DRAIN_SECONDS: "5" })
      await test(running).catch(async (error) => {
        await end()
        throw error
      })
    })

  it("the connection of a client that reads nothing is closed within 2 s after its key was revoked", () =>
    attempt(async (service) => {
      const { call, create, url } = service
      const permissions = ["read:events", "read:locations"]
      const { body } = await call("POST", "/v1/api-keys", { name: "Follower", permissions })
      const location = await create("/v1/locations", { name: "Branch", identifier: "revoked" })
      const socket = stalled(url, body.data.key)
      await until("it follows", async () => (await followersOf(service)) === 1)
      for (let count = 0; count < 26; count++) {
        await alter(service, location, count)
      }
      const began = performance.now()
      await call("DELETE", `/v1/api-keys/${body.data.uuid}`)
      await until("it no longer follows", async () => (await followersOf(service)) === 0, 5)
      assert.isBelow(performance.now() - began, 2000)
      socket.destroy()
    }))

  it("end at once on SIGTERM, also one whose client reads nothing, and a waiting request is answered", () =>
    attempt(async (service) => {
      const { call, create, key, url } = service
      const location = await create("/v1/locations", { name: "Branch", identifier: "ended" })
      const socket = stalled(url, key)
      using stream = await open(`${url}/v1/events/stream?types=location.updated`, { authorization: key })
      await until("both follow", async () => (await followersOf(service)) === 2)
      for (let count = 0; count < 26; count++) {
        await alter(service, location, count)
      }
      await stream.having(26)
      const { body } = await call("GET", "/v1/events?order=desc&limit=1")
      const waiting = call("GET", `/v1/events?wait=25&types=post.deleted&after=${body.cursor}`)
      await until("the request waits", async () => (await followersOf(service)) === 3)
      const began = performance.now()
      service.process.kill("SIGTERM")
      await until("the stream has ended", stream.hasEnded)
      assert.deepStrictEqual((await waiting).body.data, [])
      assert.isBelow(performance.now() - began, 4000)
      assert.strictEqual(await service.exited, 0)
      // It would wait for a client for another 20 s. A busy machine needs long to stop the database.
      assert.isBelow(performance.now() - began, 20_000)
      socket.destroy()
    }))
})
