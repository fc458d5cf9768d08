import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Layer } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { once } from "node:events"
import { createServer, type Server } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { CurrentShare } from "../../src/domain/keys/Share.ts"
import { Streams } from "../../src/http/streams/Streams.ts"
import { InFlight } from "../../src/http/transport/InFlight.ts"
import { maxUnreadBytes, Shares } from "../../src/http/transport/limits/Shares.ts"
import * as UnreadAnswers from "../../src/http/transport/limits/UnreadAnswers.ts"
import * as NodeServer from "../../src/http/transport/NodeServer.ts"
import { settings } from "../support/TestServer.ts"
import { eventually } from "../support/Until.ts"

const opened = (make: () => Server) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const server = make().listen(0, "127.0.0.1")
      await once(server, "listening")
      return server
    }),
    (server) =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )

const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: waypost.test\r\n\r\n`

/** A connection to a server that has sent bytes: the socket of the client, and that of the server. */
const sending = Effect.fnUntraced(function* (server: Server, bytes: string) {
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1").on("error", () => undefined)
  const [socket] = (yield* Effect.promise(() => once(server, "connection"))) as [Socket]
  client.write(bytes)
  yield* eventually(
    "the server has the bytes",
    Effect.sync(() => socket.bytesRead),
    (read) => read === bytes.length
  )
  return { client, socket }
})

/** Answers a request whose client has hung up. */
const afterHangUp = Effect.fnUntraced(function* <R>(
  answer: Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>
) {
  const answered = yield* Deferred.make<void>()
  const scope = yield* Effect.scope
  const handler = yield* NodeHttpServer.makeHandler(
    Effect.tap(answer, () => Deferred.succeed(answered, undefined)),
    { scope }
  )
  const server = yield* opened(() =>
    createServer((request, response) => response.once("close", () => handler(request, response)))
  )
  const { client } = yield* sending(server, request("/"))
  client.destroy()
  yield* Deferred.await(answered)
})

const limits = Streams.layer.pipe(
  Layer.provideMerge(Shares.layer),
  Layer.provide(InFlight.layer),
  Layer.provide(settings({ KEY_SHARE: "0.5", MAX_STREAMS: "1" }))
)

layer(limits, { excludeTestServices: true })("requests whose clients have hung up", (it) => {
  it.effect("that arrive during the start are not served, and those of other clients are", () =>
    Effect.gen(function* () {
      const readLimits = { stall: 30_000, minRate: 0, average: 60_000, whole: 1_800_000 }
      const limitsOf = () => assert.fail("The requests have no body")
      const server = yield* opened(() =>
        NodeServer.make({ bodyMillis: 5000, readLimits, limitsOf, onDrain: () => undefined })
      )
      const { client, socket } = yield* sending(server, request("/one") + request("/two"))
      const closed = once(socket, "close")
      client.destroy()
      yield* Effect.promise(() => closed)
      const open = yield* sending(server, request("/three"))
      const served: Array<string | undefined> = []
      server.on("request", ({ url }, response) => {
        served.push(url)
        response.end()
      })
      assert.deepStrictEqual(served, ["/three"])
      open.client.destroy()
    })
  )

  it.effect("keep no unread bytes of their key", () =>
    Effect.gen(function* () {
      const shares = yield* Shares
      const share = shares.of("reader")
      const count = yield* UnreadAnswers.make
      const answer = HttpServerResponse.uint8Array(new Uint8Array(20_000))
      yield* afterHangUp(Effect.map(HttpServerRequest.HttpServerRequest, (request) => count(request, share, answer)))
      assert.isTrue(shares.take(share, "unreadBytes", maxUnreadBytes / 2))
    })
  )

  it.effect("keep no stream of their key", () =>
    Effect.gen(function* () {
      const shares = yield* Shares
      const share = shares.of("follower")
      const { open } = yield* Streams
      const opening = Effect.as(
        open(() => undefined),
        HttpServerResponse.empty()
      )
      yield* afterHangUp(Effect.provideService(Effect.orDie(opening), CurrentShare, share))
      assert.isTrue(shares.take(share, "streams"))
    })
  )
})
