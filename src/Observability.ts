import { Effect, Layer, Logger, Option, References } from "effect"
import { FetchHttpClient } from "effect/http"
import { Otlp } from "effect/observability"
import { Settings } from "./Config.ts"
import { version } from "./Version.ts"

const logger = Layer.unwrap(
  Effect.map(Settings, ({ LOG_FORMAT, LOG_LEVEL }) => {
    const pretty = LOG_FORMAT === "pretty" || (LOG_FORMAT === "auto" && process.stdout.isTTY)
    return Layer.merge(
      Logger.layer([pretty ? Logger.consolePretty() : Logger.consoleJson]),
      Layer.succeed(References.MinimumLogLevel, LOG_LEVEL)
    )
  })
)

/** Traces, metrics and logs, when an endpoint is configured. */
const exporter = Layer.unwrap(
  Effect.map(Settings, ({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }) =>
    Option.isNone(endpoint)
      ? Layer.empty
      : Otlp.layerJson({
          baseUrl: endpoint.value,
          resource: { serviceName: "waypost", serviceVersion: version }
        }).pipe(Layer.provide(FetchHttpClient.layer))
  )
)

/** Logs for people on a terminal, JSON lines elsewhere. */
export const layer = Layer.provideMerge(exporter, logger)
