import { assert } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import type { IncomingMessage } from "node:http"
import { Sql } from "../../../src/sql/Sql.ts"
import { breakableStore } from "./BreakableStore.ts"
import type { Fault } from "./StubStore.ts"
import { begin, complete, put, send } from "../requests/UploadParts.ts"
import * as Wire from "../wire/Wire.ts"

/** The object store of the service, which a test breaks. */
class Store extends Context.Service<Store, Effect.Success<typeof breakableStore>>()("waypost/test/Store") {}

/** The listening service, with its files in a store that can be broken. */
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

/** Runs an effect while the store fails with `fault` for the selected requests. */
export const during = Effect.fnUntraced(function* <A, E, R>(
  fault: Fault,
  effect: Effect.Effect<A, E, R>,
  isSelected: (request: IncomingMessage) => boolean = () => true
) {
  const store = yield* Store
  store.fault = (request) => (isSelected(request) ? fault : undefined)
  return yield* Effect.ensuring(
    effect,
    Effect.sync(() => (store.fault = () => undefined))
  )
})

/** Uploads the only part, to the service or to the store; returns the body that completes the upload. */
export const sent = Effect.fnUntraced(function* (bytes: Uint8Array) {
  const { parts, uuid } = yield* begin(bytes.length)
  const { url } = parts[0]!
  const isService = new URL(url).pathname.startsWith("/uploads/")
  const eTag = isService
    ? (yield* put(url, bytes)).headers.etag
    : (yield* Effect.promise(() => fetch(url, { method: "PUT", body: new Uint8Array(bytes) }))).headers.get("etag")
  return { uuid, parts: [{ partNumber: 1, eTag }] }
})

/** Creates a file and its asset. */
export const asset = Effect.fnUntraced(function* (bytes: Uint8Array) {
  const { parts, uuid } = yield* sent(bytes)
  const { fileUuid, url } = (yield* complete(uuid, parts)).body.data
  const created = yield* send("POST", "/v1/assets", { body: JSON.stringify({ fileUuid }) })
  assert.strictEqual(created.status, 201, created.text)
  return { uuid: created.body.data.uuid as string, url: url as string }
})

/** The numbers of file and asset rows. */
export const rows = Effect.flatMap(Sql, ({ pooled }) =>
  pooled.unsafe<{ readonly files: number; readonly assets: number }>(
    "select (select count(*)::int from files) as files, (select count(*)::int from assets) as assets"
  )
)

/** The response is a 503 that names the storage and has `Retry-After`. */
export const assertUnavailable = ({ body, headers, status, text }: Wire.Answer, label = "") => {
  assert.strictEqual(status, 503, `${label} ${text}`)
  assert.deepStrictEqual(body, {
    _tag: "ServiceUnavailableError",
    message: "The service cannot use its storage; try again",
    requestId: headers["x-request-id"]
  })
  assert.deepStrictEqual([headers["content-type"], headers["retry-after"]], ["application/json", "1"], label)
  assert.isString(headers["x-request-id"], label)
}
