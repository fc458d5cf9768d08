import { Effect, Layer, Logger, Option, References } from "effect"
import { SecureRandom } from "effect/crypto"
import { FetchHttpClient, HttpClient, UrlParams } from "effect/http"
import { Otlp, OtlpResource } from "effect/observability"
import { processesOf, Settings } from "../settings/Config.ts"
import { messageOf } from "../postgres/SystemMessage.ts"
import { version } from "../settings/Version.ts"
import * as StandardOutput from "./StandardOutput.ts"

const isPretty = ({ LOG_FORMAT }: Settings["Service"]) =>
  LOG_FORMAT === "pretty" || (LOG_FORMAT === "auto" && process.stdout.isTTY)

/** Writes all lines of one turn of the event loop with a single system call. */
const makeJsonLines = () => {
  let buffered = ""
  const write = StandardOutput.lineWriter(process.stdout)
  const flush = () => {
    const text = buffered
    buffered = ""
    if (text !== "") write(text)
  }
  process.once("exit", flush)
  return Logger.map(Logger.formatJson, (line) => {
    if (buffered === "") setImmediate(flush)
    buffered += `${line}\n`
  })
}

/** A failing log write, to a full disk or a closed pipe, must not end the service. Later lines are attempted again. */
const ignoreOutputErrors = Layer.effectDiscard(
  Effect.sync(() => {
    for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined)
  })
)

const logger = Layer.unwrap(
  Effect.map(Settings, (settings) =>
    Layer.merge(
      Logger.layer([isPretty(settings) ? Logger.consolePretty() : makeJsonLines()]),
      Layer.succeed(References.MinimumLogLevel, settings.LOG_LEVEL)
    )
  )
).pipe(Layer.provide(ignoreOutputErrors))

/** Every value of a query: filters and searches contain personal data, and a trace is read by more people than a record. */
const redactQueries = Layer.succeed(UrlParams.CurrentRedactedNames, [/^/])

const serviceName = "waypost"

/**
 * What identifies this process: each counts the same metrics. The identity that `OTEL_RESOURCE_ATTRIBUTES` gives is kept, unless
 * several processes would have it.
 */
const identity = Effect.gen(function* () {
  const { attributes } = yield* OtlpResource.fromConfig({ serviceName })
  const isNamed = attributes.some(({ key }) => key === "service.instance.id") && processesOf(yield* Settings) === 1
  return {
    ...(isNamed ? {} : { "service.instance.id": SecureRandom.uuidV4Unsafe() }),
    "process.pid": process.pid
  }
})

/** A client that warns of failed requests, at most once a minute: the exporter drops what it could not send without a word. */
export const warning = (url: string) =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function* () {
      const client = yield* HttpClient.HttpClient
      let reason = ""
      const warn = yield* Effect.cachedWithTTL(
        Effect.suspend(() => Effect.logWarning(`${url} did not take traces, metrics or logs: ${reason}`)),
        "1 minute"
      )
      return client.pipe(
        HttpClient.filterStatusOk,
        HttpClient.tapError((error) => {
          reason = error.response === undefined ? messageOf(error.reason) : `it answers ${error.response.status}`
          return warn
        })
      )
    })
  )

/** Exports traces, metrics and logs when an endpoint is configured. */
const exporter = Layer.unwrap(
  Effect.gen(function* () {
    const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = yield* Settings
    // Without an exporter no spans are created.
    if (Option.isNone(endpoint)) return Layer.succeed(References.TracerEnabled, false)
    return Otlp.layerJson({
      baseUrl: endpoint.value,
      resource: { serviceName, serviceVersion: version(), attributes: yield* identity }
    }).pipe(Layer.provide(Layer.provide(warning(endpoint.value), FetchHttpClient.layer)), Layer.merge(redactQueries))
  })
)

/** Pretty logs on a terminal, JSON lines elsewhere, and the exporter. */
export const layer = Layer.provideMerge(exporter, logger)
