import { Console, DateTime, Effect, Layer, Logger, Option, References } from "effect"
import { FetchHttpClient } from "effect/http"
import { Otlp } from "effect/observability"
import { Settings } from "../settings/Config.ts"
import { version } from "../settings/Version.ts"

const isPretty = ({ LOG_FORMAT }: Settings["Service"]) =>
  LOG_FORMAT === "pretty" || (LOG_FORMAT === "auto" && process.stdout.isTTY)

/** Says something on standard output and nowhere else: a key must not reach a collector of logs. */
export const printLine = Effect.fnUntraced(function* (message: string) {
  const timestamp = DateTime.formatIso(yield* DateTime.now)
  yield* Console.log(isPretty(yield* Settings) ? message : JSON.stringify({ message, level: "INFO", timestamp }))
})

/** Text for standard output. What comes within one turn of the event loop goes out in one write, which waits for its reader. */
const write = (() => {
  let waiting = ""
  const flush = () => {
    const text = waiting
    waiting = ""
    if (text !== "") process.stdout.write(text)
  }
  process.once("exit", flush)
  return (text: string) => {
    if (waiting === "") setImmediate(flush)
    waiting += text
  }
})()

const jsonLines = Logger.map(Logger.formatJson, (line) => write(`${line}\n`))

/**
 * A log that cannot be written, to a full disk or a pipe whose reader has gone, must not end the service. There is
 * nowhere to say so, and what comes later is tried again.
 */
const outliveOutput = Layer.effectDiscard(
  Effect.sync(() => {
    for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined)
  })
)

const logger = Layer.unwrap(
  Effect.map(Settings, (settings) =>
    Layer.merge(
      Logger.layer([isPretty(settings) ? Logger.consolePretty() : jsonLines]),
      Layer.succeed(References.MinimumLogLevel, settings.LOG_LEVEL)
    )
  )
).pipe(Layer.provide(outliveOutput))

/** Traces, metrics and logs, when an endpoint is configured. */
const exporter = Layer.unwrap(
  Effect.map(Settings, ({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }) =>
    Option.isNone(endpoint)
      ? // Spans that nobody collects are not made.
        Layer.succeed(References.TracerEnabled, false)
      : Otlp.layerJson({
          baseUrl: endpoint.value,
          resource: { serviceName: "waypost", serviceVersion: version }
        }).pipe(Layer.provide(FetchHttpClient.layer))
  )
)

/** Logs for people on a terminal, JSON lines elsewhere. */
export const layer = Layer.provideMerge(exporter, logger)
