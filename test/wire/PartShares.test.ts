import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { connect } from "node:net"
import { eventually } from "../support/Until.ts"
import { begin, pathOf, put } from "../support/requests/UploadParts.ts"
import { layer as listening, Wire } from "../support/wire/Wire.ts"

const bytes = Buffer.alloc(1000, "a")

/** A part of the key that never arrives, and holds its place until the scope ends. */
const hangingPart = (key: string) =>
  Effect.gen(function* () {
    const { port } = yield* Wire
    const { parts } = yield* begin(bytes.length, key)
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        const socket = connect(port, "127.0.0.1")
        socket.on("error", () => undefined)
        socket.write(
          `PUT ${pathOf(parts[0]!.url)} HTTP/1.1\r\nHost: waypost.test\r\nContent-Length: ${bytes.length}\r\n\r\na`
        )
        return socket
      }),
      (socket) => Effect.sync(() => socket.destroy())
    )
  })

layer(listening({ MAX_IN_FLIGHT: "4", KEY_SHARE: "0.5" }), { excludeTestServices: true })("parts of a key", (it) => {
  it.effect("a key above its share of parts gets a 429 with Retry-After, and the part of another key is stored", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { key } = yield* Wire
        const [busy, calm] = [yield* key(["create:uploads"]), yield* key(["create:uploads"])]
        yield* Effect.replicateEffect(hangingPart(busy), 2)
        const next = yield* begin(bytes.length, busy)
        const limited = yield* eventually(
          "the key is above its share",
          put(next.parts[0]!.url, bytes),
          ({ status }) => status === 429
        )
        assert.strictEqual(limited.body._tag, "RateLimitExceededError")
        assert.strictEqual(limited.headers["retry-after"], "1")
        const other = yield* begin(bytes.length, calm)
        assert.strictEqual((yield* put(other.parts[0]!.url, bytes)).status, 200)
      })
    )
  )
})

layer(listening({ MAX_IN_FLIGHT: "8" }), { excludeTestServices: true })("parts of several keys", (it) => {
  it.effect(
    "two keys never take all places: the last ones are left for keys without a part, and a 429 names the service",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { key } = yield* Wire
          const [busy, second, calm] = yield* Effect.replicateEffect(key(["create:uploads"]), 3)
          const rejected = (owner: string) =>
            Effect.gen(function* () {
              const { parts } = yield* begin(bytes.length, owner)
              return yield* eventually(
                "no part is left for the key",
                put(parts[0]!.url, bytes),
                ({ status }) => status === 429
              )
            })
          yield* Effect.replicateEffect(hangingPart(busy!), 6)
          assert.include((yield* rejected(busy!)).body.message, "This key sends as many parts")
          yield* hangingPart(second!)
          assert.include((yield* rejected(second!)).body.message, "The service receives as many parts")
          const other = yield* begin(bytes.length, calm)
          assert.strictEqual((yield* put(other.parts[0]!.url, bytes)).status, 200)
        })
      )
  )
})
