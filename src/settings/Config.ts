import { Config, ConfigProvider, Context, Effect, Layer, Option, Redacted, Result, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { availableParallelism } from "node:os"
import * as ApiKeySecret from "../domain/keys/ApiKeySecret.ts"
import * as Misspelt from "./Misspelt.ts"
import { SettingsError } from "./SettingsError.ts"
import {
  apiKey,
  boolean,
  bytes,
  choice,
  collectorUrl,
  databaseUrl,
  databaseUrlRules,
  extension,
  fraction,
  integer,
  list,
  locale,
  mediaType,
  origin,
  text,
  webUrl,
  weights
} from "./Codecs.ts"

/** An invalid value fails with one line that names the variable, what is expected and a valid example. */
const read = <A>(name: string, config: Config.Config<A>, codec: Schema.Top, example: string, isSecret = false) =>
  Effect.catch(config, () =>
    Effect.flatMap(Effect.orDie(Config.String(name)), (value) => {
      const shown = isSecret ? "The value" : `"${value}"`
      const { expected } = Schema.resolveAnnotations(codec) ?? {}
      return Effect.fail(`${name}: ${shown} is not ${expected}. For example: ${name}=${example}`)
    })
  )
const setting = <A>(name: string, codec: Schema.Codec<A, string>, fallback: NoInfer<A>, example = String(fallback)) =>
  read(name, Config.withDefault(Config.schema(codec, name), fallback), codec, example)
const optional = <A>(name: string, codec: Schema.Codec<A, string>, example: string) =>
  read(name, Config.option(Config.schema(codec, name)), codec, example)
const secret = (name: string, codec: Schema.Codec<string>, example: string) =>
  read(name, Config.option(Config.schema(Schema.Redacted(codec), name)), codec, example, true)

/** URLs with passwords; none unless they are set. */
const secretUrls = (name: string, example: string) => {
  const codec = list(databaseUrl, `postgres:// URLs with ${databaseUrlRules}`)
  const urls = Config.map(Config.withDefault(Config.schema(codec, name), []), (all) =>
    all.map((one) => Redacted.make(one))
  )
  return read(name, urls, codec, example, true)
}

/** Types that a browser or a shell executes. */
const blockedTypes = `
  text/html application/xhtml+xml text/javascript application/javascript application/x-msdownload
  application/x-msdos-program application/x-msi application/x-sh application/x-elf application/x-mach-binary
  application/java-archive application/vnd.android.package-archive`
  .trim()
  .split(/\s+/)

/** Extensions of files that a system executes, or that lead it to a program; many of them have no media type. */
const blockedExtensions = `
  exe com scr pif bat cmd msi msp msix msc cpl dll sys drv ocx gadget lnk url scf inf reg
  ps1 psm1 psd1 vb vbs vbe js jse mjs cjs ws wsf wsc wsh sct hta mht mhtml chm jar jnlp apk
  sh bash zsh ksh csh command run elf appimage php phtml phar asp aspx jsp cgi`
  .trim()
  .split(/\s+/)

/** Every setting with its type, default and limits. */
const definitions = {
  HOST: setting("HOST", text(/^[^\s/]+$/, "a host name or address"), "127.0.0.1", "0.0.0.0"),
  PORT: setting("PORT", integer(0, 65_535), 3000),
  PUBLIC_URL: optional("PUBLIC_URL", webUrl, "https://api.example.com"),
  CORS_ORIGINS: setting(
    "CORS_ORIGINS",
    list(origin, "origins without a path, or *"),
    [],
    "https://app.example.com,https://intranet.example.com"
  ),
  DATA_DIR: setting("DATA_DIR", Schema.String, ".data"),
  DATABASE_URL: secret("DATABASE_URL", databaseUrl, "postgres://waypost:secret@db.example.com:5432/waypost"),
  DATABASE_PREPARE: setting("DATABASE_PREPARE", boolean, true),
  DATABASE_POOL_SIZE: setting("DATABASE_POOL_SIZE", integer(1, 1000), 10),
  DATABASE_REPLICA_URLS: secretUrls(
    "DATABASE_REPLICA_URLS",
    "postgres://waypost:secret@replica-1.example.com/waypost,postgres://waypost:secret@replica-2.example.com/waypost"
  ),
  REPLICA_MAX_LAG_SECONDS: setting("REPLICA_MAX_LAG_SECONDS", integer(1, 3600), 10),
  STORAGE: setting("STORAGE", choice(["file", "s3"]), "file"),
  S3_ENDPOINT: optional("S3_ENDPOINT", webUrl, "https://s3.example.com"),
  S3_REGION: setting("S3_REGION", text(/^[\w-]+$/, "the name of a region"), "us-east-1", "eu-west-1"),
  S3_BUCKET: optional("S3_BUCKET", text(/^[\w.-]{3,63}$/, "the name of a bucket"), "waypost-files"),
  S3_ACCESS_KEY_ID: optional("S3_ACCESS_KEY_ID", Schema.String, "an-access-key-id"),
  S3_SECRET_ACCESS_KEY: secret("S3_SECRET_ACCESS_KEY", Schema.String, "a-secret-access-key"),
  S3_FORCE_PATH_STYLE: setting("S3_FORCE_PATH_STYLE", boolean, false),
  CDN_URL: optional("CDN_URL", webUrl, "https://cdn.example.com"),
  UPLOAD_MAX_BYTES: setting("UPLOAD_MAX_BYTES", bytes, 5 * 1024 ** 3),
  UNATTACHED_BYTES_PER_KEY: optional("UNATTACHED_BYTES_PER_KEY", bytes, "107374182400"),
  UPLOAD_BLOCKED_TYPES: setting(
    "UPLOAD_BLOCKED_TYPES",
    list(mediaType, "media types"),
    blockedTypes,
    "text/html,text/javascript"
  ),
  UPLOAD_BLOCKED_EXTENSIONS: setting(
    "UPLOAD_BLOCKED_EXTENSIONS",
    list(extension, "file extensions"),
    blockedExtensions,
    "exe,php,ps1"
  ),
  BOOTSTRAP_API_KEY: secret(
    "BOOTSTRAP_API_KEY",
    apiKey,
    // Random, because an example that is copied becomes a key with every permission.
    ApiKeySecret.format(SecureRandom.randomBytesUnsafe(16), SecureRandom.randomBytesUnsafe(32)).key
  ),
  LOCALES: optional("LOCALES", list(locale, "known locales"), "nl,en,de-CH"),
  HISTORY_DAYS: setting("HISTORY_DAYS", integer(0, 36_500), 0, "365"),
  RATE_LIMIT_PER_SECOND: setting("RATE_LIMIT_PER_SECOND", integer(0, 1_000_000), 0, "50"),
  GUARD_USER_ROLES: setting("GUARD_USER_ROLES", boolean, false, "true"),
  MAX_IN_FLIGHT: setting("MAX_IN_FLIGHT", integer(1, 100_000), 512),
  MAX_STREAMS: setting("MAX_STREAMS", integer(0, 9000), 1000),
  KEY_SHARE: setting("KEY_SHARE", fraction, 0.75),
  KEY_WEIGHTS: setting("KEY_WEIGHTS", weights, new Map(), "01936f0e-7c4b-7000-8000-000000000000=2"),
  WEBHOOK_ALLOW_HTTP: setting("WEBHOOK_ALLOW_HTTP", boolean, false, "true"),
  WEBHOOK_ALLOW_PRIVATE: setting("WEBHOOK_ALLOW_PRIVATE", boolean, false, "true"),
  WORKERS: setting("WORKERS", integer(0, 256), 1, "4"),
  DRAIN_SECONDS: setting("DRAIN_SECONDS", integer(0, 600), 0, "10"),
  METRICS_TOKEN: secret("METRICS_TOKEN", text(/^.{8,}$/s, "at least 8 characters"), "a-long-random-text"),
  LOG_LEVEL: setting("LOG_LEVEL", choice(["Trace", "Debug", "Info", "Warn", "Error", "Fatal", "None"]), "Info", "info"),
  LOG_FORMAT: setting("LOG_FORMAT", choice(["auto", "pretty", "json"]), "auto"),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional("OTEL_EXPORTER_OTLP_ENDPOINT", collectorUrl, "http://127.0.0.1:4318")
}

type Values = { readonly [K in keyof typeof definitions]: Effect.Success<(typeof definitions)[K]> }

/** The number of server processes. */
export const processesOf = ({ WORKERS }: Pick<Values, "WORKERS">) => (WORKERS === 0 ? availableParallelism() : WORKERS)

/** The maximum number of database connections of all processes together. */
export const connectionsOf = (values: Pick<Values, "WORKERS" | "DATABASE_POOL_SIZE">) =>
  processesOf(values) * values.DATABASE_POOL_SIZE

/** How many bytes a key may have in open uploads and unattached files of the last 24 hours. */
export const unattachedBytesOf = (values: Pick<Values, "UNATTACHED_BYTES_PER_KEY" | "UPLOAD_MAX_BYTES">) =>
  Option.getOrElse(values.UNATTACHED_BYTES_PER_KEY, () => 20 * values.UPLOAD_MAX_BYTES)

/** The limit of the embedded server, which reserves memory for every connection, used or not. */
const embeddedConnections = 5000

/** Problems of settings that are valid by themselves and contradict each other. */
const contradictions = (values: Values) => {
  const { DATABASE_POOL_SIZE, DATABASE_URL, S3_ACCESS_KEY_ID, S3_BUCKET, S3_SECRET_ACCESS_KEY, STORAGE } = values
  const connections = connectionsOf(values)
  const unattachedBytes = unattachedBytesOf(values)
  return [
    unattachedBytes < values.UPLOAD_MAX_BYTES
      ? `UNATTACHED_BYTES_PER_KEY: ${unattachedBytes} bytes are less than one file may have (UPLOAD_MAX_BYTES). ` +
        `For example: UNATTACHED_BYTES_PER_KEY=${20 * values.UPLOAD_MAX_BYTES}`
      : [],
    STORAGE === "s3" && Option.isNone(S3_BUCKET)
      ? "S3_BUCKET: STORAGE=s3 needs a bucket. For example: S3_BUCKET=waypost-files"
      : [],
    Option.isSome(S3_ACCESS_KEY_ID) === Option.isSome(S3_SECRET_ACCESS_KEY)
      ? []
      : "S3_ACCESS_KEY_ID: set it together with S3_SECRET_ACCESS_KEY, or leave both unset to use the machine's credentials",
    Option.isNone(DATABASE_URL) && connections > embeddedConnections
      ? `DATABASE_POOL_SIZE: ${processesOf(values)} processes (WORKERS) with ${DATABASE_POOL_SIZE} connections each are ` +
        `${connections}, and the embedded PostgreSQL accepts ${embeddedConnections}. For example: DATABASE_POOL_SIZE=10`
      : []
  ].flat()
}

/** The names of all settings. */
export const names = Object.keys(definitions)

/** Blank variables are unset: compose files and shells leave variables out in this way. */
const withoutBlanks = (provider: ConfigProvider.ConfigProvider) =>
  ConfigProvider.make((path) =>
    Effect.map(provider.load(path), (node) => {
      const value = node?.value?.trim() ?? ""
      return value === "" ? undefined : ConfigProvider.makeValue(value)
    })
  )

/** A line for each variable that looks like a misspelt setting. */
export const misspelt = Misspelt.misspelt(names)

const readAll = Effect.gen(function* () {
  const results = yield* Effect.all(definitions, { mode: "result" })
  const values = Result.all(results)
  const problems = Result.isFailure(values)
    ? Object.values<Result.Result<unknown, string>>(results).flatMap((result) =>
        Result.isFailure(result) ? [result.failure] : []
      )
    : contradictions(values.success)
  return problems.length === 0 ? yield* Effect.fromResult(values) : yield* Effect.fail(problems.join("\n"))
})

const withHints = (problems: string) =>
  Effect.flatMap(misspelt, (hints) => Effect.fail(new SettingsError({ message: [problems, ...hints].join("\n") })))

/** The settings of this process, read once from the environment. */
export class Settings extends Context.Service<Settings, Values>()("waypost/settings/Config/Settings") {
  static readonly layer = Layer.effect(
    Settings,
    Effect.catch(Effect.updateService(readAll, ConfigProvider.ConfigProvider, withoutBlanks), withHints)
  )
}
