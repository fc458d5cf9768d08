import { Effect, Layer } from "effect"
import { type HttpMethod, HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApi } from "effect/http-api"
import { Api } from "../api/Api.ts"
import { MethodNotAllowedError } from "../domain/RequestErrors.ts"

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const

/** The methods of every path, those beside the operations included. */
const pathsOf = (others: ReadonlyArray<string>) => {
  const paths = new Map<string, Set<HttpMethod.HttpMethod>>(others.map((path) => [path, new Set(["GET"])]))
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint }) => {
      const known = paths.get(endpoint.path) ?? new Set()
      paths.set(endpoint.path, known.add(endpoint.method))
    }
  })
  return paths
}

/** For a known path: 405 with `Allow` to other methods, 204 with `Allow` to OPTIONS. The router would say 404. */
export const layer = (others: ReadonlyArray<string>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const router = yield* HttpRouter.HttpRouter
      for (const [path, known] of pathsOf(others)) {
        const allowed = [...known, ...(known.has("GET") ? ["HEAD"] : []), "OPTIONS"]
        const refusal = Effect.die(
          new MethodNotAllowedError({ message: `This path takes ${allowed.join(", ")}`, allowed })
        )
        for (const method of methods) {
          if (!known.has(method)) yield* router.add(method, path as HttpRouter.PathInput, refusal)
        }
        yield* router.add(
          "OPTIONS",
          path as HttpRouter.PathInput,
          HttpServerResponse.empty({ status: 204, headers: { allow: allowed.join(", ") } })
        )
      }
    })
  )
