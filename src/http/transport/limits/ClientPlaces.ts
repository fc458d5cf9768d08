import { Effect, Option, Result } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Settings } from "../../../settings/Config.ts"
import * as ClientNetwork from "../ClientNetwork.ts"
import type { Taken } from "../InFlight.ts"

/** How many places there are. */
export interface Max {
  readonly ofProcess: number
  readonly ofNetwork: number
}

/**
 * Places of this process for requests that have no key, of which a client network may take a part. The requests that come
 * through a proxy have its address: with `PUBLIC_URL` or `CDN_URL`, only the limit of the process holds.
 */
export const make = Effect.fnUntraced(function* (max: Max) {
  const { CDN_URL, PUBLIC_URL } = yield* Settings
  const isBehindProxy = Option.isSome(PUBLIC_URL) || Option.isSome(CDN_URL)
  const networks = new Map<string, number>()
  let taken = 0

  const add = (network: string, change: 1 | -1) => {
    taken += change
    const left = (networks.get(network) ?? 0) + change
    if (left === 0) networks.delete(network)
    else networks.set(network, left)
  }

  return {
    /** Takes a place: a function that releases it, or the limit that is reached. */
    take: (request: HttpServerRequest.HttpServerRequest): Taken => {
      const network = isBehindProxy ? "" : ClientNetwork.of(request)
      if (taken >= max.ofProcess) return Result.fail("process")
      if (network !== "" && (networks.get(network) ?? 0) >= max.ofNetwork) return Result.fail("network")
      add(network, 1)
      return Result.succeed(() => add(network, -1))
    }
  }
})
