import { Config, Context, Effect, Layer, LogLevel, Option, Redacted, Result, Schema } from "effect"
import { availableParallelism } from "node:os"
import * as ApiKeySecret from "../domain/keys/ApiKeySecret.ts"
import * as Locale from "../domain/schema/Locale.ts"

/** A setting cannot be read; the message names the variable, what is wrong with it and a value that would do. */
export class SettingsError extends Schema.TaggedError<SettingsError>()("SettingsError", { message: Schema.String }) {}

interface Setting<A> {
  readonly parse: (value: string) => Result.Result<A, string>
  readonly fallback: A
  readonly example: string
}

const setting = <A>(
  fallback: A,
  example: string,
  expected: string,
  read: (value: string) => A | undefined
): Setting<A> => ({
  fallback,
  example,
  parse: (value) => {
    const parsed = read(value)
    return parsed === undefined ? Result.fail(expected) : Result.succeed(parsed)
  }
})

const string = (fallback: string, example: string, pattern: RegExp, expected: string) =>
  setting(fallback, example, expected, (value) => (pattern.test(value) ? value : undefined))

const optional = <A>(example: string, expected: string, read: (value: string) => A | undefined) =>
  setting<Option.Option<A>>(Option.none(), example, expected, (value) => {
    const parsed = read(value)
    return parsed === undefined ? undefined : Option.some(parsed)
  })

const integer = (fallback: number, minimum: number, maximum: number, example = String(fallback)) =>
  setting(fallback, example, `a whole number from ${minimum} to ${maximum}`, (value) => {
    const parsed = Number(value)
    return /^\d{1,15}$/.test(value) && parsed >= minimum && parsed <= maximum ? parsed : undefined
  })

const choice = <const A extends string>(fallback: A, choices: ReadonlyArray<A>) =>
  setting<A>(fallback, fallback, `one of ${choices.join(", ")}`, (value) =>
    choices.find((name) => name === value.toLowerCase())
  )

const boolean = (fallback: boolean) =>
  setting(fallback, String(fallback), "true or false", (value) =>
    value.toLowerCase() === "true" ? true : value.toLowerCase() === "false" ? false : undefined
  )

const webUrl = (value: string) =>
  /^https?:\/\//.test(value) && URL.canParse(value) ? value.replace(/(?<!\/)\/+$/, "") : undefined

const bytes = (fallback: number, minimum: number) =>
  setting(fallback, "5368709120", `a number of bytes, at least ${minimum}`, (value) => {
    const parsed = Number(value)
    return /^\d{1,15}$/.test(value) && parsed >= minimum ? parsed : undefined
  })

const mediaTypes = (value: string) => {
  const types = value.split(",").map((type) => type.trim().toLowerCase())
  return types.every((type) => /^[\w.+-]+\/(?:[\w.+-]+|\*)$/.test(type)) ? types : undefined
}

/** What a browser or a shell would run if it got the chance. */
const blockedTypes = [
  "text/html",
  "application/xhtml+xml",
  "text/javascript",
  "application/javascript",
  "application/x-msdownload",
  "application/x-msdos-program",
  "application/x-msi",
  "application/x-sh",
  "application/x-elf",
  "application/x-mach-binary",
  "application/java-archive",
  "application/vnd.android.package-archive"
]

const locales = (value: string) => {
  const names = value.split(",").map((name) => Locale.canonical(name.trim()))
  return names.every(Option.isSome) ? names.map((name) => name.value) : undefined
}

/** Every setting, its default and its limit. */
const definitions = {
  HOST: string("127.0.0.1", "0.0.0.0", /^[^\s/]+$/, "a host name or address"),
  PORT: integer(3000, 0, 65_535),
  PUBLIC_URL: optional("https://api.example.com", "an absolute http or https URL", webUrl),
  DATA_DIR: string(".data", "/var/lib/waypost", /\S/, "a folder"),
  DATABASE_URL: optional("postgres://waypost:secret@db.example.com:5432/waypost", "a postgres:// URL", (value) =>
    /^postgres(?:ql)?:\/\//.test(value) && URL.canParse(value) ? Redacted.make(value) : undefined
  ),
  DATABASE_PREPARE: boolean(true),
  DATABASE_POOL_SIZE: integer(10, 1, 1000),
  STORAGE: choice<"file" | "s3">("file", ["file", "s3"]),
  S3_ENDPOINT: optional("https://s3.example.com", "an absolute http or https URL", webUrl),
  S3_REGION: string("us-east-1", "eu-west-1", /^[\w-]+$/, "the name of a region"),
  S3_BUCKET: optional("waypost-files", "the name of a bucket", (value) =>
    /^[\w.-]{3,63}$/.test(value) ? value : undefined
  ),
  S3_ACCESS_KEY_ID: optional("an-access-key-id", "an access key id", (value) => value),
  S3_SECRET_ACCESS_KEY: optional("a-secret-access-key", "a secret access key", (value) => Redacted.make(value)),
  S3_FORCE_PATH_STYLE: boolean(false),
  CDN_URL: optional("https://cdn.example.com", "an absolute http or https URL", webUrl),
  UPLOAD_MAX_BYTES: bytes(5 * 1024 ** 3, 1),
  UPLOAD_BLOCKED_TYPES: setting<ReadonlyArray<string>>(
    blockedTypes,
    "text/html,application/x-msdownload",
    "a comma-separated list of media types",
    mediaTypes
  ),
  BOOTSTRAP_API_KEY: optional(
    ApiKeySecret.format(new Uint8Array(16), new Uint8Array(32)).key,
    "a key of the form wp_<22 characters>_<43 characters><checksum of 6 characters>",
    (value) => (Option.isSome(ApiKeySecret.parse(value)) ? Redacted.make(value) : undefined)
  ),
  LOCALES: optional("nl,en,de-CH", "a comma-separated list of known locales", locales),
  RATE_LIMIT_PER_SECOND: integer(0, 0, 1_000_000, "50"),
  MAX_IN_FLIGHT: integer(512, 1, 100_000),
  WORKERS: integer(1, 0, 256, "4"),
  DRAIN_SECONDS: integer(0, 0, 600, "10"),
  METRICS_TOKEN: optional("a-long-random-text", "at least 8 characters", (value) =>
    value.length >= 8 ? Redacted.make(value) : undefined
  ),
  LOG_LEVEL: setting<LogLevel.LogLevel>(
    "Info",
    "info",
    "one of trace, debug, info, warn, error, fatal, none",
    (value) => LogLevel.values.find((level) => level.toLowerCase() === value.toLowerCase() && level !== "All")
  ),
  LOG_FORMAT: choice<"auto" | "pretty" | "json">("auto", ["auto", "pretty", "json"]),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional("http://127.0.0.1:4318", "an absolute http or https URL", webUrl)
} satisfies Readonly<Record<string, Setting<unknown>>>

type Values = { readonly [K in keyof typeof definitions]: (typeof definitions)[K]["fallback"] }

/** How many processes serve. */
export const processesOf = ({ WORKERS }: Pick<Values, "WORKERS">) => (WORKERS === 0 ? availableParallelism() : WORKERS)

/** The connections to the database that all processes together may open. */
export const connectionsOf = (values: Pick<Values, "WORKERS" | "DATABASE_POOL_SIZE">) =>
  processesOf(values) * values.DATABASE_POOL_SIZE

/** PostgreSQL reserves memory for each, used or not. */
const embeddedConnections = 5000

const tooManyConnections = (values: Values) =>
  Option.isNone(values.DATABASE_URL) && connectionsOf(values) > embeddedConnections
    ? [
        `DATABASE_POOL_SIZE: ${processesOf(values)} processes (WORKERS) with ${values.DATABASE_POOL_SIZE} connections each ` +
          `are ${connectionsOf(values)}, and the embedded PostgreSQL takes ${embeddedConnections}. ` +
          `For example: DATABASE_POOL_SIZE=${definitions.DATABASE_POOL_SIZE.example}`
      ]
    : []

/** Settings that are right by themselves and wrong together. */
const contradictions = (values: Values) => [...storageContradictions(values), ...tooManyConnections(values)]

const storageContradictions = ({ S3_ACCESS_KEY_ID, S3_BUCKET, S3_SECRET_ACCESS_KEY, STORAGE }: Values) => [
  ...(STORAGE === "s3" && Option.isNone(S3_BUCKET)
    ? [`S3_BUCKET: STORAGE=s3 needs a bucket. For example: S3_BUCKET=${definitions.S3_BUCKET.example}`]
    : []),
  ...(Option.isSome(S3_ACCESS_KEY_ID) === Option.isSome(S3_SECRET_ACCESS_KEY)
    ? []
    : ["S3_ACCESS_KEY_ID: set it together with S3_SECRET_ACCESS_KEY, or leave both to the machine's own credentials"])
]

/** The names of all settings, in the order of the list. */
export const names = Object.keys(definitions)

const read = Effect.fnUntraced(function* () {
  const values: Record<string, unknown> = {}
  const problems: Array<string> = []
  for (const [name, { example, fallback, parse }] of Object.entries<Setting<unknown>>(definitions)) {
    const value = Option.getOrElse(yield* Config.option(Config.String(name)), () => "").trim()
    // An empty variable is an unset one: that is how compose files and shells leave things out.
    const parsed = value === "" ? Result.succeed(fallback) : parse(value)
    if (Result.isSuccess(parsed)) values[name] = parsed.success
    else {
      const shown =
        name.includes("KEY") || name.includes("TOKEN") || name === "DATABASE_URL" ? "The value" : `"${value}"`
      problems.push(`${name}: ${shown} is not ${parsed.failure}. For example: ${name}=${example}`)
    }
  }
  if (problems.length === 0) problems.push(...contradictions(values as unknown as Values))
  if (problems.length > 0) return yield* new SettingsError({ message: problems.join("\n") })
  return values as unknown as Values
})

/** The settings of this process, read once from the environment. */
export class Settings extends Context.Service<Settings, Values>()("waypost/settings/Config/Settings") {
  static readonly layer = Layer.effect(
    Settings,
    read().pipe(Effect.catchTag("ConfigError", (error) => Effect.die(error)))
  )
}
