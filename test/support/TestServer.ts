import { NodeServices } from "@effect/platform-node"
import { ConfigProvider, Context, Effect, Layer, References, type Scope } from "effect"
import {
  FetchHttpClient,
  HttpClientRequest,
  HttpEffect,
  HttpRouter,
  HttpServer,
  type HttpServerRequest
} from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inject } from "vitest"
import { Api } from "../../src/api/Api.ts"
import { Authorization } from "../../src/api/Authorization.ts"
import { InFlight } from "../../src/http/transport/InFlight.ts"
import { TimeLimits } from "../../src/http/transport/Timeout.ts"
import { Settings } from "../../src/settings/Config.ts"
import { PublicUrl } from "../../src/settings/PublicUrl.ts"
import * as Permission from "../../src/domain/keys/Permission.ts"
import * as Services from "../../src/app/layers/Services.ts"
import * as Server from "../../src/app/Server.ts"
import { AttemptLimit } from "../../src/repositories/webhooks/DeliveryQueue.ts"
import { ApiKeys } from "../../src/services/ApiKeys.ts"
import { Lookup } from "../../src/services/webhooks/Egress.ts"
import { checkAnswer, textOf } from "./answers.ts"
import * as Postgres from "./Postgres.ts"

/** Sends the key, and no other header, with every request. */
const authorization = (apiKey: string) =>
  HttpApiMiddleware.layerClient(Authorization, ({ next, request }) =>
    next(HttpClientRequest.setHeader(request, "authorization", apiKey))
  )

/** Settings of a test, with a data folder of its own; nothing of the environment gets in. */
export const settings = (values: Readonly<Record<string, string>> = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "waypost-data-"))),
        (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
      )
      const prepare = String(inject("postgres").prepare)
      const provider = ConfigProvider.fromUnknown({
        DATA_DIR: folder,
        DATABASE_PREPARE: prepare,
        // Receivers of webhooks are on this machine.
        WEBHOOK_ALLOW_HTTP: "true",
        WEBHOOK_ALLOW_PRIVATE: "true",
        ...values
      })
      return Settings.layer.pipe(Layer.provide(ConfigProvider.layer(provider)))
    })
  )

/**
 * More time than in production for bodies, answers and clients that leave answers unread, because a busy machine may need it. The limits
 * of a test that is about them stay.
 */
export const patience = Layer.effect(
  TimeLimits,
  Effect.contextWith((context: Context.Context<never>) => {
    const given = Context.get(context, TimeLimits)
    if (context.mapUnsafe.has(TimeLimits.key)) return Effect.succeed(given)
    const long = 600_000
    const read = { ...given.read, stall: long, average: long }
    return Effect.succeed({ ...given, body: long, answer: long, bodyRate: long, read })
  })
)

/** What the addresses in answers begin with. */
export const publicUrl = Layer.succeed(PublicUrl, { origin: "http://waypost.test", cdn: "http://waypost.test" })

/** The whole service in memory, on a real database of its own. Every answer is decoded with its schema, strictly. */
export class TestServer extends Context.Service<
  TestServer,
  {
    /** Sends a request without a socket; a path is enough. */
    readonly fetch: (path: string, init?: RequestInit) => Promise<Response>
    /** A new key with these permissions. */
    readonly key: (permissions: ReadonlyArray<Permission.Permission>) => Effect.Effect<string>
    /** A key that holds every permission. */
    readonly fullKey: string
    /** The typed client of a key. */
    readonly client: (key: string) => Effect.Effect<HttpApiClient.ForApi<typeof Api>>
  }
>()("waypost/test/TestServer") {}

/** A stream has no end, so that only its first part is read. */
const beginningOf = async (response: Response) => {
  if (response.headers.get("content-type") !== "text/event-stream" || response.body === null) return response
  const reader = response.body.getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return new Response(value as Uint8Array<ArrayBuffer>, response)
}

const make = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const app = yield* HttpRouter.toHttpEffect(Server.routes)
  const context = yield* Effect.context()
  const handler = HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest | Scope.Scope>(context)(app)
  const fetch = async (path: string | URL | Request, init?: RequestInit) => {
    const request = path instanceof Request ? path : new Request(new URL(path, "http://waypost.test"), init)
    const method = request.method
    const response = await beginningOf(await handler(request))
    const text = await textOf(response)
    const header = (name: string) => response.headers.get(name)
    checkAnswer(method, new URL(request.url), { status: response.status, header, text })
    return text === undefined ? response : new Response(text, response)
  }
  const key = (permissions: ReadonlyArray<Permission.Permission>) =>
    Effect.map(keys.createUnchecked({ name: "Test", permissions }), (created) => created.key)
  const client = (apiKey: string) =>
    HttpApiClient.make(Api, { baseUrl: "http://waypost.test" }).pipe(
      Effect.provide(Layer.merge(authorization(apiKey), FetchHttpClient.layer)),
      Effect.provideService(FetchHttpClient.Fetch, fetch)
    )
  return TestServer.of({ fetch, key, client, fullKey: yield* key(Permission.all) })
})

/** The name of any receiver of webhooks leads to this machine. */
export const lookup = () => Promise.resolve(["127.0.0.1"])

/** The service with the given settings and the time limits of production, and the pools to look behind it. */
export const limited = (values: Readonly<Record<string, string>> = {}, lookupHost: typeof Lookup.Service = lookup) =>
  Layer.effect(TestServer, make).pipe(
    Layer.provide([Services.layer, Server.limits, HttpServer.layerServices, InFlight.layer]),
    Layer.provide([publicUrl, NodeServices.layer, Layer.succeed(References.MinimumLogLevel, "Warn")]),
    Layer.provideMerge(Postgres.limited),
    Layer.provideMerge(settings(values)),
    Layer.provide(Layer.succeed(Lookup, lookupHost))
  )

/** The service with the given settings, whose statements, answers and attempts to deliver events have more time. */
export const layer = (...given: Parameters<typeof limited>) =>
  limited(...given).pipe(Layer.provide([Postgres.patience, patience, Layer.succeed(AttemptLimit, 240_000)]))
