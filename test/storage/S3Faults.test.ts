import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Exit, Fiber, Layer, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { spawnSync } from "node:child_process"
import { mkdir, readdir, rm, utimes, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable } from "node:stream"
import { bytesOf } from "../../src/storage/S3Body.ts"
import type { S3Options } from "../../src/storage/S3Client.ts"
import * as S3Storage from "../../src/storage/S3Storage.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { failing } from "../support/storage/Disks.ts"
import { atBest, eventually } from "../support/Until.ts"
import { failingStore, type Fault } from "../support/storage/StubStore.ts"

const shortTimeouts = { timeouts: { connection: 200, request: 400, total: 1000 } }
/** What an operation takes at most with these, on a busy machine. */
const maxMillis = 30_000
/** For stores that answer at once, and for what has to end before any of these limits does. */
const longTimeouts = { timeouts: { connection: 600_000, request: 600_000, total: 600_000 } }

type Service = Storage["Service"]

const storageOf = (options: S3Options) =>
  Effect.map(Layer.build(S3Storage.layer(options)), (context) => Context.get(context, Storage))

const upload = { key: "ab/cd/file", id: "upload" }

/** All operations of a storage. */
const operations: Readonly<Record<string, (storage: Service) => Effect.Effect<unknown, { readonly _tag: string }>>> = {
  check: (storage) => storage.check,
  begin: (storage) => storage.begin(upload.key, "text/plain"),
  parts: (storage) => storage.parts(upload),
  complete: (storage) => storage.complete(upload, [{ partNumber: 1, eTag: "a" }]),
  abort: (storage) => storage.abort(upload),
  uploads: (storage) => Stream.runDrain(storage.uploads),
  write: (storage) => storage.write(upload.key, new Uint8Array(10), "text/plain"),
  size: (storage) => storage.size(upload.key),
  read: (storage) => Stream.runDrain(storage.read(upload.key)),
  localFile: (storage) => Effect.scoped(storage.localFile(upload.key)),
  remove: (storage) => storage.remove(upload.key),
  objects: (storage) => Stream.runDrain(storage.objects)
}

/** The exit of an operation, with its number of requests and its duration. */
const outcome = Effect.fnUntraced(function* (
  fault: Fault,
  operation: keyof typeof operations,
  changes: Partial<S3Options>
) {
  const { options, seen } = yield* failingStore(fault)
  const storage = yield* storageOf({ ...options, ...changes })
  const before = performance.now()
  const exit = yield* Effect.exit(operations[operation]!(storage))
  return { exit, requests: seen.requests, milliseconds: performance.now() - before }
}, Effect.scoped)

const outcomeOfAbort = (fault: Fault) =>
  Effect.map(outcome(fault, "abort", longTimeouts), ({ exit, requests }) => [Exit.isSuccess(exit), requests])

const fails = (exit: Exit.Exit<unknown, { readonly _tag: string }>) =>
  Option.getOrUndefined(Exit.findErrorOption(exit))?._tag === "StorageUnavailableError"

describe("failing S3 store", () => {
  for (const fault of [
    "is overloaded",
    "has an internal error",
    "fails without an error code",
    "resets the connection",
    "closes the connection",
    "never answers"
  ] as const) {
    it.live(`if the store ${fault}, every operation fails after at most 3 attempts and in time`, () =>
      Effect.forEach(
        Object.keys(operations),
        Effect.fnUntraced(function* (operation) {
          const { exit, milliseconds, requests } = yield* outcome(fault, operation, shortTimeouts)
          assert.isTrue(fails(exit), `${operation}: ${JSON.stringify(exit)}`)
          assert.isTrue(requests >= 1 && requests <= 3, `${operation}: ${requests} requests`)
          assert.isBelow(milliseconds, maxMillis, operation)
        }, atBest),
        { concurrency: 4, discard: true }
      )
    )
  }

  it.live("an operation is attempted three times within 12 seconds", () =>
    Effect.forEach(
      ["is overloaded", "has an internal error", "resets the connection", "succeeds with an error inside"] as const,
      Effect.fnUntraced(function* (fault) {
        // Only the time of all attempts together, which is that of production, can end it.
        const timeouts = { connection: 60_000, request: 60_000, total: 12_000 }
        const { exit, milliseconds, requests } = yield* outcome(fault, "complete", { timeouts })
        assert.isTrue(fails(exit), fault)
        assert.deepStrictEqual([fault, requests], [fault, 3])
        assert.isBelow(milliseconds, 12_000)
      }, atBest),
      { concurrency: 4, discard: true }
    )
  )

  it.effect("a store that never responds fails the operation after 12 seconds", () =>
    Effect.gen(function* () {
      const { options } = yield* failingStore("never answers")
      const storage = yield* storageOf(options)
      const fiber = yield* Effect.forkChild(Effect.exit(storage.check), { startImmediately: true })
      yield* TestClock.adjust("11900 millis")
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("200 millis")
      assert.isTrue(fails(yield* Fiber.join(fiber)))
    })
  )

  for (const [fault, asked] of [
    ["succeeds with an error inside", ["begin", "parts", "complete", "uploads", "objects"]],
    ["succeeds with a web page", ["begin", "parts", "complete", "uploads", "write", "size", "read", "objects"]],
    ["succeeds with nothing", ["begin", "parts", "complete", "uploads", "write", "size", "read", "objects"]],
    ["lists the same page forever", ["objects"]],
    ["resets the connection in the middle", ["read", "localFile"]],
    ["closes the connection in the middle", ["read", "localFile"]],
    ["stops in the middle", ["read", "localFile"]]
  ] as const satisfies ReadonlyArray<readonly [Fault, ReadonlyArray<string>]>) {
    it.live(`if the store ${fault}, these operations fail: ${asked.join(", ")}`, () =>
      Effect.forEach(
        asked,
        Effect.fnUntraced(function* (operation) {
          const { exit, milliseconds } = yield* outcome(fault, operation, shortTimeouts)
          assert.isTrue(fails(exit), `${operation}: ${JSON.stringify(exit)}`)
          assert.isBelow(milliseconds, maxMillis, operation)
        }, atBest),
        { discard: true }
      )
    )
  }

  for (const fault of [
    "ignores ranges",
    "sends another range",
    "sends less than the range"
  ] as const satisfies ReadonlyArray<Fault>) {
    it.live(`if the store ${fault}, range reads fail`, () =>
      Effect.gen(function* () {
        const { options } = yield* failingStore(fault)
        const storage = yield* storageOf({ ...options, ...longTimeouts })
        for (const range of [{ offset: 5, length: 5 }, { offset: 0, length: 5 }, { offset: 7 }]) {
          assert.isTrue(
            fails(yield* Effect.exit(Stream.runDrain(storage.read(upload.key, range)))),
            JSON.stringify(range)
          )
        }
      })
    )
  }

  it.live("an interrupted read emits the received bytes and then fails", () =>
    Effect.gen(function* () {
      const { options } = yield* failingStore("resets the connection in the middle")
      const storage = yield* storageOf(options)
      let received = 0
      const exit = yield* Effect.exit(
        Stream.runForEach(storage.read(upload.key), (chunk) => Effect.sync(() => (received += chunk.length)))
      )
      assert.isTrue(fails(exit))
      assert.strictEqual(received, 500)
    })
  )

  it.live("a body with fewer or more bytes than announced fails", () =>
    Effect.gen(function* () {
      for (const [announced, isWhole] of [
        [9, false],
        [10, true],
        [11, false]
      ] as const) {
        const body = bytesOf(Readable.from([Buffer.alloc(4), Buffer.alloc(6)]), announced, Duration.minutes(10))
        assert.strictEqual(Exit.isSuccess(yield* Effect.exit(Stream.runDrain(body))), isWhole)
      }
    })
  )

  it.live("an upload that is completed already is completed also if the store compares the parts", () =>
    Effect.gen(function* () {
      assert.isTrue(Exit.isSuccess((yield* outcome("has joined other parts", "complete", longTimeouts)).exit))
    })
  )

  it.live("an abort is repeated while parts arrive, a limited number of times", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* outcomeOfAbort("gets a part after the abort"), [true, 4])
      assert.deepStrictEqual(yield* outcomeOfAbort("gets parts after every abort"), [false, 6])
    })
  )

  it.live("interrupting an operation closes its connection", () =>
    Effect.gen(function* () {
      const { options, seen } = yield* failingStore("never answers")
      const storage = yield* storageOf({ ...options, ...longTimeouts })
      const fiber = yield* Effect.forkChild(storage.check)
      const counted = Effect.sync(() => ({ ...seen }))
      yield* eventually("the store has the request", counted, ({ requests }) => requests > 0)
      yield* Fiber.interrupt(fiber)
      yield* eventually("the connection is closed", counted, ({ closed }) => closed > 0)
      yield* Effect.sleep("300 millis")
      assert.strictEqual(seen.requests, 1)
    })
  )

  it.live("a copy that does not fit into the folder of temporary files fails as such, and not as the store", () =>
    Effect.gen(function* () {
      const { options } = yield* failingStore("has half of the object")
      const storage = yield* storageOf(options)
      yield* Effect.scoped(storage.localFile(upload.key))
      yield* failing("writeFile", "ENOSPC", () => true)
      const error = yield* Effect.flip(Effect.scoped(storage.localFile(upload.key)))
      assert.strictEqual(error._tag, "CopyFailedError")
      assert.include(error.message, "TMPDIR")
    }).pipe(Effect.scoped)
  )

  it.live("copies of files that a killed process left are removed at the start, and no others", () =>
    Effect.gen(function* () {
      const { options } = yield* failingStore("stops in the middle")
      const storage = yield* storageOf({ ...options, ...longTimeouts })
      yield* Effect.forkScoped(Effect.exit(storage.localFile(upload.key)))
      const own = `waypost-object-${process.pid}-`
      const copies = Effect.promise(async () =>
        (await readdir(tmpdir())).filter((name) => /^waypost-object-\d+-/.test(name))
      )
      const current = yield* eventually(
        "the file is copied",
        Effect.map(copies, (names) => names.find((name) => name.startsWith(own))),
        (name) => name !== undefined
      )
      const [ended, earlier, other] = [
        `waypost-object-${spawnSync("true").pid}-a`,
        `${own}a`,
        `waypost-object-${process.ppid}-a`
      ]
      for (const name of [ended, earlier, other]) {
        const folder = join(tmpdir(), name)
        yield* Effect.acquireRelease(
          Effect.promise(() => mkdir(folder)),
          () => Effect.promise(() => rm(folder, { recursive: true, force: true }))
        )
        yield* Effect.promise(() => writeFile(join(folder, "copy"), "copy"))
      }
      // A process that had the pid of this one.
      const before = new Date(performance.timeOrigin - 1000)
      yield* Effect.promise(() => utimes(join(tmpdir(), earlier), before, before))
      yield* storageOf(options)
      const left = yield* copies
      assert.deepStrictEqual(
        [current!, ended, earlier, other].map((name) => left.includes(name)),
        [true, false, false, true]
      )
    }).pipe(Effect.scoped)
  )

  for (const [fault, ofWrite, ofCheck] of [
    [
      "denies access",
      "The object store rejects the credentials, or they lack a permission (AccessDenied)",
      "The object store rejects the credentials, or they lack a permission (403)"
    ],
    [
      "has the bucket in another region",
      "The bucket is in another region than S3_REGION (PermanentRedirect)",
      "The bucket is in another region than S3_REGION (301)"
    ],
    [
      "rejects the region of the signature",
      "The bucket is in another region than S3_REGION (AuthorizationHeaderMalformed)",
      "The object store rejects the request: S3_REGION is wrong, or the credentials have expired (400)"
    ],
    ["fails without an error code", "The object store failed (502)", "The object store failed (502)"]
  ] as const satisfies ReadonlyArray<readonly [Fault, string, string]>) {
    it.live(`a store that ${fault} is reported as such, also for a request whose answers have no body`, () =>
      Effect.gen(function* () {
        const { options } = yield* failingStore(fault)
        const storage = yield* storageOf({ ...options, ...longTimeouts })
        const write = yield* Effect.flip(storage.write(upload.key, new Uint8Array(10), "text/plain"))
        const check = yield* Effect.flip(storage.check)
        const place = `: bucket ${options.bucket} at ${options.endpoint}`
        assert.deepStrictEqual([write.message, check.message], [ofWrite + place, ofCheck + place])
      })
    )
  }

  it.live("an unreachable store is reported with the bucket and the endpoint", () =>
    Effect.gen(function* () {
      const options = yield* Effect.scoped(Effect.map(failingStore("never answers"), ({ options }) => options))
      const storage = yield* storageOf({ ...options, ...longTimeouts })
      const error = yield* Effect.flip(storage.check)
      assert.strictEqual(
        error.message,
        `The object store cannot be reached (ECONNREFUSED): bucket ${options.bucket} at ${options.endpoint}`
      )
    })
  )
})
