import S3rver from "@20minutes/s3rver"
import { Effect, Layer, Redacted } from "effect"
import { buildApp } from "fauxqs"
import * as S3Storage from "../../../src/storage/S3Storage.ts"
import type { S3Options } from "../../../src/storage/S3Client.ts"
import { addListings, type Store } from "./FauxqsListings.ts"
import { temporaryFolder } from "./Folder.ts"

const bucket = "waypost-test"

/** The S3 options for a store on this machine. */
export const optionsFor = (port: number): S3Options => ({
  endpoint: `http://127.0.0.1:${port}`,
  region: "us-east-1",
  bucket,
  accessKeyId: "S3RVER",
  secretAccessKey: Redacted.make("S3RVER"),
  forcePathStyle: true
})

/** A store that verifies signatures and the expiry of URLs. */
export const s3rver = Effect.gen(function* () {
  const directory = yield* temporaryFolder
  const server = new S3rver({
    port: 0,
    address: "127.0.0.1",
    silent: true,
    directory,
    configureBuckets: [{ name: bucket, configs: [] }]
  })
  const { port } = yield* Effect.promise(() => server.run())
  yield* Effect.addFinalizer(() => Effect.sync(() => server.httpServer.close().closeAllConnections()))
  return optionsFor(port)
})

/** A store that validates requests as S3 does, with listings in pages of two. */
export const fauxqs = Effect.gen(function* () {
  // The package does not export its store, which the added listings need.
  const { S3Store } = (yield* Effect.promise(
    () => import(new URL("./s3/s3Store.js", import.meta.resolve("fauxqs")).href)
  )) as { readonly S3Store: new () => Store }
  const s3Store = new S3Store()
  s3Store.createBucket(bucket)
  const app = buildApp({ logger: false, stores: { s3Store } as never })
  addListings(app, s3Store, 2)
  const address = yield* Effect.promise(() => app.listen({ port: 0, host: "127.0.0.1" }))
  yield* Effect.addFinalizer(() => Effect.promise(() => app.close()))
  return optionsFor(Number(new URL(address).port))
})

/** More time than in production, because the store is in this process, which a busy machine can keep from answering. */
const timeouts = { connection: 60_000, request: 120_000, total: 120_000 }

/** The storage layer on a store, with changed options. */
export const storageOn = (store: typeof s3rver, changes: Partial<S3Options> = {}) =>
  Layer.unwrap(Effect.map(store, (options) => S3Storage.layer({ ...options, timeouts, ...changes })))
