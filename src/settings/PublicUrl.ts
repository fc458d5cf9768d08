import { Context, Effect, Layer, Option } from "effect"
import { HttpServer } from "effect/http"
import { Settings } from "./Config.ts"

/** Where the service is reached from outside: what the addresses in answers begin with, without a slash at the end. */
export class PublicUrl extends Context.Service<
  PublicUrl,
  {
    readonly origin: string
    /** What `urls.cdnUrl` begins with. */
    readonly cdn: string
  }
>()("waypost/settings/PublicUrl") {
  /** `PUBLIC_URL`, or the address the server listens on. */
  static readonly layer = Layer.effect(
    PublicUrl,
    Effect.gen(function* () {
      const { address } = yield* HttpServer.HttpServer
      return of(yield* Settings, "port" in address ? address.port : 0)
    })
  )

  /** The same, for a port that other processes listen on. */
  static readonly layerOf = (port: number) =>
    Layer.effect(
      PublicUrl,
      Effect.map(Settings, (settings) => of(settings, port))
    )
}

const of = ({ CDN_URL, HOST, PUBLIC_URL }: Settings["Service"], port: number) => {
  const host = HOST === "0.0.0.0" || HOST === "::" ? "localhost" : HOST.includes(":") ? `[${HOST}]` : HOST
  const origin = Option.getOrElse(PUBLIC_URL, () => `http://${host}:${port}`)
  return { origin, cdn: Option.getOrElse(CDN_URL, () => origin) }
}
