import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { type AddressInfo, createServer, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { type ConnectionOptions, TLSSocket } from "node:tls"
import { afterEach, beforeEach, vi } from "vitest"
import { patiently, streamOf } from "../../src/sql/connections/DatabaseSocket.ts"

const welcome = Buffer.from("5200000008000000005a0000000549", "hex")
const emptyAnswer = Buffer.from("310000000432000000046e0000000449000000045a0000000549", "hex")
const sslRequest = 8

// A cipher that needs no certificate.
const secret = Buffer.alloc(32, 7)
const tls = { ciphers: "PSK-AES256-GCM-SHA384", maxVersion: "TLSv1.2" } as const

// The type of the options lacks the callback, which every server supports.
const serverOptions: object = { ...tls, isServer: true, pskCallback: () => secret }

/** A server that speaks enough of the protocol to respond to `answers` statements, and then stays silent. */
const database = (options: { readonly secured: boolean; readonly answers: number }) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const open = new Set<Socket>()
      const server = createServer((socket) => {
        open.add(socket.on("error", () => socket.destroy()))
        let left = options.answers
        const serve = (stream: Duplex) =>
          stream.once("data", () => {
            stream.write(welcome)
            stream.on("data", () => left-- > 0 && stream.write(emptyAnswer))
          })
        if (!options.secured) return serve(socket)
        return socket.once("data", (request: Buffer) => {
          assert.strictEqual(request.length, sslRequest)
          socket.write("S")
          serve(new TLSSocket(socket, serverOptions))
        })
      })
      await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
      return { open, server, port: (server.address() as AddressInfo).port }
    }),
    ({ open, server }) =>
      Effect.sync(() => {
        server.close()
        for (const socket of open) socket.destroy()
      })
  )

interface Connecting {
  readonly multiplex: boolean
  readonly secured: boolean
  readonly statementMillis?: number
}

const clientOf = (port: number, { multiplex, secured, statementMillis = 5000 }: Connecting) => {
  const url = Redacted.make(`postgres://waypost@127.0.0.1:${port}/waypost${secured ? "?sslmode=require" : ""}`)
  const ssl: ConnectionOptions = {
    ...tls,
    pskCallback: () => ({ psk: secret, identity: "waypost" }),
    checkServerIdentity: () => undefined
  }
  return PgClient.make({
    url,
    multiplex,
    maxConnections: 1,
    stream: streamOf({ url }, { batched: multiplex, statementMillis }),
    ...(secured ? { ssl } : {})
  }).pipe(Effect.provide(Reactivity.layer))
}

/** Advances the fake interval timers, with real I/O. */
const pass = (seconds: number) =>
  Effect.promise(async () => {
    for (let second = 0; second < seconds; second++) {
      vi.advanceTimersByTime(1000)
      await new Promise((resolve) => setImmediate(() => setTimeout(resolve, 5)))
    }
  })

const cases = [false, true].flatMap((multiplex) => [false, true].map((secured) => ({ multiplex, secured })))

describe("database connections", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }))
  afterEach(() => void vi.useRealTimers())

  it.live("a connection whose statements may take a minute is closed when one gets no response for longer", () =>
    Effect.gen(function* () {
      const { port } = yield* database({ secured: false, answers: 1 })
      const sql = yield* clientOf(port, { multiplex: true, secured: false, statementMillis: 60_000 })
      yield* sql.unsafe("first")
      const silent = yield* Effect.forkScoped(Effect.exit(sql.unsafe("second")))
      yield* Effect.sleep("100 millis")
      yield* pass(60)
      assert.isUndefined(silent.pollUnsafe())
      yield* pass(5)
      assert.isTrue(Exit.isFailure(yield* Fiber.join(silent)))
    }).pipe(Effect.scoped)
  )

  for (const options of cases) {
    const name = `${options.multiplex ? "shared" : "exclusive"}, ${options.secured ? "over TLS" : "in the clear"}`

    it.live(`${name}: a connection is closed when a statement gets no response within the time limit`, () =>
      Effect.gen(function* () {
        const { port } = yield* database({ secured: options.secured, answers: 1 })
        const sql = yield* clientOf(port, options)
        yield* sql.unsafe("first")
        const silent = yield* Effect.forkScoped(Effect.exit(sql.unsafe("second")))
        yield* Effect.sleep("100 millis")
        yield* pass(6)
        assert.isUndefined(silent.pollUnsafe())
        yield* pass(4)
        const exit = yield* Fiber.join(silent)
        assert.isTrue(Exit.isFailure(exit))
        assert.match(JSON.stringify(exit), /ConnectionError/)
        // The next statement gets a new connection.
        yield* sql.unsafe("third")
      }).pipe(Effect.scoped)
    )

    it.live(
      `${name}: a statement that may take two minutes ${options.multiplex ? "has no longer" : "has longer"}`,
      () =>
        Effect.gen(function* () {
          const { port } = yield* database({ secured: options.secured, answers: 1 })
          const sql = yield* clientOf(port, options)
          yield* sql.unsafe("first")
          const silent = yield* Effect.forkScoped(patiently(Effect.exit(sql.unsafe("second"))))
          yield* Effect.sleep("100 millis")
          yield* pass(120)
          assert.strictEqual(silent.pollUnsafe() === undefined, !options.multiplex)
          yield* pass(8)
          assert.isTrue(Exit.isFailure(yield* Fiber.join(silent)))
        }).pipe(Effect.scoped)
    )

    it.live(`${name}: an idle connection is kept`, () =>
      Effect.gen(function* () {
        const { open, port } = yield* database({ secured: options.secured, answers: 3 })
        const sql = yield* clientOf(port, options)
        for (let statement = 0; statement < 3; statement++) {
          yield* sql.unsafe(`statement ${statement}`)
          yield* pass(30)
        }
        assert.strictEqual(open.size, 1)
      }).pipe(Effect.scoped)
    )
  }
})
