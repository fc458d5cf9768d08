import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Clock, Deferred, Effect, Exit, Fiber, Layer, Option } from "effect"
import { ApiKeyId } from "../../src/domain/keys/ApiKey.ts"
import { FileId } from "../../src/domain/assets/File.ts"
import * as ThumbnailJobs from "../../src/jobs/ThumbnailJobs.ts"
import { RenderFailedError, Renderer } from "../../src/media/Renderer.ts"
import { Files, type StoredFile } from "../../src/repositories/assets/Files.ts"
import { ThumbnailQueue } from "../../src/repositories/assets/ThumbnailQueue.ts"
import { ApiKeys } from "../../src/services/ApiKeys.ts"
import { ThumbnailPatience, Thumbnails } from "../../src/services/Thumbnails.ts"
import { CopyFailedError, Storage } from "../../src/storage/Storage.ts"
import * as TestServer from "../support/TestServer.ts"
import { eventually } from "../support/Until.ts"

const file = (number: number, uploadedBy?: ApiKeyId): StoredFile => ({
  uuid: FileId.make(`00000000-0000-4000-8000-00000000000${number}`),
  fileName: "a.svg",
  extension: "svg",
  mimeType: "image/svg+xml",
  size: 100,
  sha256: "",
  pathName: "a.svg",
  processing: "pending",
  ...(uploadedBy === undefined ? {} : { uploadedBy })
})

const [one, other] = [1, 2].map((number) => ApiKeyId.make(`00000000-0000-4000-8000-10000000000${number}`))

const thumbnail = { size: "thumbnail", format: "webp" } as const

/** Lets every fiber run until it waits: nothing here waits for anything outside of this process. */
const settled = Effect.promise(async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
})

interface Options {
  readonly stored?: ReadonlyArray<StoredFile>
  /** The files in a remote store that are copied until `copy`. */
  readonly remote?: ReadonlyArray<number>
}

/** Thumbnails of stored files, with a renderer that records the files it works on, and works on each until `finish`. */
const stage = (patience: string | number, { remote = [], stored = [] }: Options = {}) => {
  const begun: Array<string> = []
  const marked: Array<string> = []
  const copying: Array<string> = []
  const copies = new Map(remote.map((number) => [String(number), Deferred.makeUnsafe<void, CopyFailedError>()]))
  const written = new Set<string>()
  const jobs = new Map<string, Deferred.Deferred<void, RenderFailedError>>()
  const numberOf = (path: string) => path.slice(-1)
  const services = Layer.mergeAll(
    Layer.mock(Renderer, {
      check: () => Effect.void,
      render: ({ path }, wanted) =>
        Effect.suspend(() => {
          const job = Deferred.makeUnsafe<void, RenderFailedError>()
          begun.push(numberOf(path))
          jobs.set(numberOf(path), job)
          return Effect.as(Deferred.await(job), { images: wanted.map(() => new Uint8Array(1)) })
        }),
      prepareNext: Effect.void,
      icon: () => Effect.succeed(new Uint8Array(1))
    }),
    Layer.mock(ApiKeys, { shareOf: (uuid) => Effect.succeed(uuid) }),
    Layer.mock(Files, {
      rendered: (_, { processing }) => Effect.sync(() => void marked.push(processing)),
      find: (uuid) => Effect.succeed(Arr.findFirst(stored, (file) => file.uuid === uuid))
    }),
    Layer.mock(Storage, {
      localFile: (key) =>
        Effect.suspend(() => {
          copying.push(numberOf(key))
          const copied = copies.get(numberOf(key))
          return Effect.as(copied === undefined ? Effect.void : Deferred.await(copied), key)
        }),
      size: (key) => Effect.sync(() => (written.has(key) ? Option.some(1) : Option.none())),
      write: (key) => Effect.sync(() => void written.add(key))
    }),
    TestServer.settings(remote.length === 0 ? {} : { STORAGE: "s3", S3_BUCKET: "files" }),
    Layer.succeed(ThumbnailPatience, patience as "1 minute")
  )
  const working = (number: number) =>
    eventually(
      `file ${number} is rendered`,
      Effect.sync(() => jobs.get(String(number))),
      (job) => job !== undefined
    )
  return {
    services,
    layer: Thumbnails.layer.pipe(Layer.provide(services)),
    begun,
    /** What files became. */
    marked,
    copying,
    copy: (number: number) => Deferred.succeed(copies.get(String(number))!, undefined),
    failCopy: (number: number, error: CopyFailedError) => Deferred.fail(copies.get(String(number))!, error),
    finish: (number: number) => Effect.flatMap(working(number), (job) => Deferred.succeed(job!, undefined)),
    fail: (number: number, error: RenderFailedError) =>
      Effect.flatMap(working(number), (job) =>
        Effect.andThen(
          Deferred.fail(job!, error),
          Effect.sync(() => jobs.delete(String(number)))
        )
      ),
    working
  }
}

const tookTooLong = new RenderFailedError({ message: "The image took too long", fault: "tookTooLong" })
const endedProcess = new RenderFailedError({ message: "The process ended", fault: "endedProcess" })
const fullDisk = new RenderFailedError({ message: "The file cannot be read" })

describe("the order of thumbnails", () => {
  it.live("requests go before background work, and files that exceeded the time limit go last", () => {
    const { begun, fail, finish, layer, working } = stage("1 minute")
    return Effect.gen(function* () {
      const thumbnails = yield* Thumbnails
      const inBackground = (number: number) => Effect.forkChild(Effect.exit(thumbnails.make(file(number))))
      const requested = (number: number) => Effect.forkChild(thumbnails.get(file(number), thumbnail))

      const slow = yield* inBackground(1)
      yield* fail(1, tookTooLong)
      yield* Fiber.join(slow)
      const first = yield* inBackground(2)
      yield* working(2)
      // Each waits before the next one comes.
      const waiting = [yield* inBackground(1), yield* inBackground(3), yield* inBackground(4), yield* requested(5)]
      yield* settled
      waiting.push(yield* requested(4))
      yield* settled
      for (const number of [2, 4, 5, 3, 1]) yield* finish(number)
      yield* Fiber.joinAll([first, ...waiting])
      assert.deepStrictEqual(begun, ["1", "2", "4", "5", "3", "1"])
    }).pipe(Effect.provide(layer), Effect.scoped)
  })

  it.live("a request is answered with the icon while a thumbnail takes long, and with the thumbnail later", () => {
    const { begun, finish, layer } = stage(20)
    return Effect.gen(function* () {
      const thumbnails = yield* Thumbnails
      const get = thumbnails.get(file(1), thumbnail)
      const icon = yield* get
      assert.isTrue("bytes" in icon.source)
      assert.isFalse(icon.isFinal)
      yield* finish(1)
      const made = yield* eventually("the thumbnail is made", get, ({ isFinal }) => isFinal)
      assert.isTrue("key" in made.source)
      assert.deepStrictEqual(begun, ["1"])
    }).pipe(Effect.provide(layer), Effect.scoped)
  })

  for (const error of [tookTooLong, fullDisk])
    it.live(`a request does not render a file that failed less than a minute ago (${error.message})`, () => {
      const { begun, fail, layer } = stage("1 minute")
      return Effect.gen(function* () {
        const thumbnails = yield* Thumbnails
        const first = yield* Effect.forkChild(thumbnails.get(file(1), thumbnail))
        yield* fail(1, error)
        for (const answer of [yield* Fiber.join(first), yield* thumbnails.get(file(1), thumbnail)]) {
          assert.isTrue("bytes" in answer.source)
          assert.isFalse(answer.isFinal)
        }
        assert.deepStrictEqual(begun, ["1"])
      }).pipe(Effect.provide(layer), Effect.scoped)
    })

  it.live("a file that cannot be copied gets its icon, and no request copies it again for a minute", () => {
    const { copying, failCopy, layer } = stage("1 minute", { remote: [1] })
    return Effect.gen(function* () {
      const thumbnails = yield* Thumbnails
      yield* failCopy(1, new CopyFailedError({ message: "The file does not fit" }))
      for (let request = 0; request < 2; request++) {
        const answer = yield* thumbnails.get(file(1), thumbnail)
        assert.isTrue("bytes" in answer.source)
        assert.isFalse(answer.isFinal)
      }
      assert.deepStrictEqual(copying, ["1"])
      assert.strictEqual((yield* Effect.flip(thumbnails.make(file(1))))._tag, "RenderFailedError")
    }).pipe(Effect.provide(layer), Effect.scoped)
  })

  it.live("keys take turns: a file is not behind all files of another key", () => {
    const { begun, finish, layer, working } = stage("1 minute")
    return Effect.gen(function* () {
      const thumbnails = yield* Thumbnails
      // By this clock no time passes, so that no turn ends before its file is finished.
      const still = Object.assign(Object.create(yield* Clock.Clock) as Clock.Clock, { sleep: () => Effect.never })
      const requested = (number: number, key?: ApiKeyId) =>
        Effect.forkChild(Effect.provideService(thumbnails.get(file(number, key), thumbnail), Clock.Clock, still))
      const first = yield* requested(1, one)
      yield* working(1)
      const waiting = [yield* requested(2, one), yield* requested(3, one)]
      yield* settled
      waiting.push(yield* requested(4, other))
      yield* settled
      for (const number of [1, 4, 2, 3]) yield* finish(number)
      yield* Fiber.joinAll([first, ...waiting])
      assert.deepStrictEqual(begun, ["1", "4", "2", "3"])
    }).pipe(Effect.provide(layer), Effect.scoped)
  })

  it.live(
    "large files of one key that are copied delay a file of another key for a turn, and one of them goes on",
    () => {
      const { begun, copy, copying, finish, layer, working } = stage("1 minute", { remote: [1, 2] })
      return Effect.gen(function* () {
        const thumbnails = yield* Thumbnails
        const requested = (number: number, key?: ApiKeyId) =>
          Effect.forkChild(thumbnails.get(file(number, key), thumbnail))
        const copies = (count: number) =>
          eventually(
            `${count} copies are begun`,
            Effect.sync(() => copying.length),
            (length) => length === count
          )
        const large = [yield* requested(1, one), yield* requested(2, one)]
        yield* copies(2)
        const small = yield* requested(3, other)
        yield* working(3)
        yield* finish(3)
        yield* Fiber.join(small)
        yield* copies(4)
        for (const number of [1, 2]) yield* Effect.andThen(copy(number), finish(number))
        yield* Fiber.joinAll(large)
        assert.deepStrictEqual(copying, ["1", "2", "3", "2"])
        assert.deepStrictEqual(begun, ["3", "1", "2"])
      }).pipe(Effect.provide(layer), Effect.scoped)
    }
  )

  it.live("a copy that delays no other file ends no turn, and its key ends turns afterwards", () => {
    const { begun, copy, copying, finish, layer, working } = stage("1 minute", { remote: [1] })
    return Effect.gen(function* () {
      const thumbnails = yield* Thumbnails
      const requested = (number: number, key?: ApiKeyId) =>
        Effect.forkChild(thumbnails.get(file(number, key), thumbnail))
      const waiting = [yield* requested(2, one)]
      yield* working(2)
      waiting.push(yield* requested(1, other))
      yield* Effect.sleep("2 seconds")
      assert.deepStrictEqual([copying, begun], [["2", "1"], ["2"]])
      yield* copy(1)
      yield* finish(1)
      yield* eventually(
        "the other file is rendered again",
        Effect.sync(() => begun.length),
        (length) => length === 3
      )
      yield* finish(2)
      yield* Fiber.joinAll(waiting)
      assert.deepStrictEqual(begun, ["2", "1", "2"])
    }).pipe(Effect.provide(layer), Effect.scoped)
  })

  it.live("a file of another key is made in the background before the other files of a key with many", () => {
    const stored = [file(1, one), file(2, one), file(3, one), file(4, other)]
    const queues = new Map([["one", stored.slice(0, 3)]])
    const { begun, finish, layer, services, working } = stage("1 minute", { stored })
    const queue = Layer.mock(ThumbnailQueue, {
      names: Effect.sync(() => [...queues.keys()]),
      take: (name, handle) =>
        Effect.suspend(() => {
          const next = queues.get(name)?.shift()
          return next === undefined ? Effect.succeed(false) : Effect.as(handle(next.uuid), true)
        })
    })
    return Effect.gen(function* () {
      yield* Layer.build(ThumbnailJobs.layer.pipe(Layer.provide([layer, services, queue])))
      yield* working(1)
      queues.set("other", stored.slice(3))
      yield* eventually(
        "the file of the other key is taken",
        Effect.sync(() => queues.get("other")),
        (left) => left?.length === 0
      )
      yield* settled
      for (const number of [1, 4, 2, 3]) yield* finish(number)
      yield* eventually(
        "all files are begun",
        Effect.sync(() => begun.length),
        (length) => length === 4
      )
      assert.deepStrictEqual(begun, ["1", "4", "2", "3"])
    }).pipe(Effect.scoped)
  })

  it.live(
    "a file that takes long yields to a requested file of another key, and its key ends no turn afterwards",
    () => {
      const { begun, finish, layer, working } = stage("1 minute")
      return Effect.gen(function* () {
        const thumbnails = yield* Thumbnails
        const requested = (number: number, key?: ApiKeyId) =>
          Effect.forkChild(thumbnails.get(file(number, key), thumbnail))
        const waiting = [yield* requested(1, one)]
        yield* working(1)
        waiting.push(yield* requested(4, other), yield* requested(2, one))
        yield* working(4)
        // Longer than a turn: the other key waits, but one of its files took too long.
        yield* Effect.sleep("1500 millis")
        assert.deepStrictEqual(begun, ["1", "4"])
        for (const number of [4, 2]) yield* finish(number)
        yield* eventually(
          "the first file is rendered again",
          Effect.sync(() => begun.length),
          (length) => length === 4
        )
        yield* finish(1)
        yield* Fiber.joinAll(waiting)
        assert.deepStrictEqual(begun, ["1", "4", "2", "1"])
      }).pipe(Effect.provide(layer), Effect.scoped)
    }
  )
})

/** Makes the thumbnails of a file, whose attempts fail with these errors; returns whether each attempt fails, and what the file became. */
const attempted = (errors: ReadonlyArray<RenderFailedError>) => {
  const { fail, layer, marked } = stage("1 minute")
  return Effect.gen(function* () {
    const thumbnails = yield* Thumbnails
    const isRetried: Array<boolean> = []
    for (const error of errors) {
      const made = yield* Effect.forkChild(Effect.exit(thumbnails.make(file(1))))
      yield* fail(1, error)
      isRetried.push(Exit.isFailure(yield* Fiber.join(made)))
    }
    return { isRetried, marked }
  }).pipe(Effect.provide(layer), Effect.scoped)
}

describe("the attempts to make thumbnails", () => {
  it.live("a file fails when it exceeds the time limit twice or ends five processes, and is not tried again", () =>
    Effect.gen(function* () {
      for (const [error, count] of [
        [tookTooLong, 2],
        [endedProcess, 5]
      ] as const) {
        const { isRetried, marked } = yield* attempted([fullDisk, ...Arr.replicate(error, count)])
        assert.deepStrictEqual(isRetried, [...Arr.replicate(true, count), false])
        assert.deepStrictEqual(marked, ["failed"])
      }
    })
  )

  it.live("a file stays pending after failures of the machine, and after as many of different kinds", () =>
    Effect.gen(function* () {
      for (const errors of [
        Arr.replicate(fullDisk, 6),
        [fullDisk, tookTooLong],
        [...Arr.replicate(endedProcess, 4), tookTooLong, fullDisk]
      ]) {
        const { isRetried, marked } = yield* attempted(errors)
        assert.deepStrictEqual([isRetried, marked], [errors.map(() => true), []])
      }
    })
  )
})
