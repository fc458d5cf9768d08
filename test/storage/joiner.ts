import { Console, Effect, Layer, Redacted, Stream } from "effect"
import { flushCompileCache } from "node:module"
import { FileParts } from "../../src/storage/FileParts.ts"
import * as FileStorage from "../../src/storage/FileStorage.ts"
import { Storage } from "../../src/storage/Storage.ts"
import { contentOfPart, partsOfKilled } from "./KilledUploads.ts"

// The process is killed, so that it would never write what it has compiled, and the next one would compile it again.
flushCompileCache()

/** A process that sends parts and joins them until it is killed; it prints each upload before it completes it. */
const [root = ""] = process.argv.slice(2)

const upload = Effect.fnUntraced(function* (index: number) {
  const storage = yield* Storage
  const parts = yield* FileParts
  const begun = yield* storage.begin(`ab/cd/${process.pid}-${index}`, "text/plain")
  const sent = yield* Effect.forEach(partsOfKilled, (partNumber) =>
    Effect.map(
      parts.receive(
        { uploadId: begun.id, partNumber, maxSize: 1e9 },
        Stream.make(contentOfPart(begun.key, partNumber))
      ),
      ({ eTag }) => ({ partNumber, eTag })
    )
  )
  yield* Console.log(JSON.stringify({ upload: begun, parts: sent }))
  yield* storage.complete(begun, sent)
  yield* Console.log(JSON.stringify({ completed: begun.key }))
})

const storage = FileStorage.layer({ root, publicUrl: "http://localhost", secret: Redacted.make("secret") })

await Effect.runPromise(
  Stream.runForEach(
    Stream.iterate(0, (index) => index + 1),
    upload
  ).pipe(Effect.provide(Layer.fresh(storage)))
)
