import { Context, Effect, Layer, Option } from "effect"
import { Settings } from "./Config.ts"

/** The base of the URLs in answers, without a slash at the end. */
export class PublicUrl extends Context.Service<
  PublicUrl,
  {
    readonly origin: string
    /** The base of `urls.cdnUrl`. */
    readonly cdn: string
  }
>()("waypost/settings/PublicUrl") {
  /** `PUBLIC_URL`, or the address of this machine with the port that the service listens on. */
  static readonly layerOf = (port: number) =>
    Layer.effect(
      PublicUrl,
      Effect.map(Settings, ({ CDN_URL, HOST, PUBLIC_URL }) => {
        const host = HOST === "0.0.0.0" || HOST === "::" ? "localhost" : HOST.includes(":") ? `[${HOST}]` : HOST
        const origin = Option.getOrElse(PUBLIC_URL, () => `http://${host}:${port}`)
        return { origin, cdn: Option.getOrElse(CDN_URL, () => origin) }
      })
    )
}
