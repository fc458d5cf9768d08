import { assert, layer } from "@effect/vitest"
import { Effect, Logger, Stream } from "effect"
import { mkdirSync, rmdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { storageKey } from "../../src/domain/assets/File.ts"
import { sweep, sweepOrphans } from "../../src/jobs/Sweeper.ts"
import { Storage, StorageUnavailableError } from "../../src/storage/Storage.ts"
import { download } from "../support/requests/FileRequests.ts"
import { createProduct } from "../support/requests/ProductRequests.ts"
import { create as createLocation, send } from "../support/requests/Requests.ts"
import { begin, complete, putPart, uncomplete, upload } from "../support/requests/UploadRequests.ts"
import {
  attach,
  bytes,
  execute,
  expire,
  folderOf,
  hasBytes,
  hour,
  objects,
  offer,
  services,
  show,
  statusOf,
  sweepAt,
  unattachedFor,
  uploads
} from "../support/Sweeping.ts"

const endedFor = (sessions: ReadonlyArray<{ readonly uuid: string }>, interval: string) =>
  execute(
    "update upload_sessions set expires_at = now() - $2::interval where uuid = any ($1::uuid[])",
    sessions.map(({ uuid }) => uuid),
    interval
  )

layer(services, { excludeTestServices: true })("sweeper", (it) => {
  it.effect("a sweep expires overdue uploads, removes their bytes, and keeps other uploads", () =>
    Effect.gen(function* () {
      const before = yield* uploads
      const [late, joined, open] = [yield* begin(3), yield* begin(3), yield* begin(3)]
      yield* putPart(late, 1, bytes)
      const part = yield* putPart(open, 1, bytes)
      // An upload whose completion was interrupted by a crash after its parts were joined.
      const completed = yield* complete(joined.uuid, [yield* putPart(joined, 1, bytes)])
      const { fileUuid } = completed.body.data
      yield* uncomplete(joined.uuid, fileUuid)
      yield* expire(late.uuid)
      yield* expire(joined.uuid)
      yield* sweep
      assert.deepStrictEqual(
        [yield* statusOf(late.uuid), yield* statusOf(joined.uuid), yield* statusOf(open.uuid)],
        ["expired", "expired", "open"]
      )
      assert.strictEqual((yield* uploads).length, before.length + 2)
      assert.isFalse(yield* hasBytes(fileUuid))
      assert.strictEqual((yield* complete(open.uuid, [part])).status, 200)
    })
  )

  it.effect("a sweep keeps an upload that is being completed", () =>
    Effect.gen(function* () {
      const session = yield* begin(3)
      yield* putPart(session, 1, bytes)
      yield* execute(
        "update upload_sessions set claimed_until = now() + interval '1 hour' where uuid = $1",
        session.uuid
      )
      yield* expire(session.uuid)
      yield* sweep
      assert.strictEqual(yield* statusOf(session.uuid), "open")
      yield* execute(
        "update upload_sessions set claimed_until = now() - interval '1 second' where uuid = $1",
        session.uuid
      )
      yield* sweep
      assert.strictEqual(yield* statusOf(session.uuid), "expired")
    })
  )

  it.effect(
    "a sweep removes files that were unattached for a week, with their bytes and thumbnails, and no others",
    () =>
      Effect.gen(function* () {
        const storage = yield* Storage
        const [old, young, asset, shown, offered] = yield* Effect.replicateEffect(upload(bytes), 5)
        const [location, product] = [yield* createLocation(), yield* createProduct()]
        assert.strictEqual((yield* attach(asset!.fileUuid)).status, 201)
        assert.strictEqual((yield* show(location, shown!.fileUuid)).status, 200)
        for (const { fileUuid } of [shown!, offered!]) {
          assert.strictEqual((yield* offer(product, fileUuid)).status, 200)
        }
        const { fileUuid } = old!
        for (const name of [`thumbnail_${fileUuid}.webp`, `preview_${fileUuid}.jpg`]) {
          yield* storage.write(`${fileUuid.slice(-4, -2)}/${fileUuid.slice(-2)}/${name}`, bytes, "image/webp")
        }
        for (const file of [old!, asset!, shown!, offered!]) yield* unattachedFor(file.fileUuid, "7 days 1 minute")
        yield* unattachedFor(young!.fileUuid, "6 days 23 hours")
        yield* sweep
        assert.isFalse(yield* hasBytes(fileUuid))
        assert.strictEqual((yield* download(old!.url)).status, 404)
        assert.strictEqual((yield* attach(fileUuid)).status, 404)
        for (const file of [young!, asset!, shown!, offered!])
          assert.strictEqual((yield* download(file.url)).text, "abc")

        // The week begins when the last reference to a file is removed.
        for (const [path, file] of [
          [`/v1/locations/${location}`, shown!],
          [`/v1/products/${product}`, offered!]
        ] as const) {
          assert.strictEqual((yield* send("DELETE", path)).status, 200)
          yield* sweep
          assert.isTrue(yield* hasBytes(file.fileUuid))
          yield* unattachedFor(file.fileUuid, "8 days")
          yield* sweep
          assert.isFalse(yield* hasBytes(file.fileUuid))
        }
        assert.isTrue(yield* hasBytes(asset!.fileUuid))
      })
  )

  it.effect("a sweep removes the rows of uploads that ended more than a week ago, unless they have a file", () =>
    Effect.gen(function* () {
      const [late, aborted, young, open] = [yield* begin(3), yield* begin(3), yield* begin(3), yield* begin(3)]
      const completed = yield* Effect.replicateEffect(begin(3), 2)
      const files: Array<string> = []
      for (const session of completed)
        files.push((yield* complete(session.uuid, [yield* putPart(session, 1, bytes)])).body.data.fileUuid)
      yield* attach(files[0]!)
      for (const { uuid } of [aborted, young]) yield* send("DELETE", `/v1/uploads/${uuid}`)
      yield* endedFor([late, aborted, ...completed], "7 days 1 minute")
      yield* endedFor([young], "6 days 23 hours")
      yield* sweep
      const statuses = Effect.forEach([late, aborted, young, open, ...completed], ({ uuid }) => statusOf(uuid))
      assert.deepStrictEqual(yield* statuses, [undefined, undefined, "aborted", "open", "completed", "completed"])

      // A file that is deleted takes the row of its upload along.
      yield* unattachedFor(files[1]!, "8 days")
      yield* sweep
      assert.deepStrictEqual(yield* statuses, [undefined, undefined, "aborted", "open", "completed", undefined])
      assert.strictEqual((yield* send("GET", `/v1/uploads/${aborted.uuid}`)).status, 404)
    })
  )

  it.effect("a sweep removes objects without a row after two days, and none with a row", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const folder = yield* folderOf("objects")
      const orphan = Effect.fnUntraced(function* (prefix = "", suffix = "") {
        const uuid = crypto.randomUUID()
        const key = `${uuid.slice(-4, -2)}/${uuid.slice(-2)}/${prefix}${uuid}${suffix}`
        yield* storage.write(key, bytes, "text/plain")
        return key
      })
      const kept = yield* upload(bytes)
      const attached = yield* upload(bytes)
      yield* attach(attached.fileUuid)
      // A crash between storing the bytes and the row, which is created when the upload is completed again.
      const session = yield* begin(3)
      const parts = [yield* putPart(session, 1, bytes)]
      const { fileUuid } = (yield* complete(session.uuid, parts)).body.data
      yield* uncomplete(session.uuid, fileUuid)
      const half = yield* storage.begin("ab/cd/0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30", "text/plain")
      const old = [yield* orphan(), yield* orphan("thumbnail_", ".webp"), yield* orphan("preview_", ".jpg")]
      const foreign = "ab/cd/foreign.txt"
      yield* storage.write(foreign, bytes, "text/plain")
      yield* Effect.sleep("50 millis")
      const young = yield* orphan()
      const bornYoung = Math.floor(statSync(join(folder, young)).ctimeMs)
      yield* sweepAt(bornYoung + 48 * hour - 25)
      const after = yield* objects
      for (const key of old) assert.notInclude(after, key)
      for (const key of [young, foreign]) assert.include(after, key)
      assert.strictEqual((yield* download(kept.url)).text, "abc")
      assert.strictEqual((yield* download(attached.url)).text, "abc")

      yield* sweepAt(bornYoung + 49 * hour)
      assert.notInclude(yield* objects, young)
      assert.isTrue(yield* hasBytes(kept.fileUuid))
      assert.isTrue(yield* hasBytes(attached.fileUuid))
      assert.isFalse((yield* uploads).some((path) => path.includes(half.id)))
      const again = yield* complete(session.uuid, parts)
      assert.strictEqual(again.body.data.fileUuid, fileUuid)
      assert.strictEqual((yield* download(again.body.data.url)).text, "abc")
    })
  )

  it.effect("a sweep removes no objects when most of them belong to another installation", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const known = (yield* objects).length
      const keys = Array.from({ length: known + 5 }, () => {
        const uuid = crypto.randomUUID()
        return `${uuid.slice(-4, -2)}/${uuid.slice(-2)}/${uuid}`
      })
      for (const key of keys) yield* storage.write(key, bytes, "text/plain")
      yield* sweepAt(Date.now() + 49 * hour)
      const after = yield* objects
      for (const key of keys) assert.include(after, key)
      for (const key of keys) yield* storage.remove(key)
    })
  )

  it.effect("an object that cannot be removed is logged, and the sweep removes the others", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const folder = yield* folderOf("objects")
      yield* Effect.replicateEffect(upload(bytes), 4)
      const [removable, stuck, after] = Array.from({ length: 3 }, () => storageKey(crypto.randomUUID()))
      for (const key of [removable!, after!]) yield* storage.write(key, bytes, "text/plain")
      // A folder in the place of an object.
      mkdirSync(join(folder, stuck!), { recursive: true })
      const lines: Array<string> = []
      const logger = Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])
      yield* Effect.provide(sweepAt(Date.now() + 49 * hour), logger)
      rmdirSync(join(folder, stuck!))
      const left = yield* objects
      for (const key of [removable!, after!]) assert.notInclude(left, key)
      assert.deepStrictEqual(
        lines.map((line) => [JSON.parse(line).message].flat()[0]),
        [`Could not remove the unused bytes of ${stuck}; a later sweep removes them`]
      )
    })
  )

  it.effect("a sweep passes over single failures, ends after ten in a row, and ends old uploads then too", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      yield* Effect.replicateEffect(upload(bytes), 25)
      const orphans = Array.from({ length: 20 }, () => storageKey(crypto.randomUUID()))
      for (const key of orphans) yield* storage.write(key, bytes, "text/plain")
      /**
       * The number of removals, of warnings and of ended uploads of a sweep in which the removals fail that `fails` selects by their
       * number.
       */
      const swept = Effect.fnUntraced(function* (fails: (call: number) => boolean) {
        let calls = 0
        let ended = 0
        const uploads = Stream.make({ key: "objects/old", id: "old", beganAt: 0 })
        const abort = () => Effect.sync(() => void ended++)
        const remove = (key: string) =>
          fails(++calls) ? Effect.fail(new StorageUnavailableError({ message: "No answer" })) : storage.remove(key)
        const lines: Array<string> = []
        const logger = Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])
        const exit = yield* sweepOrphans(Date.now() + 49 * hour).pipe(
          Effect.provideService(Storage, { ...storage, abort, remove, uploads }),
          Effect.provide(logger),
          Effect.exit
        )
        return [exit._tag, calls, lines.length, ended]
      })
      assert.deepStrictEqual(yield* swept(() => true), ["Failure", 10, 9, 1])
      assert.deepStrictEqual(yield* swept((call) => call % 10 !== 0), ["Success", 20, 18, 1])
      assert.deepStrictEqual(yield* swept(() => false), ["Success", 18, 0, 1])
    })
  )

  it.effect("after a recovery a sweep removes nothing for two days, and no unused file for a week", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      // Recovered to a time before this file was attached, this upload completed and this object stored.
      const { fileUuid: unused } = yield* upload(bytes)
      yield* unattachedFor(unused, "8 days")
      const session = yield* begin(3)
      const { fileUuid: joined } = (yield* complete(session.uuid, [yield* putPart(session, 1, bytes)])).body.data
      yield* uncomplete(session.uuid, joined)
      yield* expire(session.uuid)
      const ended = yield* begin(3)
      yield* send("DELETE", `/v1/uploads/${ended.uuid}`)
      yield* endedFor([ended], "8 days")
      const unknown = crypto.randomUUID()
      yield* storage.write(storageKey(unknown), bytes, "text/plain")
      yield* execute("insert into event_generations (after_position) select position from event_log")
      const keptAfter = Effect.fnUntraced(function* (time: string) {
        yield* execute("update event_generations set began_at = now() - $1::interval where number > 1", time)
        yield* sweepAt(Date.now() + 49 * hour)
        const kept = yield* Effect.forEach([unused, joined, unknown], hasBytes)
        return [...kept, (yield* statusOf(ended.uuid)) !== undefined]
      })
      assert.deepStrictEqual(yield* keptAfter("47 hours"), [true, true, true, true])
      assert.deepStrictEqual(yield* keptAfter("49 hours"), [true, false, false, true])
      assert.deepStrictEqual(yield* keptAfter("6 days 23 hours"), [true, false, false, true])
      assert.deepStrictEqual(yield* keptAfter("7 days 1 hour"), [false, false, false, false])
    })
  )
})
