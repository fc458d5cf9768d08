import { assert } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { createHash, randomBytes } from "node:crypto"
import { type MultipartUpload, type Range, Storage } from "../../../src/storage/Storage.ts"

/** The minimum size of a part in S3, except for the last part. */
export const smallestPart = 5 * 1024 * 1024

/** A storage key in the format of the service. */
export const newKey = (name = ""): string => {
  const [a, b] = [randomBytes(1).toString("hex"), randomBytes(1).toString("hex")]
  return `${a}/${b}/${name}${randomBytes(8).toString("hex")}`
}

export const md5 = (bytes: Uint8Array): string => createHash("md5").update(bytes).digest("hex")

export const put = (url: string, bytes: Uint8Array) =>
  Effect.promise(() => fetch(url, { method: "PUT", body: bytes as Uint8Array<ArrayBuffer> }))

/** The URL of a part; valid for an hour and without a size limit by default. */
export const partUrl = (
  upload: MultipartUpload,
  partNumber: number,
  options: Partial<{ seconds: number; maxSize: number }> = {}
) =>
  Effect.flatMap(Storage, (storage) =>
    storage.partUrl(upload, {
      partNumber,
      maxSize: options.maxSize ?? 1e9,
      expiresInSeconds: options.seconds ?? 3600
    })
  )

/** Sends a part as a browser does; returns the entry that completes the upload. */
export const send = Effect.fnUntraced(function* (upload: MultipartUpload, partNumber: number, bytes: Uint8Array) {
  const response = yield* put(yield* partUrl(upload, partNumber), bytes)
  assert.strictEqual(response.status, 200)
  const eTag = response.headers.get("etag")
  assert.strictEqual(eTag, `"${md5(bytes)}"`)
  return { partNumber, eTag: md5(bytes) }
})

/** An upload whose parts are stored. */
export const uploaded = Effect.fnUntraced(function* (...contents: ReadonlyArray<Uint8Array>) {
  const upload = yield* (yield* Storage).begin(newKey(), "application/octet-stream")
  const parts = yield* Effect.forEach(contents, (bytes, index) => send(upload, index + 1, bytes))
  return { upload, parts }
})

/** The bytes of an object, or of a range. */
export const contentOf = Effect.fnUntraced(function* (key: string, range?: Range) {
  const chunks = yield* Stream.runCollect((yield* Storage).read(key, range))
  return Buffer.concat(chunks)
})

/** The tag of the error an effect fails with. */
export const failure = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => (error as { readonly _tag: string })._tag)

/** Compares bytes without printing megabytes when they differ. */
export const assertSame = (actual: Uint8Array, expected: Uint8Array) => {
  assert.strictEqual(actual.length, expected.length)
  assert.isTrue(Buffer.from(actual).equals(expected), "the bytes differ")
}
