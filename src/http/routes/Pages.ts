import { Cause, type Context, Effect, Fiber, Layer, MutableRef, Option, Redacted, Schedule } from "effect"
import { HttpRouter, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { PrometheusMetrics } from "effect/observability"
import { timingSafeEqual } from "node:crypto"
import { openApi } from "../../api/Api.ts"
import { Settings } from "../../settings/Config.ts"
import { PublicUrl } from "../../settings/PublicUrl.ts"
import { Sql } from "../../sql/Sql.ts"
import { cachedForASecond } from "../../services/CachedForASecond.ts"
import { Uploads } from "../../services/Uploads.ts"
import * as Documentation from "../docs/Documentation.ts"
import { noRoute } from "../transport/Failures.ts"
import * as Metrics from "../transport/Metrics.ts"
import * as Console from "./Console.ts"
import * as SharedPage from "./SharedPage.ts"
import { InFlight } from "../transport/InFlight.ts"
import type { Route } from "../transport/RouteTable.ts"

const exempt = { limits: { inFlight: "exempt" } } as const

/** Pages need no API key. Health checks and metrics answer even when the service is overloaded. */
const pages = {
  document: SharedPage.get("/v1/openapi.json"),
  healthz: { ...SharedPage.get("/healthz"), ...exempt },
  readyz: { ...SharedPage.get("/readyz"), ...exempt },
  metrics: { ...SharedPage.get("/metrics"), ...exempt }
}

export const routes: ReadonlyArray<Route> = [...Object.values(pages), ...Documentation.routes, ...Console.routes]

/** A request without the token gets the answer of an unknown path. */
const hasMetricsToken = Effect.gen(function* () {
  const { METRICS_TOKEN } = yield* Settings
  return (request: HttpServerRequest.HttpServerRequest) => {
    if (Option.isNone(METRICS_TOKEN)) return true
    const expected = Buffer.from(`Bearer ${Redacted.value(METRICS_TOKEN.value)}`)
    const sent = Buffer.from(request.headers["authorization"] ?? "")
    return sent.length === expected.length && timingSafeEqual(sent, expected)
  }
})

const metrics = Layer.effectDiscard(
  Effect.gen(function* () {
    const router = yield* HttpRouter.HttpRouter
    const allowed = yield* hasMetricsToken
    const { inFlight } = yield* InFlight
    const observe = Effect.contextWith((context: Context.Context<never>) =>
      Effect.sync(() => Metrics.observe(context, MutableRef.get(inFlight)))
    )
    const { OTEL_EXPORTER_OTLP_ENDPOINT } = yield* Settings
    // As often as the exporter sends them.
    if (Option.isSome(OTEL_EXPORTER_OTLP_ENDPOINT)) {
      yield* Effect.forkScoped(Effect.repeat(observe, Schedule.spaced("10 seconds")))
    }
    const text = Effect.contextWith((context: Context.Context<never>) => {
      const body = PrometheusMetrics.formatUnsafe(context)
      return Effect.succeed(HttpServerResponse.text(body, { contentType: "text/plain; version=0.0.4; charset=utf-8" }))
    })
    yield* router.add("GET", pages.metrics.path, (request) =>
      allowed(request) ? Effect.andThen(observe, text) : Effect.die(noRoute)
    )
  })
)

/** Whether a dependency answers in time: with the cache below, readiness ends at most 2.5 s after the dependency. */
const stateOf = <A, E>(check: Effect.Effect<A, E>) =>
  check.pipe(
    Effect.timeout("1500 millis"),
    Effect.as("up" as const),
    Effect.catchCause((cause) => Effect.as(Effect.logDebug("Not ready", Cause.squash(cause)), "down" as const))
  )

/**
 * Runs a check in a fiber of its own, so that its time limit holds, and never twice at the same time: a lookup on a disk that hangs
 * cannot be interrupted, and keeps one of the few threads for files.
 */
const detached = Effect.fnUntraced(function* <E>(check: Effect.Effect<void, E>) {
  const run = Effect.runForkWith(yield* Effect.context())
  let running: Fiber.Fiber<void, E> | undefined
  const begin = () => {
    const fiber = run(check)
    running = fiber
    fiber.addObserver(() => (running = undefined))
    return fiber
  }
  return Effect.suspend(() => {
    const fiber = running ?? begin()
    return Effect.ensuring(
      Fiber.join(fiber),
      Effect.sync(() => fiber.interruptUnsafe())
    )
  })
})

/** Ready when database and storage answer; the result is cached for a second. */
const readiness = Effect.gen(function* () {
  const { lookups } = yield* Sql
  const { storage } = yield* Uploads
  const check = yield* detached(storage)
  const { isDraining } = yield* InFlight
  const states = Effect.all(
    { database: stateOf(lookups`select 1`), storage: stateOf(check) },
    { concurrency: "unbounded" }
  )
  const checked = yield* cachedForASecond(states)
  return Effect.map(checked, (state) => {
    const ready = state.database === "up" && state.storage === "up" && !isDraining()
    return HttpServerResponse.jsonUnsafe(
      { status: ready ? "ready" : "unavailable", ...state },
      { status: ready ? 200 : 503, headers: ready ? {} : { "retry-after": "1" } }
    )
  })
})

const ready = Layer.effectDiscard(
  Effect.gen(function* () {
    const router = yield* HttpRouter.HttpRouter
    yield* router.add("GET", pages.readyz.path, yield* readiness)
  })
)

/** The document takes a while to build, so it is built for its first reader and not at the start. */
const document = Layer.effectDiscard(
  Effect.gen(function* () {
    const router = yield* HttpRouter.HttpRouter
    const share = yield* SharedPage.make
    const { origin } = yield* PublicUrl
    const text = yield* Effect.cached(
      Effect.sync(() => HttpServerResponse.text(JSON.stringify(openApi(origin)), { contentType: "application/json" }))
    )
    yield* router.add("GET", pages.document.path, Effect.flatMap(text, share))
  })
)

export const layer = Layer.mergeAll(
  HttpRouter.add("GET", pages.healthz.path, HttpServerResponse.jsonUnsafe({ status: "ok" })),
  document,
  Documentation.layer,
  Console.layer,
  ready,
  metrics
)
