import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { connect } from "node:net"
import { eventually } from "../support/Until.ts"
import { failing } from "../support/storage/Disks.ts"
import { begin, pathOf, put, send } from "../support/requests/UploadParts.ts"
import { mebibyte } from "../support/requests/UploadRequests.ts"
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

/** Holds the flushes of files of a size, until the scope ends; how many have begun. */
const heldFlushes = Effect.fnUntraced(function* (size: number) {
  const flushed = Promise.withResolvers<void>()
  const held = { begun: 0 }
  yield* failing("sync", "EIO", async (handle) => {
    if ((await handle.stat()).size !== size) return false
    held.begun++
    await flushed.promise
    return false
  })
  yield* Effect.addFinalizer(() => Effect.sync(() => flushed.resolve()))
  return eventually(
    "flushes are held",
    Effect.sync(() => held.begun),
    (begun) => begun > 1
  )
})

layer(listening(), { excludeTestServices: true })("slow flushes of a key", (it) => {
  it.effect("parts of a key that are flushed slowly do not delay the part of another key", () =>
    Effect.gen(function* () {
      const { key } = yield* Wire
      const [busy, calm] = [yield* key(["create:uploads"]), yield* key(["create:uploads"])]
      const uploads = yield* Effect.replicateEffect(begin(bytes.length, busy), 6)
      const held = yield* heldFlushes(bytes.length)
      for (const { parts } of uploads) yield* Effect.forkScoped(put(parts[0]!.url, bytes))
      yield* held
      const { parts } = yield* begin(10, calm)
      assert.strictEqual((yield* put(parts[0]!.url, bytes.subarray(0, 10))).status, 200)
    }).pipe(Effect.scoped)
  )

  it.effect(
    "uploads of a key whose joined files are flushed slowly do not delay the completion of another key's upload",
    () =>
      Effect.gen(function* () {
        const { key } = yield* Wire
        const [busy, calm] = [yield* key(["create:uploads"]), yield* key(["create:uploads"])]
        /** Sends both parts of an upload; completes it. */
        const sent = Effect.fnUntraced(function* (owner: string, size: number) {
          const { parts, uuid } = yield* begin(size, owner)
          const tags = yield* Effect.forEach(parts, ({ partNumber, url }) =>
            Effect.map(
              put(url, Buffer.alloc(partNumber === 1 ? 8 * mebibyte : size - 8 * mebibyte)),
              ({ headers }) => ({ partNumber, eTag: headers.etag })
            )
          )
          const body = JSON.stringify({ uuid, parts: tags })
          return send("PUT", "/v1/uploads/complete-multi-part", { key: owner, body })
        })
        const completions = yield* Effect.replicateEffect(sent(busy, 8 * mebibyte + 1), 3)
        const held = yield* heldFlushes(8 * mebibyte + 1)
        for (const completion of completions) yield* Effect.forkScoped(completion)
        yield* held
        assert.strictEqual((yield* yield* sent(calm, 8 * mebibyte + 2)).status, 200)
      }).pipe(Effect.scoped)
  )
})
