import { Effect, Layer } from "effect"
import { HttpServer } from "effect/http"
import { PublicUrl } from "../settings/PublicUrl.ts"

/** `PublicUrl` of a process that listens itself: `PUBLIC_URL`, or the address of its server. */
export const layer = Layer.unwrap(
  Effect.map(HttpServer.HttpServer, ({ address }) => PublicUrl.layerOf("port" in address ? address.port : 0))
)
