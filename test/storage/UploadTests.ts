import { assert } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { randomBytes } from "node:crypto"
import { Storage } from "../../src/storage/Storage.ts"
import {
  assertSame,
  contentOf,
  failure,
  newKey,
  partUrl,
  put,
  send,
  smallestPart,
  uploaded
} from "../support/storage/Parts.ts"
import type { Register } from "./Register.ts"

/** Tests of uploads in parts for every storage. */
export const uploadTests = (register: Register) => {
  register("always", "parts sent with plain PUTs are joined", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const contents = [randomBytes(smallestPart), randomBytes(smallestPart + 7), randomBytes(1024)]
      const { parts, upload } = yield* uploaded(...contents)
      yield* storage.complete(upload, parts)
      assertSame(yield* contentOf(upload.key), Buffer.concat(contents))
      const range = { offset: smallestPart - 3, length: 10 }
      assertSame(yield* contentOf(upload.key, range), Buffer.concat(contents).subarray(range.offset, range.offset + 10))
    })
  )

  register("always", "a completion with one part of two creates an object of that part", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const single = randomBytes(1234)
      const { parts, upload } = yield* uploaded(single, randomBytes(10))
      yield* storage.complete(upload, parts.slice(0, 1))
      assertSame(yield* contentOf(upload.key), single)
    })
  )

  register("always", "malformed lists of parts are rejected", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const { parts, upload } = yield* uploaded(randomBytes(smallestPart), randomBytes(10))
      const [first, second] = parts as [(typeof parts)[0], (typeof parts)[0]]
      for (const list of [
        [],
        [second, first],
        [first, first],
        [{ ...first, partNumber: 0 }],
        [{ ...first, partNumber: 10_001 }],
        [{ ...first, partNumber: 1.5 }],
        [{ ...first, eTag: "" }],
        [{ ...first, eTag: `"${first.eTag}"` }],
        [{ ...first, eTag: "\u0000" }]
      ]) {
        assert.strictEqual(yield* failure(storage.complete(upload, list)), "InvalidPartsError")
      }
      yield* storage.complete(upload, parts)
    })
  )

  register("lists parts", "stored parts are listed, with the newer one of a part sent twice", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const upload = yield* storage.begin(newKey(), "text/plain")
      assert.deepStrictEqual([...(yield* storage.parts(upload))], [])
      const sent = yield* Effect.forEach([5, 1, 3, 2, 10], (partNumber) =>
        send(upload, partNumber, randomBytes(partNumber * 10))
      )
      const again = yield* send(upload, 3, randomBytes(33))
      const size = (partNumber: number) => (partNumber === 3 ? 33 : partNumber * 10)
      const expected = sent
        .map((part) => (part.partNumber === 3 ? again : part))
        .map((part) => ({ ...part, size: size(part.partNumber) }))
        .toSorted((a, b) => a.partNumber - b.partNumber)
      assert.deepStrictEqual(
        (yield* storage.parts(upload)).map(({ eTag, partNumber, size }) => ({ partNumber, eTag, size })),
        expected
      )
      const unknown = { ...upload, id: "c0000000-0000-4000-8000-000000000000" }
      assert.deepStrictEqual([...(yield* storage.parts(unknown))], [])
      yield* storage.abort(upload)
    })
  )

  register("rejects wrong parts", "a completion with a missing, replaced or different part is rejected", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const { parts, upload } = yield* uploaded(randomBytes(smallestPart), randomBytes(10))
      const [first, second] = parts as [(typeof parts)[0], (typeof parts)[0]]
      const again = yield* send(upload, 2, randomBytes(11))
      for (const list of [
        [first, { ...second, partNumber: 3 }],
        [{ ...first, eTag: second.eTag }],
        [first, second],
        [{ ...first, eTag: "../../objects" }]
      ]) {
        assert.strictEqual(yield* failure(storage.complete(upload, list)), "InvalidPartsError")
      }
      assert.deepStrictEqual(yield* storage.size(upload.key), Option.none())
      yield* storage.complete(upload, [first, again])
      assert.deepStrictEqual(yield* storage.size(upload.key), Option.some(smallestPart + 11))
    })
  )

  register("completes twice", "completing an upload is idempotent, also twenty times concurrently", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const contents = [randomBytes(smallestPart), randomBytes(1024)]
      const { parts, upload } = yield* uploaded(...contents)
      yield* Effect.all(
        Array.from({ length: 20 }, () => storage.complete(upload, parts)),
        { concurrency: "unbounded" }
      )
      yield* storage.complete(upload, parts)
      assertSame(yield* contentOf(upload.key), Buffer.concat(contents))
      const listed = yield* Stream.runCollect(storage.objects)
      assert.strictEqual(listed.filter(({ key }) => key === upload.key).length, 1)
      const other = { key: newKey(), id: upload.id }
      assert.strictEqual(yield* failure(storage.complete(other, parts)), "InvalidPartsError")
    })
  )

  register("aborts uploads", "an aborted upload accepts no parts and no completion, and aborting is idempotent", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const { parts, upload } = yield* uploaded(randomBytes(100))
      const url = yield* partUrl(upload, 2)
      yield* storage.abort(upload)
      assert.strictEqual((yield* put(url, randomBytes(10))).status, 404)
      assert.deepStrictEqual([...(yield* storage.parts(upload))], [])
      assert.strictEqual(yield* failure(storage.complete(upload, parts)), "InvalidPartsError")
      assert.deepStrictEqual(yield* storage.size(upload.key), Option.none())
      yield* storage.abort(upload)
      yield* storage.abort({ key: newKey(), id: "not-an-id" })
    })
  )

  register("lists uploads", "uploads that are neither completed nor aborted are listed", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const before = Date.now() - 2000
      const open = yield* Effect.forEach([1, 2, 3, 4, 5], () => storage.begin(newKey(), "text/plain"))
      const { parts, upload } = yield* uploaded(randomBytes(10))
      yield* storage.complete(upload, parts)
      const aborted = yield* storage.begin(newKey(), "text/plain")
      yield* storage.abort(aborted)
      const listed = yield* Stream.runCollect(storage.uploads)
      const idsOf = (uploads: ReadonlyArray<{ readonly id: string; readonly key: string }>) =>
        uploads.map(({ id, key }) => `${key} ${id}`).toSorted()
      const gone = new Set([upload.id, aborted.id])
      assert.deepStrictEqual(
        listed.filter(({ id }) => gone.has(id)),
        []
      )
      assert.deepStrictEqual(idsOf(listed.filter(({ id }) => open.some((one) => one.id === id))), idsOf(open))
      for (const { beganAt } of listed) assert.isTrue(beganAt >= before && beganAt <= Date.now() + 2000)
      yield* Effect.forEach(open, (upload) => storage.abort(upload))
      assert.deepStrictEqual([...(yield* Stream.runCollect(storage.uploads))], [])
    })
  )

  register("verifies URLs", "an altered or expired part URL is rejected", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const upload = yield* storage.begin(newKey(), "text/plain")
      const url = new URL(yield* partUrl(upload, 1, { maxSize: 100 }))
      const short = yield* partUrl(upload, 1, { seconds: 1 })
      const other = (value: string) => value.slice(0, -1) + (value.endsWith("1") ? "2" : "1")
      const changed = [...url.searchParams.keys()].map((name) => {
        const copy = new URL(url)
        copy.searchParams.set(name, other(url.searchParams.get(name)!))
        return copy
      })
      const path = new URL(url)
      path.pathname = other(url.pathname)
      const longer = new URL(url)
      for (const name of ["expires", "X-Amz-Expires"]) {
        if (url.searchParams.has(name)) longer.searchParams.set(name, "99999999999")
      }
      for (const wrong of [...changed, path, longer]) {
        const { status } = yield* put(wrong.href, randomBytes(10))
        assert.include([400, 403], status, wrong.href)
      }
      yield* Effect.sleep("2100 millis")
      assert.strictEqual((yield* put(short, randomBytes(10))).status, 403)
      assert.strictEqual((yield* put(url.href, randomBytes(10))).status, 200)
    })
  )
}
