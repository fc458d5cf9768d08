import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import type { IncomingMessage } from "node:http"
import { Sql } from "../../../src/sql/Sql.ts"
import { breakableStore } from "./BreakableStore.ts"
import type { Fault } from "./StubStore.ts"
import { begin, complete, put, send } from "../requests/UploadParts.ts"
import * as Wire from "../wire/Wire.ts"

/** The bucket of the service, which a test breaks. */
class Store extends Context.Service<Store, Effect.Success<typeof breakableStore>>()("waypost/test/Store") {}

/** Listens, with its files in a bucket that can be broken. */
export const onStore = Layer.unwrap(
  Effect.map(Store, ({ options: { bucket, endpoint, region } }) =>
    Wire.layer({
      STORAGE: "s3",
      S3_ENDPOINT: endpoint!,
      S3_REGION: region,
      S3_BUCKET: bucket,
      S3_ACCESS_KEY_ID: "S3RVER",
      S3_SECRET_ACCESS_KEY: "S3RVER",
      S3_FORCE_PATH_STYLE: "true"
    })
  )
).pipe(Layer.provideMerge(Layer.effect(Store, breakableStore)))

/** While it runs, the store fails in this way for the requests that are meant. */
export const during = Effect.fnUntraced(function* <A, E, R>(
  fault: Fault,
  effect: Effect.Effect<A, E, R>,
  isMeant: (request: IncomingMessage) => boolean = () => true
) {
  const store = yield* Store
  store.fault = (request) => (isMeant(request) ? fault : undefined)
  return yield* Effect.ensuring(
    effect,
    Effect.sync(() => (store.fault = () => undefined))
  )
})

/** An upload whose only part has arrived, wherever the parts go; what completes it. */
export const sent = Effect.fnUntraced(function* (bytes: Uint8Array) {
  const { parts, uuid } = yield* begin(bytes.length)
  const { url } = parts[0]!
  const isOurs = new URL(url).pathname.startsWith("/uploads/")
  const eTag = isOurs
    ? (yield* put(url, bytes)).headers.etag
    : (yield* Effect.promise(() => fetch(url, { method: "PUT", body: new Uint8Array(bytes) }))).headers.get("etag")
  return { uuid, parts: [{ partNumber: 1, eTag }] }
})

/** A file and an asset of it. */
export const asset = Effect.fnUntraced(function* (bytes: Uint8Array) {
  const { parts, uuid } = yield* sent(bytes)
  const { fileUuid, url } = (yield* complete(uuid, parts)).body.data
  const created = yield* send("POST", "/v1/assets", { body: JSON.stringify({ fileUuid }) })
  assert.strictEqual(created.status, 201, created.text)
  return { uuid: created.body.data.uuid as string, url: url as string }
})

/** How many files and assets the database knows. */
export const rows = Effect.flatMap(Sql, ({ pooled }) =>
  pooled.unsafe<{ readonly files: number; readonly assets: number }>(
    "select (select count(*)::int from files) as files, (select count(*)::int from assets) as assets"
  )
)

/** A refusal as the contract has it, that says the storage is at fault and when to come again. */
export const assertUnavailable = ({ body, headers, status, text }: Wire.Answer, label = "") => {
  assert.strictEqual(status, 503, `${label} ${text}`)
  assert.deepStrictEqual(body, {
    _tag: "ServiceUnavailableError",
    message: "The service cannot use its storage right now; try again"
  })
  assert.deepStrictEqual([headers["content-type"], headers["retry-after"]], ["application/json", "1"], label)
  assert.isString(headers["x-request-id"], label)
}
