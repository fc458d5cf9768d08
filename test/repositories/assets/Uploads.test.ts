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
import { explained, filled, nodes, rowsReadBy } from "../../sql/Explained.ts"
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
      assert.isFalse(yield* uploads.discard(uuid))
      assert.isTrue(yield* uploads.discard((yield* begun).uuid))
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
      yield* uploads.release(uuid)
      const passed = (seconds: number) =>
        pooled.unsafe(`update upload_sessions set claimed_until = claimed_until - interval '${seconds} seconds'`)
      // The time of a transaction stands still.
      yield* pooled.withTransaction(
        Effect.gen(function* () {
          assert.isTrue(yield* uploads.claim(uuid))
          assert.isFalse(yield* uploads.end(uuid, "aborted"))
          yield* passed(29)
          assert.isFalse(yield* uploads.claim(uuid))
          yield* uploads.renew(uuid)
          yield* passed(29)
          assert.isFalse(yield* uploads.end(uuid, "expired"))
          yield* passed(2)
          assert.isTrue(yield* uploads.claim(uuid))
          yield* uploads.release(uuid)
          assert.isTrue(yield* uploads.end(uuid, "aborted"))
        })
      )
    })
  )
})

/** The first and the last key of a line of 20,000 rotations, whose overlaps have ended. */
const [first, last] = [0, 20_000].map((key) =>
  ApiKeyId.make(`0198d9e4-0000-7000-8000-${String(key).padStart(12, "0")}`)
)
const upload = UploadId.make("0198d9e4-0001-7000-8000-000000000000")

const rotated = Uploads.layer.pipe(
  Layer.provideMerge(
    filled([
      `insert into api_keys (uuid, id, prefix, secret_hash, name, permissions, first_uuid, rotations, expires_at, replaced_by_uuid)
        select ('0198d9e4-0000-7000-8000-' || lpad(key::text, 12, '0'))::uuid, key::text, '', '', '', '{}',
          case when key > 0 then '${first}'::uuid end, key, case when key < 20000 then now() - interval '1 day' end,
          case when key < 20000 then ('0198d9e4-0000-7000-8000-' || lpad((key + 1)::text, 12, '0'))::uuid end
        from generate_series(0, 20000) key`,
      // As many as a key can have open.
      `insert into upload_sessions
          (uuid, api_key_uuid, share_uuid, file_uuid, file_name, file_size, content_type, part_size, number_of_parts, storage_id)
        select case when i = 1 then '${upload}'::uuid else gen_random_uuid() end, '${first}', '${first}', gen_random_uuid(), 'a', 1, '',
          8, 1, i::text
        from generate_series(1, 50) i`,
      "vacuum analyze api_keys",
      "vacuum analyze upload_sessions"
    ])
  ),
  Layer.provide(settings())
)

/** How many keys a read takes from the table, those that it leaves out included. */
const keysReadBy = <A, E, R>(read: Effect.Effect<A, E, R>) =>
  Effect.map(explained(read, { run: true }), (plan) =>
    nodes(plan)
      .filter((node) => node["Relation Name"] === "api_keys" || node["Rows Removed by Join Filter"] !== undefined)
      .reduce((sum, node) => sum + rowsReadBy(node), 0)
  )

layer(rotated, { excludeTestServices: true })("uploads of a key that was rotated 20,000 times", (it) => {
  it.effect("the last key finds the uploads of the first, which count as its own, and few keys are read", () =>
    Effect.gen(function* () {
      const uploads = yield* Uploads
      const find = uploads.find(upload, last!)
      assert.isTrue(Option.isSome(yield* find))
      assert.isAtMost(yield* keysReadBy(find), 4)
      const file = { fileName: "a", fileSize: 1, contentType: "", sha256: undefined, partSize: 8, numberOfParts: 1 }
      const begin = Effect.flip(
        uploads.begin(
          {
            ...file,
            uuid: UploadId.make(SecureRandom.uuidV7Unsafe()),
            fileUuid: FileId.make(upload),
            apiKeyUuid: last!
          },
          1000,
          { share: first!, maxBytes: 1e6 }
        )
      )
      assert.strictEqual((yield* begin)._tag, "TooManyOpen")
      assert.isAtMost(yield* keysReadBy(begin), 150)
    })
  )

  it.effect("whether the key of an upload has an active successor is known of few keys, also if it has none", () =>
    Effect.gen(function* () {
      const uploads = yield* Uploads
      const { pooled } = yield* Sql
      const keyOf = uploads.keyOf("1")
      assert.deepStrictEqual(yield* keyOf, Option.some({ uuid: first!, isActive: true }))
      assert.isAtMost(yield* keysReadBy(keyOf), 4)
      yield* pooled`update api_keys set revoked_at = now() where uuid = ${last!}`
      assert.deepStrictEqual(yield* keyOf, Option.some({ uuid: first!, isActive: false }))
      assert.isAtMost(yield* keysReadBy(keyOf), 4)
    })
  )

  it.effect("a key finds no upload of its successors", () =>
    Effect.gen(function* () {
      const uploads = yield* Uploads
      const { pooled } = yield* Sql
      yield* pooled`update upload_sessions set api_key_uuid = ${last!} where uuid = ${upload}`
      assert.isTrue(Option.isNone(yield* uploads.find(upload, first!)))
    })
  )
})
