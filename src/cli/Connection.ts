import { Config, Effect, Layer, Option, Redacted } from "effect"
import { Flag } from "effect/cli"
import { Client } from "../client/Client.ts"
import { CommandError } from "./Failures.ts"

/** The flags of every command that talks to a running service. */
export const flags = {
  url: Flag.String("url").pipe(
    Flag.withDescription("Where the service is; WAYPOST_URL when not given"),
    Flag.withFallbackConfig(Config.NonEmptyString("WAYPOST_URL")),
    Flag.withDefault("http://127.0.0.1:3000")
  ),
  key: Flag.Redacted("key").pipe(
    Flag.withDescription("The API key; better kept in WAYPOST_API_KEY, because others can see a command line"),
    Flag.withFallbackConfig(Config.Redacted("WAYPOST_API_KEY")),
    Flag.optional
  )
}

interface Input {
  readonly url: string
  readonly key: Option.Option<Redacted.Redacted>
}

/** The client of the service that the flags name. */
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
            message: "An API key is needed: set WAYPOST_API_KEY or give --key. `waypost keys create` makes one"
          })
      )
      return Client.layer({ baseUrl: url.replace(/(?<!\/)\/+$/, ""), apiKey })
    })
  )
