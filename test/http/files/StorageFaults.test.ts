import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { randomBytes } from "node:crypto"
import { request } from "node:http"
import { join } from "node:path"
import { Settings } from "../../../src/settings/Config.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { failing, smallDisk, smallDiskIs } from "../../support/storage/Disks.ts"
import { filesBelow } from "../../support/storage/Folder.ts"
import { begin, complete, partsOf, pathOf, put, send } from "../../support/requests/UploadParts.ts"
import { type SentPart, uncomplete } from "../../support/requests/UploadRequests.ts"
import { eventually } from "../../support/Until.ts"
import * as Wire from "../../support/wire/Wire.ts"
import { asset, assertUnavailable, during, onStore, rows, sent } from "../../support/storage/BrokenStorage.ts"

const initialize = send("POST", "/v1/uploads/init-multi-part", {
  body: JSON.stringify({ fileName: "file.bin", fileSize: 1000 })
})

/** Begins an upload as a client that hangs up when `isTime`. */
const hangUpWhen = Effect.fnUntraced(function* (isTime: Effect.Effect<unknown, unknown, Sql>) {
  const { fullKey, port } = yield* Wire.Wire
  const outgoing = request({
    host: "127.0.0.1",
    port,
    method: "POST",
    path: "/v1/uploads/init-multi-part",
    headers: { authorization: fullKey, "content-type": "application/json" }
  })
  outgoing.on("error", () => {})
  outgoing.end(JSON.stringify({ fileName: "file.bin", fileSize: 1000 }))
  yield* isTime
  outgoing.destroy()
})

/** Asserts that an asset can be read: everything but its bytes is in the database. */
const assertReads = Effect.fnUntraced(function* (uuid: string) {
  for (const path of [`/v1/assets/${uuid}`, "/v1/assets", "/v1/assets/search?search=file"]) {
    assert.strictEqual((yield* send("GET", path)).status, 200, path)
  }
})

const assertDownload = Effect.fnUntraced(function* (url: string, bytes: Uint8Array) {
  const { headers, status } = yield* send("GET", pathOf(url), { key: null })
  assert.deepStrictEqual([status, headers["content-length"]], [200, String(bytes.length)])
})

const below = (folder: "temporary" | "uploads") =>
  Effect.map(Settings, ({ DATA_DIR }) => filesBelow(join(DATA_DIR, "files", folder)))
const temporary = below("temporary")

const execute = (statement: string) =>
  Effect.flatMap(Sql, ({ pooled }) => pooled.unsafe<{ readonly open: number; readonly status: string }>(statement))

/** The number of uploads that count as open. */
const openUploads = Effect.map(
  execute("select count(*)::int as open from upload_sessions where status = 'open'"),
  (rows) => rows[0]!.open
)

/** The number of transactions in `pg_sleep`. */
const sleeping = Effect.map(
  execute(`select count(*)::int as open from pg_stat_activity
    where datname = current_database() and wait_event = 'PgSleep'`),
  (rows) => rows[0]!.open
)

const onSmallDisk = Layer.unwrap(Effect.map(smallDisk, (folder) => Wire.layer({ DATA_DIR: folder })))

layer(onSmallDisk, { excludeTestServices: true })(`Full storage disk (${smallDiskIs})`, (it) => {
  it.effect("a part that does not fit on the disk is a 503 and leaves no bytes; reads and small files still work", () =>
    Effect.gen(function* () {
      const bytes = randomBytes(100_000)
      const { url, uuid } = yield* asset(bytes)
      const before = yield* rows
      const large = yield* begin(3_000_000)
      assertUnavailable(yield* put(large.parts[0]!.url, randomBytes(3_000_000)))
      assert.deepStrictEqual(yield* partsOf(large.uuid), [])
      assert.deepStrictEqual(yield* temporary, [])
      assert.deepStrictEqual(yield* rows, before)
      yield* assertReads(uuid)
      yield* assertDownload(url, bytes)
      yield* asset(randomBytes(1000))
    })
  )
})

layer(Wire.layer(), { excludeTestServices: true })("Storage disk that cannot flush", (it) => {
  it.effect("if fsync fails, every upload step is a 503 and no file is created; reads work, and a retry succeeds", () =>
    Effect.gen(function* () {
      const bytes = randomBytes(1000)
      const { url, uuid } = yield* asset(bytes)
      const before = yield* rows
      const begun = yield* begin(1000)
      const arrived = yield* sent(bytes)
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* failing("sync", "EIO", () => true)
          assertUnavailable(yield* initialize, "initialize")
          assertUnavailable(yield* put(begun.parts[0]!.url, bytes), "part")
          assertUnavailable(yield* complete(arrived.uuid, arrived.parts), "complete")
          yield* assertReads(uuid)
          yield* assertDownload(url, bytes)
        })
      )
      assert.deepStrictEqual(yield* rows, before)
      assert.deepStrictEqual(yield* partsOf(begun.uuid), [])
      assert.deepStrictEqual(yield* temporary, [])
      assert.strictEqual((yield* complete(arrived.uuid, arrived.parts)).status, 200)
    })
  )

  it.effect("an upload that fails after it has begun in the storage does not stay open, there or in the database", () =>
    Effect.gen(function* () {
      const before = { open: yield* openUploads, stored: yield* below("uploads") }
      yield* execute(`create function fail() returns trigger language plpgsql as $$ begin raise exception 'No'; end $$`)
      yield* execute("create trigger fail before update of storage_id on upload_sessions execute function fail()")
      assert.strictEqual((yield* initialize).status, 500)
      yield* execute("drop function fail cascade")
      assert.deepStrictEqual({ open: yield* openUploads, stored: yield* below("uploads") }, before)
    })
  )
})

layer(Wire.layer(), { excludeTestServices: true })("Upload that begins slowly", (it) => {
  it.effect("an upload whose client hangs up during the commit does not stay open", () =>
    Effect.gen(function* () {
      yield* execute("create table has_hung_up ()")
      // It ends a second after the client has hung up, of which the service learns in that time.
      yield* execute(`create function pause() returns trigger language plpgsql as $$ begin
        loop perform pg_sleep(1); exit when exists (select from has_hung_up); end loop;
        perform pg_sleep(1); return null; end $$`)
      yield* execute(`create constraint trigger pause after insert on upload_sessions deferrable initially deferred
        for each row execute function pause()`)
      yield* hangUpWhen(eventually("the transaction is committed", sleeping, (count) => count > 0))
      yield* execute("insert into has_hung_up default values")
      const statuses = Effect.map(execute("select status from upload_sessions"), (rows) =>
        rows.map(({ status }) => status)
      )
      yield* eventually("the upload is there and has ended", statuses, ([status]) => status === "aborted")
      yield* execute("drop function pause cascade")
    })
  )
})

layer(onStore, { excludeTestServices: true })("Object store faults", (it) => {
  it.effect("the console may send parts to the store", () =>
    Effect.gen(function* () {
      const { origin } = new URL((yield* begin(1000)).parts[0]!.url)
      const { headers } = yield* send("GET", "/console", { key: null })
      const policy = String(headers["content-security-policy"]).split("; ")
      const sources = policy.find((directive) => directive.startsWith("connect-src"))!.split(" ")
      assert.include(sources, origin)
    })
  )

  it.effect(
    "an upload whose parts the store joined before a crash lists all parts, and is completed as it lists them",
    () =>
      Effect.gen(function* () {
        const bytes = randomBytes(1000)
        const arrived = yield* sent(bytes)
        const first = (yield* complete(arrived.uuid, arrived.parts)).body.data
        yield* uncomplete(arrived.uuid, first.fileUuid)
        const parts = yield* partsOf(arrived.uuid)
        assert.deepStrictEqual(
          parts.map(({ partNumber, size }: { partNumber: number; size: number }) => [partNumber, size]),
          [[1, 1000]]
        )
        const listed = parts.map(({ eTag, partNumber }: SentPart) => ({ eTag, partNumber }))
        const again = yield* complete(arrived.uuid, listed)
        assert.deepStrictEqual([again.status, again.body.data], [200, first])
        yield* assertDownload(first.url, bytes)
      })
  )

  for (const fault of [
    "is overloaded",
    "has an internal error",
    "fails without an error code",
    "resets the connection",
    "closes the connection",
    "succeeds with an error inside",
    "succeeds with nothing"
  ] as const) {
    it.effect(`a store that ${fault} causes a 503 and creates no file, and a retry succeeds`, () =>
      Effect.gen(function* () {
        const bytes = randomBytes(1000)
        const { url, uuid } = yield* asset(bytes)
        const before = yield* rows
        const arrived = yield* sent(bytes)
        yield* during(
          fault,
          Effect.gen(function* () {
            const answers = yield* Effect.all(
              [initialize, complete(arrived.uuid, arrived.parts), send("GET", pathOf(url), { key: null })],
              { concurrency: "unbounded" }
            )
            for (const [index, answer] of answers.entries()) assertUnavailable(answer, String(index))
            yield* assertReads(uuid)
          })
        )
        assert.deepStrictEqual(yield* rows, before)
        yield* assertDownload(url, bytes)
        assert.strictEqual((yield* complete(arrived.uuid, arrived.parts)).status, 200)
      })
    )
  }

  it.effect("an upload whose client hangs up before the store has answered does not stay open", () =>
    Effect.gen(function* () {
      const before = yield* openUploads
      yield* during(
        "never answers",
        Effect.gen(function* () {
          yield* hangUpWhen(eventually("the upload begins", openUploads, (open) => open === before + 1))
          yield* eventually("the upload ends", openUploads, (open) => open === before)
        })
      )
    })
  )

  for (const fault of [
    "resets the connection in the middle",
    "closes the connection in the middle",
    "has half of the object",
    "is overloaded"
  ] as const) {
    it.effect(`a store that ${fault} during a download aborts it, so that the client detects the truncation`, () =>
      Effect.gen(function* () {
        const { url } = yield* asset(randomBytes(1000))
        const { raw } = yield* Wire.Wire
        // If the connection stays open, the test fails by its timeout.
        const request = `GET ${pathOf(url)} HTTP/1.1\r\nHost: waypost.test\r\n\r\n`
        const { answers, headers, text } = yield* during(fault, raw(request), ({ method }) => method === "GET")
        assert.isBelow(text.length, 1000)
        if (answers > 0) assert.strictEqual(headers["content-length"], "1000")
      })
    )
  }
})
