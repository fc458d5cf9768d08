import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { FileId } from "../../../src/domain/assets/File.ts"
import { ThumbnailQueue } from "../../../src/repositories/assets/ThumbnailQueue.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { explained, nodes, rowsOf } from "../../sql/Explained.ts"
import * as Postgres from "../../support/Postgres.ts"
import { settings } from "../../support/TestServer.ts"
import { eventually } from "../../support/Until.ts"

const uuid = (number: number) => `0198d9e4-7d0c-7b1e-8b54-00000000000${number}`
const files = [1, 2, 3, 4, 5].map((number) => FileId.make(uuid(number)))

/** The shares of the keys that uploaded the files; the last file has none. */
const shares = [uuid(6), uuid(7), uuid(6), uuid(6), null]

const services = ThumbnailQueue.layer.pipe(Layer.provideMerge(Postgres.sql), Layer.provide(settings()))

layer(services, { excludeTestServices: true })("the queues of thumbnails", (it) => {
  it.effect("the files of each share of keys have a queue of their own, in the order of their requests", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const queue = yield* ThumbnailQueue
      for (const [index, file] of files.entries()) {
        yield* pooled`insert into files (uuid, file_name, extension, mime_type, size, sha256, path_name, url_name, share_uuid)
          values (${file}, 'a', 'txt', 'text/plain', 3, '', 'a', 'a', ${shares[index]!}::uuid)`
        yield* queue.offer(file)
      }
      const taken: Array<string> = []
      for (const name of yield* queue.names) {
        const inOrder: Array<string> = []
        // A file that was not found in time is taken by the next call.
        const take = queue.take(name, (file) => Effect.sync(() => void inOrder.push(file)))
        const count = shares.filter((share) => name.endsWith(share ?? "renditions")).length
        yield* Effect.repeat(take, { until: () => inOrder.length === count })
        taken.push(inOrder.join())
      }
      const expected = [[files[0], files[2], files[3]], [files[1]], [files[4]]]
      assert.sameMembers(
        taken,
        expected.map((group) => group.join())
      )
      assert.deepStrictEqual(yield* queue.names, [])
    })
  )

  it.effect("a file that failed is not taken again at once", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const queue = yield* ThumbnailQueue
      const file = FileId.make(uuid(8))
      yield* pooled`insert into files (uuid, file_name, extension, mime_type, size, sha256, path_name, url_name)
        values (${file}, 'a', 'txt', 'text/plain', 3, '', 'a', 'a')`
      yield* queue.offer(file)
      const [name = ""] = yield* queue.names
      let attempts = 0
      const failing = queue.take(name, () =>
        Effect.andThen(
          Effect.sync(() => attempts++),
          Effect.fail("failed")
        )
      )
      assert.strictEqual(yield* Effect.flip(Effect.repeat(failing, { until: () => attempts > 0 })), "failed")
      assert.deepStrictEqual(yield* queue.names, [])
      assert.isFalse(yield* failing)
      assert.strictEqual(attempts, 1)
    })
  )

  it.effect("a queue of which a process has taken all files has none, until its time for them is over", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const { names } = yield* ThumbnailQueue
      const taken = (seconds: number) =>
        pooled`insert into jobs (id, queue_name, element, state, attempts, visible_at, acquired_at, acquired_by, created_at, updated_at)
          values (${`taken ${seconds}`}, ${`renditions ${seconds}`}, '{}', 'pending', 1, now(),
            now() - ${`${seconds} seconds`}::interval, gen_random_uuid(), now(), now())`
      yield* taken(10)
      assert.deepStrictEqual(yield* names, [])
      yield* taken(140)
      assert.deepStrictEqual(yield* names, ["renditions 140"])
      yield* pooled`delete from jobs where id like 'taken %'`
    })
  )

  it.effect("a job of thumbnails that failed for the last time is removed a day later", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      for (const hours of [23, 25]) {
        yield* pooled`insert into jobs (id, queue_name, element, state, attempts, visible_at, created_at, updated_at)
          select ${`failed ${hours}`}, 'renditions', '{}', 'failed', 5, at, at, at
          from (select now() - ${`${hours} hours`}::interval as at)`
      }
      const left = Effect.map(
        pooled<{ readonly id: string }>`select id from jobs where id like 'failed %' order by id`,
        (rows) => rows.map(({ id }) => id)
      )
      const started = Layer.build(Layer.fresh(ThumbnailQueue.layer))
      const found = Effect.andThen(
        started,
        eventually("the old job is removed", left, (ids) => ids.length < 2)
      )
      assert.deepStrictEqual(yield* Effect.scoped(found), ["failed 23"])
      yield* pooled`delete from jobs where id like 'failed %'`
    })
  )

  it.effect("finding the queues that have files reads a few rows, however many files wait", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const { names } = yield* ThumbnailQueue
      yield* pooled`insert into jobs (id, queue_name, element, state, visible_at, created_at, updated_at)
        select i::text, 'renditions ' || i % 2, '{}', 'pending', now(), now(), now() from generate_series(1, 20000) i`
      yield* pooled`analyze jobs`
      const plan = nodes(yield* explained(names, { run: true }))
      assert.isAtMost(Math.max(...plan.map(rowsOf)), 10)
      assert.deepStrictEqual(yield* names, ["renditions 0", "renditions 1"])
    })
  )
})
