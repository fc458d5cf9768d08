import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomBytes } from "node:crypto"
import { asset, assertUnavailable, during, onStore, rows, sent } from "../support/storage/BrokenStorage.ts"
import { complete, pathOf, send } from "../support/requests/UploadParts.ts"
import { Wire } from "../support/wire/Wire.ts"
import { report } from "../support/proofs/Figures.ts"

/** All attempts together take at most twelve seconds; the rest is tolerance. */
const limitMillis = 12_300

const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const began = performance.now()
    return Effect.map(effect, (answer) => ({ answer, millis: performance.now() - began }))
  })

layer(onStore, { excludeTestServices: true })("a stalled object store", (it) => {
  it.effect(
    "a store that never responds becomes a 503 after 12 seconds, without a file row, and requests succeed later",
    (context) =>
      Effect.gen(function* () {
        const { url, uuid } = yield* asset(randomBytes(1000))
        const before = yield* rows
        const arrived = yield* sent(randomBytes(1000))
        const body = JSON.stringify({ fileName: "file.bin", fileSize: 1000 })
        const [refused, read] = yield* during(
          "never answers",
          Effect.all(
            [
              Effect.all(
                [
                  timed(send("POST", "/v1/uploads/init-multi-part", { body })),
                  timed(complete(arrived.uuid, arrived.parts)),
                  timed(send("GET", pathOf(url), { key: null }))
                ],
                { concurrency: "unbounded" }
              ),
              Effect.delay(timed(send("GET", `/v1/assets/${uuid}`)), "1 second")
            ],
            { concurrency: 2 }
          )
        )
        const slowest = Math.max(...refused.map(({ millis }) => millis))
        yield* Effect.promise(() => report(context, { "slowest 503 ms": slowest, "concurrent read ms": read.millis }))
        for (const { answer } of refused) assertUnavailable(answer)
        assert.isAtMost(slowest, limitMillis)
        assert.strictEqual(read.answer.status, 200)
        assert.isBelow(read.millis, 1000)
        assert.deepStrictEqual(yield* rows, before)
        assert.strictEqual((yield* complete(arrived.uuid, arrived.parts)).status, 200)
      })
  )

  it.effect("a download that stalls is aborted after 12 seconds", (context) =>
    Effect.gen(function* () {
      const { url } = yield* asset(randomBytes(1000))
      const { raw } = yield* Wire
      const request = raw(`GET ${pathOf(url)} HTTP/1.1\r\nHost: waypost.test\r\n\r\n`)
      const { answer, millis } = yield* timed(during("stops in the middle", request, ({ method }) => method === "GET"))
      yield* Effect.promise(() => report(context, { "aborted after ms": millis, bytes: answer.text.length }))
      assert.deepStrictEqual([answer.status, answer.headers["content-length"]], [200, "1000"])
      assert.isBelow(answer.text.length, 1000)
      assert.isAtMost(millis, limitMillis)
    })
  )
})
