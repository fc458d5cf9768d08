import { Config, Effect, Layer, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import { Client } from "../client/Client.ts"
import * as Redirects from "../client/Redirects.ts"
import { hasCredentials, isHeaderValue, messages, withoutCredentials } from "../client/Sendable.ts"
import { CommandError } from "./Failures.ts"

/** The flags of commands that call a running service. */
export const flags = {
  url: Flag.String("url").pipe(
    Flag.withDescription("The address of the service; default: WAYPOST_URL"),
    Flag.withFallbackConfig(Config.NonEmptyString("WAYPOST_URL")),
    Flag.withDefault("http://127.0.0.1:3000")
  ),
  key: Flag.Redacted("key").pipe(
    Flag.withDescription("The API key; prefer WAYPOST_API_KEY, because other users can see a command line"),
    Flag.withFallbackConfig(Config.Redacted("WAYPOST_API_KEY")),
    Flag.optional
  )
}

/** The values of the flags. */
export interface Input {
  readonly url: string
  readonly key: Option.Option<Redacted.Redacted>
}

/** The address of the service, without the path of the API or a slash at the end. */
export const baseUrlOf = (url: string) => {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    const message = `"${withoutCredentials(url)}" is not a URL such as https://waypost.example.com`
    return Effect.fail(new CommandError({ message }))
  }
  return hasCredentials(new URL(url))
    ? Effect.fail(new CommandError({ message: `${messages.credentials}; the key is in WAYPOST_API_KEY` }))
    : Effect.succeed(url.replace(/(?<!\/)\/+$/, "").replace(/\/v1$/, ""))
}

/** The key, if it is not empty. */
export const keyOf = (key: Input["key"]) => {
  const given = Option.filter(key, (text) => Redacted.value(text) !== "")
  return Option.isNone(given) || isHeaderValue(Redacted.value(given.value))
    ? Effect.succeed(given)
    : Effect.fail(new CommandError({ message: messages.key }))
}

/** The address of the service and the key. */
export const resolve = Effect.fnUntraced(function* ({ key, url }: Input) {
  const baseUrl = yield* baseUrlOf(url)
  const apiKey = yield* Effect.fromOption(
    yield* keyOf(key),
    () =>
      new CommandError({
        message: "An API key is required: set WAYPOST_API_KEY or pass --key. `waypost keys create` creates one"
      })
  )
  return { baseUrl, apiKey }
})

/** Sends requests to the service, without the client. */
export const http = Redirects.layer

/** A client of the service at `--url` with the key of `--key`. */
export const layer = (input: Input) => Layer.unwrap(Effect.map(resolve(input), Client.layer))
