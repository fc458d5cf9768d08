import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { SecureRandom } from "effect/crypto"
import { ApiKeyId } from "../../../src/domain/keys/ApiKey.ts"
import { FileId } from "../../../src/domain/assets/File.ts"
import { UploadId } from "../../../src/domain/assets/Upload.ts"
import { Files } from "../../../src/repositories/assets/Files.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { Uploads } from "../../../src/repositories/assets/Uploads.ts"
import * as Postgres from "../../support/Postgres.ts"
import { publicUrl, settings } from "../../support/TestServer.ts"

const repositories = Layer.mergeAll(Files.layer, Uploads.layer).pipe(
  Layer.provide(publicUrl),
  Layer.provideMerge(Postgres.sql),
  Layer.provide(settings())
)

const key = ApiKeyId.make(SecureRandom.uuidV7Unsafe())

const file = (uuid: FileId) => {
  const sha256 = "a".repeat(64)
  return { uuid, fileName: "a.txt", extension: "txt", mimeType: "text/plain", size: 3, sha256 }
}

const begun = Effect.gen(function* () {
  const { pooled } = yield* Sql
  yield* pooled.unsafe(
    `insert into api_keys (uuid, id, prefix, secret_hash, name, permissions) values ($1, 'a', 'wp_a', '', 'Test', '{}')
      on conflict do nothing`,
    [key]
  )
  const uuid = UploadId.make(SecureRandom.uuidV7Unsafe())
  const fileUuid = FileId.make(SecureRandom.uuidV7Unsafe())
  const upload = { fileName: "a.txt", fileSize: 3, contentType: "text/plain", partSize: 8, numberOfParts: 1 }
  const uploads = yield* Uploads
  yield* uploads.begin({ ...upload, uuid, fileUuid, apiKeyUuid: key, sha256: undefined }, 1000, {
    share: key,
    maxBytes: 1e6
  })
  return { uuid, fileUuid }
})

const statusOf = (uuid: UploadId) =>
  Effect.map(
    Effect.flatMap(Uploads, (uploads) => uploads.find(uuid, key)),
    (found) => Option.getOrThrow(found).status
  )

const isKnown = (uuid: FileId) =>
  Effect.map(
    Effect.flatMap(Files, (files) => files.find(uuid)),
    Option.isSome
  )

layer(repositories, { excludeTestServices: true })("completion of uploads", (it) => {
  it.effect("concurrent inserts of the file of an upload create one file", () =>
    Effect.gen(function* () {
      const [files, uploads] = [yield* Files, yield* Uploads]
      const { fileUuid, uuid } = yield* begun
      yield* Effect.replicateEffect(files.insert(uuid, file(fileUuid)), 10, { concurrency: 10 })
      assert.isTrue(yield* isKnown(fileUuid))
      assert.strictEqual(yield* statusOf(uuid), "completed")
      assert.isFalse(yield* uploads.end(uuid, "aborted"))
      assert.isFalse(yield* uploads.claim(uuid))
    })
  )

  it.effect("an aborted or expired upload does not become a file", () =>
    Effect.gen(function* () {
      const [files, uploads] = [yield* Files, yield* Uploads]
      for (const status of ["aborted", "expired"] as const) {
        const { fileUuid, uuid } = yield* begun
        assert.isTrue(yield* uploads.end(uuid, status))
        yield* files.insert(uuid, file(fileUuid))
        assert.isFalse(yield* isKnown(fileUuid))
        assert.strictEqual(yield* statusOf(uuid), status)
      }
    })
  )

  it.effect("of concurrent completion and expiry exactly one succeeds", () =>
    Effect.gen(function* () {
      const [files, uploads] = [yield* Files, yield* Uploads]
      for (let round = 0; round < 40; round++) {
        const { fileUuid, uuid } = yield* begun
        const both = [uploads.end(uuid, "expired"), files.insert(uuid, file(fileUuid))] as const
        const [ended] = yield* Effect.all(both, { concurrency: 2 })
        assert.strictEqual(yield* isKnown(fileUuid), !ended)
      }
    })
  )

  it.effect("a claimed upload cannot be ended until its claim was not renewed for 30 seconds", () =>
    Effect.gen(function* () {
      const uploads = yield* Uploads
      const { pooled } = yield* Sql
      const { uuid } = yield* begun
      const claims = yield* Effect.replicateEffect(uploads.claim(uuid), 10, { concurrency: 10 })
      assert.strictEqual(claims.filter((claimed) => claimed).length, 1)
      assert.isFalse(yield* uploads.end(uuid, "aborted"))
      yield* pooled.unsafe("update upload_sessions set claimed_until = claimed_until - interval '29 seconds'")
      assert.isFalse(yield* uploads.claim(uuid))
      yield* uploads.renew(uuid)
      yield* pooled.unsafe("update upload_sessions set claimed_until = claimed_until - interval '29 seconds'")
      assert.isFalse(yield* uploads.end(uuid, "expired"))
      yield* pooled.unsafe("update upload_sessions set claimed_until = claimed_until - interval '2 seconds'")
      assert.isTrue(yield* uploads.claim(uuid))
      yield* uploads.release(uuid)
      assert.isTrue(yield* uploads.end(uuid, "aborted"))
    })
  )
})
