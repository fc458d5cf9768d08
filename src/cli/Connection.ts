import { Config, Effect, Layer, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import { Client } from "../client/Client.ts"
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

/** The `--concurrency` flag, from 1 to `max`. */
export const concurrency = (subject: string, max: number, fallback: number) =>
  Flag.Int("concurrency").pipe(
    Flag.withDescription(`${subject}, 1 to ${max}`),
    Flag.filter(
      (value) => value >= 1 && value <= max,
      (value) => `Expected 1 to ${max}, got ${value}`
    ),
    Flag.withDefault(fallback)
  )

interface Input {
  readonly url: string
  readonly key: Option.Option<Redacted.Redacted>
}

/** A client of the service at `--url` with the key of `--key`. */
export const layer = ({ key, url }: Input) =>
  Layer.unwrap(
    Effect.gen(function* () {
      if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
        return yield* new CommandError({ message: `"${url}" is not a URL such as https://waypost.example.com` })
      }
      const apiKey = yield* Effect.fromOption(
        Option.filter(key, (text) => Redacted.value(text) !== ""),
        () =>
          new CommandError({
            message: "An API key is required: set WAYPOST_API_KEY or pass --key. `waypost keys create` creates one"
          })
      )
      return Client.layer({ baseUrl: url.replace(/(?<!\/)\/+$/, ""), apiKey })
    })
  )
