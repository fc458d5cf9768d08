import { Context, Effect, Layer, Result, Schema } from "effect"
import { lookup, Resolver } from "node:dns/promises"
import { isIP } from "node:net"
import { Settings } from "../../settings/Config.ts"
import { type AddressKind, isLocalhost, kindOf } from "./Addresses.ts"

/** Why the service does not connect to a URL. */
export class EgressError extends Schema.TaggedError<EgressError>()("EgressError", {
  message: Schema.String,
  /** Whether the host may be found later: no DNS server said that there is none. */
  isTransient: Schema.Boolean
}) {}

/** Where to connect for a URL: the addresses of its host, each of which may be connected to. */
export interface Target {
  readonly url: URL
  readonly addresses: readonly [string, ...Array<string>]
  readonly isPrivate: boolean
}

/** The addresses of a host; replaced in tests. */
export const Lookup = Context.Reference<(host: string) => Promise<ReadonlyArray<string>>>(
  "waypost/services/webhooks/Egress/Lookup",
  { defaultValue: () => resolve }
)

const hasCode = (error: unknown, ...codes: ReadonlyArray<string>) =>
  error instanceof Error && "code" in error && codes.includes(String(error.code))

/** No host can have such a name. */
const isImpossible = (error: unknown) => hasCode(error, "EBADNAME")

const resolver = new Resolver({ timeout: 2000, tries: 2 })

/** The DNS has no such host. */
const isUnknown = (error: unknown) => hasCode(error, "ENOTFOUND", "ENODATA")

/**
 * Runs one lookup at a time, because each keeps its thread until it ends, also when its delivery has ended before. A host has one at a
 * time. One that has waited for half of the time of a delivery does not run.
 */
export const inTurn = <A>(lookup: (host: string) => Promise<A>, patience = 5000) => {
  const running = new Map<string, Promise<A>>()
  let last: Promise<unknown> = Promise.resolve()
  return (host: string): Promise<A> => {
    const known = running.get(host)
    if (known !== undefined) return known
    const asked = performance.now()
    const found = last
      .then(() =>
        performance.now() - asked < patience ? lookup(host) : Promise.reject(new Error("Other lookups take too long"))
      )
      .finally(() => running.delete(host))
    running.set(host, found)
    last = found.catch(() => undefined)
    return found
  }
}

const systemLookup = inTurn((host) => lookup(host, { all: true, verbatim: true }))

/**
 * Asks the DNS servers without a thread: the system's lookup has two threads for the whole process, which dead servers of one
 * host would take. It is asked only about names that the DNS does not know, for the hosts file and search domains.
 */
const resolve = async (host: string): Promise<ReadonlyArray<string>> => {
  const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  const addresses = found.flatMap((one) => (one.status === "fulfilled" ? one.value : []))
  if (addresses.length > 0) return addresses
  const failed = found.flatMap((one) =>
    one.status === "rejected" && one.reason instanceof Error && !isUnknown(one.reason) ? [one.reason] : []
  )
  if (failed[0] !== undefined && !isUnreachable(failed[0])) return Promise.reject(failed[0])
  const listed = await systemLookup(host)
  return listed.map(({ address }) => address)
}

/** No DNS server listens. */
const isUnreachable = (error: Error) => hasCode(error, "ECONNREFUSED")

/** Decides to which URLs the service may connect, and resolves their hosts. */
export class Egress extends Context.Service<
  Egress,
  {
    /** Resolves the host once; a connection must go to one of these addresses. */
    target(url: string): Effect.Effect<Target, EgressError>
  }
>()("waypost/services/webhooks/Egress") {
  static readonly layer = Layer.effect(
    Egress,
    Effect.gen(function* () {
      const { WEBHOOK_ALLOW_HTTP: allowsHttp, WEBHOOK_ALLOW_PRIVATE: allowsPrivate } = yield* Settings
      const lookupHost = yield* Lookup

      const allows = (kind: AddressKind) => kind === "public" || (kind === "private" && allowsPrivate)

      /** The form of the URL, which needs no lookup. */
      const parse = (text: string): Result.Result<URL, string> => {
        if (!URL.canParse(text)) return Result.fail("is no URL")
        const url = new URL(text)
        const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port)
        if (url.protocol !== "https:" && !(allowsHttp && url.protocol === "http:")) {
          return Result.fail("must begin with https://")
        }
        if (url.username !== "" || url.password !== "") return Result.fail("must not have a user name or a password")
        if (port !== 80 && port !== 443 && port < 1024) return Result.fail("must have port 80, 443, or 1024 or above")
        if (isLocalhost(url.hostname) && !allowsPrivate) return Result.fail("must not lead to this machine")
        return Result.succeed(url)
      }

      const addressesOf = (host: string): Effect.Effect<ReadonlyArray<string>, EgressError> => {
        if (isIP(host) !== 0) return Effect.succeed([host])
        if (isLocalhost(host)) return Effect.succeed(["127.0.0.1"])
        return Effect.tryPromise({
          try: () => lookupHost(host),
          catch: (error) =>
            new EgressError({ message: unresolved(host), isTransient: !isUnknown(error) && !isImpossible(error) })
        })
      }

      const target = Effect.fnUntraced(function* (text: string) {
        const url = yield* Effect.fromResult(Result.mapError(parse(text), forbidden))
        const [first, ...others] = yield* addressesOf(url.hostname.replace(/^\[|\]$/g, ""))
        if (first === undefined) return yield* forbidden(unresolved(url.hostname))
        const kinds = [first, ...others].map(kindOf)
        if (!kinds.every(allows)) return yield* forbidden("leads to an address that is not on the internet")
        const found: Target = { url, addresses: [first, ...others], isPrivate: kinds.includes("private") }
        return found
      })

      return Egress.of({ target })
    })
  )
}

const forbidden = (message: string) => new EgressError({ message, isTransient: false })

const unresolved = (host: string) => `has a host that does not resolve: ${host}`
