import { Duration, Effect, Option, PlatformError, Predicate, Schedule, Schema, Struct } from "effect"
import { HttpClientError } from "effect/http"
import { InvalidRequestError } from "../domain/write/RequestErrors.ts"
import type { Reason } from "./transfer/Row.ts"

/** What a call of the client fails with: an error the API declares, or one of the transport. */
export interface Failure {
  readonly _tag: string
  readonly message: string
}

/** The command cannot do what it was asked; the message says it all. */
export class CommandError extends Schema.TaggedError<CommandError>()("CommandError", { message: Schema.String }) {}

const Named = Schema.Struct({ _tag: Schema.String, message: Schema.String })
const decodeNamed = Schema.decodeUnknownOption(Named)

/** The error that an answer's body names; any operation can answer with some that no operation declares. */
export const named = (failure: Failure): Effect.Effect<Failure> =>
  HttpClientError.isHttpClientError(failure) && failure.response !== undefined
    ? Effect.map(Effect.option(failure.response.json), (body) =>
        Option.getOrElse(Option.flatMap(body, decodeNamed), () => failure)
      )
    : Effect.succeed(failure)

const causeOf = (error: object): string => {
  const cause = "cause" in error ? error.cause : undefined
  if (!Predicate.isObject(cause)) return ""
  if (Predicate.isString(cause["code"])) return cause["code"]
  return causeOf(cause)
}

const unreachable = ({ reason }: HttpClientError.HttpClientError) => {
  const { origin } = new URL(reason.request.url)
  const code = causeOf(reason)
  const nobody = code === "ECONNREFUSED" || code === "ENOTFOUND"
  return nobody
    ? `Nothing answers at ${origin}. Start the service with npm start, or say where it is with --url or WAYPOST_URL`
    : `The connection to ${origin} failed${code === "" ? "" : `: ${code}`}. Run the command again`
}

/** Errors that speak for themselves; of others the name is part of what they say. */
const plain: ReadonlySet<string> = new Set(["CommandError", "FormatError"])

/** An error as one readable line, or several when there are several things to say; never a stack trace. */
export const describe = (error: unknown): Effect.Effect<string> => {
  if (PlatformError.isPlatformError(error)) {
    const { reason } = error
    const path = "pathOrDescriptor" in reason ? `${reason.pathOrDescriptor}: ` : ""
    return Effect.succeed(`${path}${reason._tag === "NotFound" ? "No such file" : reason.message}`)
  }
  if (HttpClientError.isHttpClientError(error)) {
    return error.response === undefined
      ? Effect.succeed(unreachable(error))
      : Effect.map(named(error), ({ _tag, message }) => `${_tag}: ${message}`)
  }
  if (!Predicate.isObject(error)) return Effect.succeed(String(error))
  const { _tag, message } = error as { readonly _tag?: string; readonly message?: string }
  return Effect.succeed(_tag === undefined || plain.has(_tag) ? String(message) : `${_tag}: ${message}`)
}

const attempts = 30

/** The client repeats a few times by itself; an import has the time to wait until the service is ready for more. */
export const patiently = <A>(effect: Effect.Effect<A, Failure>, attempt = 1): Effect.Effect<A, Failure> =>
  Effect.catch(effect, (failure) => {
    const response = HttpClientError.isHttpClientError(failure) ? failure.response : undefined
    const busy = response?.status === 429 || response?.status === 503
    if (!busy || attempt >= attempts) return Effect.fail(failure)
    const seconds = Number(response.headers["retry-after"] ?? 1)
    return Effect.andThen(
      Effect.sleep(Duration.seconds(Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0.2), 60) : 1)),
      patiently(effect, attempt + 1)
    )
  })

/** What the network broke, or what broke over there; the next attempt may fare better. */
const isPassing = (failure: Failure) =>
  HttpClientError.isHttpClientError(failure) &&
  (failure.response === undefined || (failure.response.status >= 500 && failure.response.status !== 503))

/** Patient, and not put off by a broken connection either, for some ten seconds; only for what can be done twice. */
export const persistently = <A>(effect: Effect.Effect<A, Failure>): Effect.Effect<A, Failure> =>
  patiently(effect).pipe(Effect.retry({ while: isPassing, times: 6, schedule: Schedule.exponential("200 millis") }))

/** Failures that everything else would meet as well; others are the row's or the file's own. */
export const concernsAll = (failure: Failure): boolean =>
  failure._tag === "UnauthorizedError" ||
  failure._tag === "MissingPermissionsError" ||
  Schema.isSchemaError(failure) ||
  (HttpClientError.isHttpClientError(failure) && !(failure.response !== undefined && failure.response.status < 500))

/** Why something was refused. */
export const reasonsOf = (failure: Failure): Effect.Effect<ReadonlyArray<Reason>> =>
  failure instanceof InvalidRequestError
    ? Effect.succeed(failure.issues.map(Struct.omit(["in"])))
    : Effect.map(named(failure), ({ _tag, message }) => [{ code: _tag, message }])
