import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Stream } from "effect"
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import type { S3Options } from "../../src/storage/S3Client.ts"
import * as S3Storage from "../../src/storage/S3Storage.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { compileCache } from "../support/Process.ts"
import { newKey, partUrl } from "../support/storage/Parts.ts"
import { fauxqs, s3rver, storageOn } from "../support/storage/S3Servers.ts"
import { suite } from "./Suite.ts"

suite("S3Storage on fauxqs", storageOn(fauxqs), ["verifies URLs"])

suite("S3Storage with a prefix, on fauxqs", storageOn(fauxqs, { prefix: "waypost/files/" }), ["verifies URLs"])

suite("S3Storage on s3rver", storageOn(s3rver), [
  "reports its bucket",
  "supports one-byte ranges",
  "lists parts",
  "lists uploads",
  "aborts uploads",
  "rejects wrong parts",
  "completes twice"
])

const storageOf = (options: S3Options) =>
  Effect.map(Layer.build(S3Storage.layer(options)), (context) => Context.get(context, Storage))

describe("S3Storage", () => {
  it.live("part URLs sign neither length nor checksum and have the requested expiry", () =>
    Effect.gen(function* () {
      const upload = yield* (yield* Storage).begin(newKey(), "image/png")
      const url = new URL(yield* partUrl(upload, 3, { seconds: 3600 }))
      assert.strictEqual(url.searchParams.get("X-Amz-SignedHeaders"), "host")
      assert.strictEqual(url.searchParams.get("X-Amz-Expires"), "3600")
      assert.strictEqual(url.searchParams.get("partNumber"), "3")
      assert.deepStrictEqual(
        [...url.searchParams.keys()].filter((name) => /checksum|length/i.test(name)),
        []
      )
    }).pipe(Effect.provide(storageOn(fauxqs)))
  )

  it.live("objects and uploads outside the prefix are not listed", () =>
    Effect.gen(function* () {
      const options = yield* fauxqs
      const ours = yield* storageOf({ ...options, prefix: "ours/" })
      const others = yield* storageOf(options)
      const key = newKey()
      yield* others.write(key, new Uint8Array(1), "text/plain")
      yield* others.begin(key, "text/plain")
      assert.deepStrictEqual([...(yield* Stream.runCollect(ours.objects))], [])
      assert.deepStrictEqual([...(yield* Stream.runCollect(ours.uploads))], [])
      yield* ours.write(key, new Uint8Array(2), "text/plain")
      yield* ours.begin(key, "text/plain")
      // Without a prefix, keys in another format are not listed, such as `ours/ab/cd/x`.
      assert.deepStrictEqual(
        (yield* Stream.runCollect(others.objects)).map(({ size }) => size),
        [1]
      )
      assert.strictEqual((yield* Stream.runCollect(others.uploads)).length, 1)
      assert.deepStrictEqual(
        (yield* Stream.runCollect(ours.objects)).map(({ key, size }) => [key, size]),
        [[key, 2]]
      )
    })
  )

  it.live("the local copy of an object is removed with its scope", () =>
    Effect.gen(function* () {
      const storage = yield* Storage
      const key = newKey()
      yield* storage.write(key, new Uint8Array(10), "text/plain")
      const path = yield* Effect.scoped(
        Effect.tap(storage.localFile(key), (path) => Effect.sync(() => assert.isTrue(existsSync(path))))
      )
      assert.isFalse(existsSync(path))
    }).pipe(Effect.provide(storageOn(fauxqs)))
  )

  it.live("operations on a missing bucket fail", () =>
    Effect.gen(function* () {
      const storage = yield* storageOf({ ...(yield* fauxqs), bucket: "not-there" })
      for (const operation of [
        storage.check,
        storage.size(newKey()),
        storage.remove(newKey()),
        Stream.runDrain(storage.objects),
        storage.begin(newKey(), "text/plain")
      ] as ReadonlyArray<Effect.Effect<unknown, { readonly message: string }>>) {
        assert.match((yield* Effect.flip(operation)).message, /^The bucket /)
      }
    })
  )

  it.live("wrong credentials are reported without disclosing them", () =>
    Effect.gen(function* () {
      const options = { ...(yield* s3rver), secretAccessKey: Redacted.make("wrong-secret") }
      const storage = yield* storageOf(options)
      const { message } = yield* Effect.flip(storage.write(newKey(), new Uint8Array(1), "text/plain"))
      assert.strictEqual(
        message,
        "The object store rejects the credentials, or they lack a permission (SignatureDoesNotMatch): " +
          `bucket ${options.bucket} at ${options.endpoint}`
      )
    })
  )

  it("the SDK is loaded only when a storage is built", () => {
    const source = fileURLToPath(new URL("../../src/storage/S3Storage.ts", import.meta.url))
    const script = `
      import { registerHooks } from "node:module"
      let loaded = false
      registerHooks({ resolve: (name, context, next) => ((loaded ||= name.startsWith("@aws-sdk/")), next(name, context)) })
      const { Effect, Layer } = await import("effect")
      const { layer } = await import(${JSON.stringify(source)})
      const built = layer({ region: "us-east-1", bucket: "bucket", forcePathStyle: false })
      const before = loaded
      await Effect.runPromise(Effect.scoped(Layer.build(built)))
      console.log(before, loaded)
    `
    const { stderr, stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", script], {
      encoding: "utf8",
      env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
      timeout: 240_000
    })
    assert.deepStrictEqual([stdout.trim(), stderr], ["false true", ""])
  })
})
