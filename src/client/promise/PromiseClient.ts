import { Effect, Record } from "effect"
import type * as KeysetPages from "../KeysetPages.ts"
import * as AllRecords from "./AllRecords.ts"
import { type Arguments, argumentsOf, type Query, type Route, routeOf, targetOf, wrongIn } from "./Arguments.ts"
import type * as Follow from "../Follow.ts"
import * as AssetUpload from "./AssetUpload.ts"
import * as FollowedEvents from "./FollowedEvents.ts"
import { type CallOptions, callSite, start } from "./Call.ts"
import type { DeltaPage } from "../Deltas.ts"
import * as DeltaPages from "./DeltaPages.ts"
import * as Http from "./Http.ts"
import { idempotencyKey } from "../IdempotencyKey.ts"
import * as OwnWrites from "../OwnWrites.ts"
import { needsKey } from "../Retries.ts"
import { hasCredentials, isHeaderValue, messages, withoutCredentials } from "../Sendable.ts"
import { routes } from "./Routes.ts"
import { type ClientError, clientError, type WaypostError } from "./Errors.ts"
import type { Operations } from "./Types.ts"

export { WaypostError } from "./WaypostError.ts"
export type { AllRecords } from "./AllRecords.ts"
export type { UploadOptions } from "./AssetUpload.ts"
export type { Call, CallOptions, Outcome } from "./Call.ts"
export type { FollowOptions } from "./FollowedEvents.ts"

export interface ClientOptions {
  /** The address of the service, such as `https://waypost.example.com`. */
  readonly url: string
  /** An API key, `wp_…`. A page must not have one: its server adds the key to the requests that it forwards. */
  readonly key?: string | undefined
  /** Sends the requests; the default is the `fetch` of the platform. */
  readonly fetch?: Http.Fetch
}

/** What `follow` takes: the parameters of the list of events, without those of its pages. */
type FollowQuery = Omit<NonNullable<Parameters<Operations["events"]["list"]>[0]>, "limit" | "order" | "wait">

/** Follows the log of changes from a cursor, or from the oldest event on, for ever. */
type FollowEvents = (
  query?: FollowQuery,
  options?: FollowedEvents.FollowOptions
) => AsyncIterable<Awaited<ReturnType<Operations["events"]["list"]>>["data"][number]>

/** A client whose methods return promises: `client.<group>.<operation>`. */
export type WaypostClient = Operations & {
  readonly assets: { readonly upload: AssetUpload.Upload }
  readonly events: { readonly follow: FollowEvents }
}

/** A record as JSON: `RecordOf<"locations">`. */
export type RecordOf<
  Group extends { [G in keyof Operations]: "get" extends keyof Operations[G] ? G : never }[keyof Operations]
> = Operations[Group] extends { readonly get: (...args: never) => PromiseLike<infer A> } ? A : never

/** Why a client can send no request at all, if it cannot. */
const problemOf = (url: string, base: string, key: string | undefined): ClientError | undefined => {
  if (!/^https?:\/\//.test(base) || !URL.canParse(base)) {
    const shown = withoutCredentials(url)
    return {
      _tag: "ConnectionError",
      message: `"${shown}" is not a URL such as https://waypost.example.com`,
      url: shown
    }
  }
  const parsed = new URL(base)
  if (hasCredentials(parsed)) return { _tag: "ConnectionError", message: messages.credentials, url: parsed.origin }
  return key === undefined || isHeaderValue(key) ? undefined : { _tag: "InvalidArgumentError", message: messages.key }
}

const make = ({ fetch = globalThis.fetch, key, url }: ClientOptions) => {
  const base = url.replace(/(?<!\/)\/+$/, "")
  const problem = problemOf(url, base, key)
  const writes = OwnWrites.make()

  const request = Effect.fnUntraced(function* (route: Route, args: Arguments) {
    if (problem !== undefined) return yield* Effect.fail(clientError(problem))
    const wrong = wrongIn(route, args)
    if (wrong !== undefined) return yield* Effect.fail(clientError({ _tag: "InvalidArgumentError", message: wrong }))
    const { body, options } = args
    const { isRepeatable, method } = route
    const isFile = typeof body === "string" || body instanceof Uint8Array
    const headers = {
      ...(key === undefined ? {} : { authorization: key }),
      ...(body === undefined ? {} : { "content-type": isFile ? "application/x-ndjson" : "application/json" }),
      ...(options?.ifMatch === undefined ? {} : { "if-match": options.ifMatch }),
      ...writes.headersOf(method)
    }
    const generated = isRepeatable && needsKey({ method, headers }) ? yield* idempotencyKey : undefined
    const repeatedBy = options?.idempotencyKey ?? generated
    // A date may be invalid, and a body no JSON.
    const { sent, target } = yield* Effect.try({
      try: () => ({
        target: targetOf(route, args),
        sent: body === undefined || isFile ? (body as Http.Request["body"]) : JSON.stringify(body)
      }),
      catch: (cause) => {
        const message = `The arguments cannot be sent: ${cause instanceof Error ? cause.message : String(cause)}`
        return clientError({ _tag: "InvalidArgumentError", message }, { cause })
      }
    })
    const { position, ...answered } = yield* Http.call(fetch, {
      method,
      url: `${base}${target}`,
      headers: repeatedBy === undefined ? headers : { ...headers, "idempotency-key": repeatedBy },
      body: sent
    })
    writes.note(method, position)
    return answered
  })

  const method =
    (route: Route) =>
    (...sent: ReadonlyArray<unknown>) => {
      const args = argumentsOf(route, sent)
      return start(request(route, args), callSite(), args.options?.signal)
    }

  const all =
    (route: Route) =>
    (...sent: ReadonlyArray<unknown>) => {
      const args = argumentsOf(route, sent)
      const list: KeysetPages.List<unknown, WaypostError>["list"] = (page) =>
        Effect.map(
          request(route, { ...args, query: { ...args.query, ...page } }),
          ({ data }) => data as Effect.Success<ReturnType<typeof list>>
        )
      return AllRecords.make({ list }, callSite(), args.options?.signal)
    }

  const listEvents = routeOf(routes.events.list)
  const follow = (query: Query & { readonly after?: string } = {}, options: FollowedEvents.FollowOptions = {}) => {
    const read = (part: Query): Effect.Effect<Follow.Part<unknown>, WaypostError> =>
      Effect.map(
        request(listEvents, { uuids: [], body: undefined, query: { ...query, ...part }, options }),
        ({ data }) => data as Follow.Part<unknown>
      )
    const isTransient = (error: WaypostError) => problem === undefined && Http.isTransient(error)
    return FollowedEvents.make({ ...Http.failures, read, isTransient }, query.after, callSite(), options)
  }

  const deltaPages = (route: Route) => (after?: string, options?: Pick<CallOptions, "signal">) => {
    const read = (query: Query) =>
      Effect.map(
        request(route, { uuids: [], body: undefined, query, options }),
        ({ data }) => data as DeltaPage<unknown>
      )
    return DeltaPages.make(read, after, callSite(), options?.signal)
  }

  /** The methods of a group: its operations, `all…` for every `list…` that has pages, and `deltaPages` for a `delta`. */
  const operations = Record.map(routes, (group: { readonly [name: string]: string }) => {
    const entries = Record.toEntries(group).map(
      ([name, text]) => [name, routeOf(text), text.endsWith(" pages")] as const
    )
    return Object.fromEntries(
      entries.flatMap(([name, route, isPaged]): ReadonlyArray<readonly [string, unknown]> => [
        [name, method(route)],
        ...(isPaged && name.startsWith("list") ? [[name.replace("list", "all"), all(route)] as const] : []),
        ...(name === "delta" ? [["deltaPages", deltaPages(route)] as const] : [])
      ])
    )
  })
  return { ...operations, events: { ...operations.events, follow } }
}

/** A client of the service at `url` with the permissions of `key`. */
export const createClient = (options: ClientOptions): WaypostClient => {
  // The types of the methods are those of the definition, which the routes are generated from.
  const operations = make(options) as unknown as Operations & Pick<WaypostClient, "events">
  const upload = AssetUpload.make(operations, options.fetch ?? globalThis.fetch)
  return { ...operations, assets: { ...operations.assets, upload } }
}
