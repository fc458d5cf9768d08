import { assert, describe, it } from "@effect/vitest"
import { Effect, Schedule, Stream } from "effect"
import { FileParts } from "../../src/storage/FileParts.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { newKey } from "../support/storage/Parts.ts"
import { onStorage } from "./PartServer.ts"

const mebibyte = 1024 * 1024
const chunk = Buffer.alloc(mebibyte / 16, "x")
const partOf64MiB = Stream.range(1, 1024).pipe(Stream.map(() => chunk))

/** Receives parts of 64 MiB, joins them and reads the object; returns its size. */
const pass = Effect.fnUntraced(function* (numbers: ReadonlyArray<number>) {
  const storage = yield* Storage
  const parts = yield* FileParts
  const upload = yield* storage.begin(newKey(), "application/octet-stream")
  const sent = yield* Effect.forEach(
    numbers,
    (partNumber) =>
      Effect.map(
        parts.receive({ uploadId: upload.id, partNumber, maxSize: numbers.length * 64 * mebibyte }, partOf64MiB),
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

describe("memory of FileStorage", () => {
  it.live("receiving, joining and reading 512 MiB keeps memory flat", () =>
    onStorage(() =>
      Effect.gen(function* () {
        yield* pass([1])
        const before = process.memoryUsage.rss()
        const growth: Array<number> = []
        yield* Effect.forkChild(
          Effect.repeat(
            Effect.sync(() => growth.push((process.memoryUsage.rss() - before) / mebibyte)),
            Schedule.spaced("20 millis")
          )
        )
        assert.strictEqual(yield* pass([1, 2, 3, 4, 5, 6, 7, 8]), 512 * mebibyte)
        // On a busy machine garbage collection may lag, so the peak has a higher limit than the median.
        assert.isBelow(growth.toSorted((a, b) => a - b)[growth.length >> 1]!, 100, "MiB of median growth")
        assert.isBelow(Math.max(...growth), 200, "MiB of peak growth")
      })
    )
  )
})
