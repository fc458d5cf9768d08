import { NodeStream } from "@effect/platform-node"
import { Cause, Context, Effect, Exit, Layer, Redacted, Stream } from "effect"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { FileParts } from "../../src/storage/FileParts.ts"
import * as FileStorage from "../../src/storage/FileStorage.ts"
import type { Storage } from "../../src/storage/Storage.ts"
import { temporaryFolder } from "../support/storage/Folder.ts"

export const secret = Redacted.make("a secret of the tests, long enough")

const statusOf: Readonly<Record<string, number>> = {
  InvalidAddressError: 403,
  FileNotFoundError: 404,
  PayloadTooLargeError: 413,
  StorageUnavailableError: 503
}

/** A minimal route for parts. */
const answer = async (parts: FileParts["Service"], request: IncomingMessage, response: ServerResponse) => {
  // Closing an unread request would close the connection before the response.
  const bytes = NodeStream.fromReadable({ evaluate: () => request, closeOnDone: false })
  const exit = await Effect.runPromiseExit(
    Effect.flatMap(parts.verify(request.url ?? ""), (grant) => parts.receive(grant, bytes))
  )
  if (Exit.isSuccess(exit)) return response.setHeader("etag", `"${exit.value.eTag}"`).end()
  const error = Cause.squash(exit.cause) as { readonly _tag?: string }
  return response.writeHead(statusOf[error._tag ?? ""] ?? 500, { connection: "close" }).end(error._tag)
}

/** The file storage in a folder, and a server that receives its parts. */
export const fileStorage = (root: string) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const server = createServer()
      yield* Effect.promise(() => new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve)))
      yield* Effect.addFinalizer(() => Effect.sync(() => server.close().closeAllConnections()))
      const publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const context = yield* Layer.build(FileStorage.layer({ root, publicUrl, secret }))
      const parts = Context.get(context, FileParts)
      server.on("request", (request, response) => void answer(parts, request, response))
      return context
    })
  )

/** Runs a test on a storage of its own. */
export const onStorage = <A, E>(test: (root: string) => Effect.Effect<A, E, Storage | FileParts>) =>
  Effect.scoped(
    Effect.flatMap(temporaryFolder, (folder) => {
      const root = join(folder, "a", "storage")
      return Effect.provide(test(root), fileStorage(root))
    })
  )

/** Sends a part without HTTP. */
export const receive = Effect.fnUntraced(function* (
  uploadId: string,
  partNumber: number,
  ...chunks: ReadonlyArray<Uint8Array>
) {
  const parts = yield* FileParts
  return yield* parts.receive({ uploadId, partNumber, maxSize: 1e9 }, Stream.fromIterable(chunks))
})
