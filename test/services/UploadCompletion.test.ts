import { assert, it } from "@effect/vitest"
import { Effect, Layer, Result, Stream } from "effect"
import { FileId } from "../../src/domain/assets/File.ts"
import { UploadId } from "../../src/domain/assets/Upload.ts"
import { Files } from "../../src/repositories/assets/Files.ts"
import { Uploads } from "../../src/repositories/assets/Uploads.ts"
import * as UploadCompletion from "../../src/services/UploadCompletion.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { unknownUuid } from "../support/requests/Requests.ts"
import { settings } from "../support/TestServer.ts"

const part = { partNumber: 1, eTag: "a" }
const upload = {
  uuid: UploadId.make(unknownUuid),
  fileUuid: FileId.make(unknownUuid),
  status: "open",
  fileName: "a.txt",
  fileSize: 3,
  contentType: "text/plain",
  sha256: "0".repeat(64),
  partSize: 8,
  numberOfParts: 1,
  expiresAt: ""
} as const

it.effect.each([
  { ended: true, outcome: "removed", tag: "InvalidRequestError", removed: ["abort", "remove"] },
  { ended: false, outcome: "kept if another request has completed the upload since", tag: undefined, removed: [] }
])("bytes with another SHA-256 than declared are $outcome", ({ ended, removed, tag }) =>
  Effect.gen(function* () {
    const actual: Array<string> = []
    const note = (what: string) => Effect.sync(() => void actual.push(what))
    const storage = Layer.mock(Storage, {
      parts: () => Effect.succeed([{ ...part, size: 3 }]),
      complete: () => Effect.void,
      read: () => Stream.make(new TextEncoder().encode("abc")),
      abort: () => note("abort"),
      remove: () => note("remove")
    })
    const uploads = Layer.mock(Uploads, { discard: () => Effect.succeed(ended) })
    const complete = yield* Effect.provide(
      UploadCompletion.make,
      Layer.mergeAll(storage, uploads, Layer.mock(Files, {}), settings())
    )
    const exit = yield* Effect.result(complete(upload, { key: "a", id: "1" }, [part]))
    assert.strictEqual(Result.isFailure(exit) ? exit.failure._tag : undefined, tag)
    assert.deepStrictEqual(actual, removed)
  })
)
