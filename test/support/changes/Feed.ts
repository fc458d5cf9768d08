import { Effect } from "effect"
import { eventually } from "../Until.ts"
import { send } from "../requests/Requests.ts"

/** An event as a client reads it. */
export interface ReadEvent {
  readonly id: string
  readonly cursor: string
  readonly type: string
  readonly record: { readonly type: string; readonly uuid: string; readonly label?: string }
  readonly changes: ReadonlyArray<{
    readonly path: string
    readonly before?: unknown
    readonly after?: unknown
    readonly added?: ReadonlyArray<string>
    readonly removed?: ReadonlyArray<string>
  }>
  readonly truncated?: true
}

export interface FeedPage {
  readonly data: ReadonlyArray<ReadEvent>
  readonly cursor: string
  readonly more: boolean
}

/** A page of the feed or of a history, of a request that succeeds. */
export const page = (path: string, key?: string) =>
  Effect.flatMap(send("GET", path, key === undefined ? {} : { key }), ({ body, status, text }) =>
    status === 200 ? Effect.succeed(body as FeedPage) : Effect.die(new Error(`${path} answered ${status}: ${text}`))
  )

/** The cursor behind the last event. */
export const end = Effect.map(page("/v1/events?order=desc&limit=1"), ({ cursor }) => cursor)

/** A page, once it has this many events. */
export const having = (count: number, path: string, key?: string) =>
  eventually(`${path} has ${count} events`, page(path, key), ({ data }) => data.length >= count)

/** Creates a record, and returns its uuid. */
export const create = (resource: string, body: unknown) =>
  Effect.flatMap(send("POST", `/v1/${resource}`, { body }), ({ body, status, text }) =>
    status === 201
      ? Effect.succeed(String(body.data.uuid))
      : Effect.die(new Error(`${resource} answered ${status}: ${text}`))
  )
