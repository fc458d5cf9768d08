import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option, Redacted, Stream } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { createServer } from "node:http"
import { Renderer } from "../../../src/media/Renderer.ts"
import { Files } from "../../../src/repositories/assets/Files.ts"
import * as FilesHttp from "../../../src/http/routes/Files.ts"
import { InFlight } from "../../../src/http/transport/InFlight.ts"
import { Shares } from "../../../src/http/transport/limits/Shares.ts"
import * as Transport from "../../../src/http/transport/Transport.ts"
import * as Server from "../../../src/app/Server.ts"
import { ApiKeys } from "../../../src/services/ApiKeys.ts"
import { Downloads } from "../../../src/services/Downloads.ts"
import { SignedUrls } from "../../../src/services/SignedUrls.ts"
import { ThumbnailPatience, Thumbnails } from "../../../src/services/Thumbnails.ts"
import { Storage } from "../../../src/storage/Storage.ts"
import { patience, settings } from "../../support/TestServer.ts"
import { eventually } from "../../support/Until.ts"

const requests = 120

/** The route of files on a port, with a renderer that finishes nothing until `finish`. */
const stage = (values: Readonly<Record<string, string>> = {}) => {
  const finished = Deferred.makeUnsafe<void>()
  const written = new Set<string>()
  const services = Layer.mergeAll(
    Layer.mock(Renderer, {
      check: () => Effect.void,
      render: (_, wanted) => Effect.as(Deferred.await(finished), { images: wanted.map(() => new Uint8Array(1)) }),
      prepareNext: Effect.void,
      icon: () => Effect.succeed(new Uint8Array(2))
    }),
    Layer.mock(ApiKeys, { shareOf: (uuid) => Effect.succeed(uuid) }),
    Layer.mock(SignedUrls, { verify: () => Effect.void, derivedKey: () => Redacted.make(new Uint8Array()) }),
    Layer.mock(Files, {
      rendered: () => Effect.void,
      find: (uuid) =>
        Effect.succeedSome({
          uuid,
          fileName: "a.jpg",
          extension: "jpg",
          mimeType: "image/jpeg",
          size: 100,
          sha256: "",
          pathName: "a.jpg",
          processing: "pending"
        })
    }),
    Layer.mock(Storage, {
      localFile: (key) => Effect.succeed(key),
      size: (key) => Effect.sync(() => (written.has(key) ? Option.some(1) : Option.none())),
      write: (key) => Effect.sync(() => void written.add(key)),
      read: () => Stream.succeed(new Uint8Array(1))
    }),
    Layer.succeed(ThumbnailPatience, "1 hour")
  )
  const routes = Layer.mergeAll(FilesHttp.layer, Transport.layer).pipe(
    Layer.provide(Downloads.layer),
    Layer.provide(Thumbnails.layer),
    Layer.provide(services),
    Layer.provide([Layer.provide(Server.routeTable, patience), Shares.layer]),
    Layer.provide(Layer.succeed(FilesHttp.MaxThumbnailWaits, { ofProcess: 64, ofNetwork: 16 }))
  )
  const around = Layer.mergeAll(
    InFlight.layer,
    Server.limits,
    // A connection that is closed at the moment in which it is used again would break a request.
    NodeHttpServer.layer(() => createServer({ keepAliveTimeout: 0 }), { host: "127.0.0.1", port: 0 })
  ).pipe(Layer.provideMerge(settings({ MAX_IN_FLIGHT: "8", ...values })))
  return { routes, around, finish: Deferred.succeed(finished, undefined) }
}

/** Asks for many thumbnails that do not exist yet, of which `waiting` may be waited for: more than may be in flight. */
const asking = (waiting: number, values: Readonly<Record<string, string>> = {}) => {
  const { around, finish, routes } = stage(values)
  return Effect.gen(function* () {
    yield* HttpServer.serveEffect(yield* HttpRouter.toHttpEffect(routes))
    const { address } = yield* HttpServer.HttpServer
    const port = "port" in address ? address.port : 0
    const caching: Array<string | null> = []
    const ask = Effect.fnUntraced(function* (index: number) {
      const uuid = `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`
      const url = `http://127.0.0.1:${port}/files/${uuid}/thumbnail_a.jpg?expires=99999999999&signature=x`
      const { headers, status } = yield* Effect.repeat(
        Effect.promise(() => fetch(url, { headers: { accept: "image/jpeg" } })),
        { while: ({ status }) => status === 429 || status === 503 }
      )
      assert.strictEqual(status, 200)
      caching.push(headers.get("cache-control"))
    })
    const all = yield* Effect.forkChild(
      Effect.forEach(Array.from({ length: requests }).keys(), ask, { concurrency: requests })
    )
    yield* eventually(
      "requests above the limit are answered",
      Effect.sync(() => caching.length),
      (length) => length === requests - waiting
    )
    assert.deepStrictEqual([...new Set(caching)], ["public, max-age=10"])
    yield* finish
    yield* Fiber.join(all)
    const made = caching.slice(requests - waiting)
    assert.isTrue(made.every((header) => header?.endsWith("immutable")))
  }).pipe(Effect.provide(around), Effect.scoped)
}

describe("requests that wait for a thumbnail", () => {
  it.live("a client network has a limit of them, and none is in flight; the others are answered with the icon", () =>
    asking(16)
  )

  it.live("a process has a limit of them when all clients have the address of a proxy", () =>
    asking(64, { PUBLIC_URL: "https://api.example.com" })
  )
})
