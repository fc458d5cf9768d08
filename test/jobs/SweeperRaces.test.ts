import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { sweep } from "../../src/jobs/Sweeper.ts"
import { download } from "../support/requests/FileRequests.ts"
import { createProduct } from "../support/requests/ProductRequests.ts"
import { create as createLocation } from "../support/requests/Requests.ts"
import { begin, upload } from "../support/requests/UploadRequests.ts"
import {
  attach,
  bytes,
  expire,
  hasBytes,
  hour,
  offer,
  services,
  show,
  statusOf,
  sweepAt,
  unattachedFor
} from "../support/Sweeping.ts"

layer(services, { excludeTestServices: true })("concurrent sweeps", (it) => {
  it.effect("attaching a file during a sweep either succeeds and keeps its bytes, or is a 404", () =>
    Effect.gen(function* () {
      const [location, product] = [yield* createLocation(), yield* createProduct()]
      const outcomes = { kept: 0, gone: 0 }
      // Both orders have to occur; on a busy machine that can take more rounds, with longer delays.
      for (let round = 0; round < 18 || (round < 120 && Math.min(outcomes.kept, outcomes.gone) === 0); round++) {
        const delay = (round % 30) ** 2 * 3 ** Math.floor(round / 30)
        const { fileUuid, url } = yield* upload(bytes)
        yield* unattachedFor(fileUuid, "8 days")
        const taking = [attach(fileUuid), show(location, fileUuid), offer(product, fileUuid)][round % 3]!
        const [taken] = yield* Effect.all(
          [taking, Effect.delay(sweep, `${delay / 5} millis`), Effect.delay(sweep, `${delay / 4} millis`)],
          { concurrency: "unbounded" }
        )
        const read = yield* download(url)
        if (taken.status === 404) {
          outcomes.gone++
          assert.strictEqual(taken.body._tag, "FileNotFoundError")
          assert.strictEqual(read.status, 404)
          assert.isFalse(yield* hasBytes(fileUuid))
        } else {
          outcomes.kept++
          assert.isBelow(taken.status, 300, taken.text)
          assert.deepStrictEqual([read.status, read.text], [200, "abc"])
        }
      }
      assert.isAbove(outcomes.gone, 0)
      assert.isAbove(outcomes.kept, 0)
    })
  )

  it.effect("concurrent sweeps remove the same files and expire the same uploads as a single one", () =>
    Effect.gen(function* () {
      const files = yield* Effect.replicateEffect(upload(bytes), 12)
      const sessions = yield* Effect.replicateEffect(begin(3), 6)
      for (const { fileUuid } of files.slice(0, 6)) yield* unattachedFor(fileUuid, "8 days")
      for (const { uuid } of sessions) yield* expire(uuid)
      yield* Effect.replicateEffect(sweepAt(Date.now() + 49 * hour), 4, { concurrency: 4 })
      for (const [index, { fileUuid, url }] of files.entries()) {
        assert.strictEqual(yield* hasBytes(fileUuid), index >= 6)
        assert.strictEqual((yield* download(url)).status, index >= 6 ? 200 : 404)
      }
      for (const { uuid } of sessions) assert.strictEqual(yield* statusOf(uuid), "expired")
    })
  )
})
