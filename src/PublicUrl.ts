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
>()("waypost/PublicUrl") {
  /** `PUBLIC_URL`, or the address the server listens on. */
  static readonly layer = Layer.effect(
    PublicUrl,
    Effect.gen(function* () {
      const { CDN_URL, HOST, PUBLIC_URL } = yield* Settings
      const { address } = yield* HttpServer.HttpServer
      const port = "port" in address ? address.port : 0
      const host = HOST === "0.0.0.0" || HOST === "::" ? "localhost" : HOST.includes(":") ? `[${HOST}]` : HOST
      const origin = Option.getOrElse(PUBLIC_URL, () => `http://${host}:${port}`)
      return { origin, cdn: Option.getOrElse(CDN_URL, () => origin) }
    })
  )
}
