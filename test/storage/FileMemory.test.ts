import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule, Stream } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { FileParts } from "../../src/storage/FileParts.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { newKey } from "./Parts.ts"
import { onStorage } from "./PartServer.ts"

const mebibyte = 1024 * 1024
const chunk = Buffer.alloc(mebibyte / 16, "x")
const partOf64MiB = Stream.range(1, 1024).pipe(Stream.map(() => chunk))

setFlagsFromString("--expose-gc")
// Buffers are given back when they are collected, and not when another thread finds the time.
setFlagsFromString("--no-concurrent-array-buffer-sweeping")
const collect = runInNewContext("gc") as () => void

/** Bytes of the process. Buffers that nobody holds but that the collector has not come to would make it a matter of luck. */
const held = () => {
  collect()
  return process.memoryUsage.rss()
}

/** Receives parts of 64 MiB, joins them and reads the object; gives its size. */
const pass = Effect.fnUntraced(function* (numbers: ReadonlyArray<number>) {
  const storage = yield* Storage
  const parts = yield* FileParts
  const upload = yield* storage.begin(newKey(), "application/octet-stream")
  const sent = yield* Effect.forEach(
    numbers,
    (partNumber) =>
      Effect.map(
        parts.receive({ uploadId: upload.id, partNumber, maxSize: 64 * mebibyte }, partOf64MiB),
        ({ eTag }) => ({ partNumber, eTag })
      ),
    { concurrency: 4 }
  )
  yield* storage.complete(upload, sent)
  const size = yield* Stream.runFold(
    storage.read(upload.key),
    () => 0,
    (sum, bytes) => sum + bytes.length
  )
  yield* storage.remove(upload.key)
  return size
})

describe("the memory of FileStorage", () => {
  it.live(
    "stays flat while 512 MiB are received, joined and read",
    () =>
      onStorage(() =>
        Effect.gen(function* () {
          yield* pass([1])
          const began = performance.now()
          const before = held()
          let most = before
          yield* Effect.forkChild(
            Effect.repeat(
              Effect.sync(() => (most = Math.max(most, held()))),
              Schedule.spaced("250 millis")
            )
          )
          assert.strictEqual(yield* pass([1, 2, 3, 4, 5, 6, 7, 8]), 512 * mebibyte)
          assert.isBelow((most - before) / mebibyte, 100, "MiB of growth")
          assert.isBelow(performance.now() - began, 60_000)
        })
      ),
    90_000
  )
})
