import { Context, Effect, Layer, Option } from "effect"
import type { CursorExpiredError } from "../../domain/changes/Errors.ts"
import type { Event } from "../../domain/changes/Event.ts"
import { eventTypes } from "../../domain/changes/EventType.ts"
import { type RecordType, recordTypeOf, relations, visibleTo } from "../../domain/changes/RecordType.ts"
import type { CallingKey } from "../../domain/keys/ApiKey.ts"
import { type Encoded, encodedArray } from "../../domain/schema/Encoded.ts"
import { relationKinds } from "../../domain/write/Relations.ts"
import { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { EventLog } from "../../repositories/changes/EventLog.ts"
import { maxLogBytes, type PageRequest, type Selection } from "../../repositories/changes/EventPages.ts"
import { Cursors } from "./Cursors.ts"
import * as EventText from "./EventText.ts"

/** A page of events as JSON text, with the cursor behind it. */
export interface EncodedEvents {
  readonly data: Encoded<ReadonlyArray<Event>>
  readonly cursor: string
  readonly more: boolean
  /** The position of the cursor. */
  readonly position: number
  readonly isEmpty: boolean
}

export interface EventRequest extends Omit<PageRequest, "after"> {
  readonly after?: string | undefined
}

export interface HistoryRequest {
  readonly type: RecordType
  readonly uuid: string
  readonly after?: string | undefined
  readonly limit?: number | undefined
  readonly order?: "asc" | "desc" | undefined
}

export interface Begin {
  readonly query?: string
  readonly header?: string
}

type Permissions = Pick<CallingKey, "permissions">

/** Those of some values that a key sees; `undefined` for all that there are. */
const seenOf = <A>(values: ReadonlyArray<A>, count: number, isSeen: (value: A) => boolean) => {
  const seen = values.filter(isSeen)
  return seen.length === count ? undefined : seen
}

/**
 * A selection without what a key that sees these types of record does not see: types of event, and relations by which `record`
 * selects. A relation that the answer leaves out would be known from the selection alone.
 */
export const seenBy = <S extends Selection>(selection: S, visible: ReadonlySet<RecordType>): S => ({
  ...selection,
  types: seenOf(selection.types ?? eventTypes, eventTypes.length, (type) => {
    const record = recordTypeOf(type)
    return record !== undefined && visible.has(record)
  }),
  paths: seenOf(relationKinds, relationKinds.length, (path) => visible.has(relations[path]))
})

/** The events of the log as a key sees them. */
export class Events extends Context.Service<
  Events,
  {
    page(
      request: EventRequest,
      key: Permissions
    ): Effect.Effect<EncodedEvents, InvalidRequestError | CursorExpiredError>
    /** Where a stream begins: behind the cursor of the query or of the header `Last-Event-ID`, or at the end of the log. */
    begin(cursor: Begin): Effect.Effect<number, InvalidRequestError | CursorExpiredError>
    /** The events of a record with all their values; none if there never was such a record. */
    history(
      request: HistoryRequest,
      key: Permissions
    ): Effect.Effect<Option.Option<EncodedEvents>, InvalidRequestError | CursorExpiredError>
    readonly encode: EventText.Encode
  }
>()("waypost/services/changes/Events") {
  static readonly layer = Layer.effect(
    Events,
    Effect.gen(function* () {
      const log = yield* EventLog
      const cursors = yield* Cursors
      const encode = EventText.make(cursors)

      /** The position of a cursor; none without one, where the descending order begins at the end. */
      const positionOf = (cursor = "") =>
        cursor === "" ? Effect.undefined : Effect.map(cursors.decode(cursor), ({ position }) => position)

      const read = Effect.fnUntraced(function* (
        request: PageRequest,
        { permissions }: Permissions,
        options: { readonly whole: boolean }
      ) {
        const visible = visibleTo(permissions)
        const page = yield* log.page(seenBy(request, visible))
        const texts: Array<Encoded<Event>> = []
        let [bytes, position, more] = [0, page.position, page.more]
        for (const [index, event] of page.events.entries()) {
          const text = encode(event, visible, options)
          if (text === undefined) continue
          bytes += Buffer.byteLength(text)
          if (bytes > maxLogBytes && texts.length > 0) {
            ;[position, more] = [page.events[index - 1]!.position, true]
            break
          }
          texts.push(text)
        }
        return {
          data: encodedArray(texts),
          cursor: cursors.encode({ position }),
          more,
          position,
          isEmpty: texts.length === 0
        }
      })

      return Events.of({
        encode,
        begin: Effect.fn("Events.begin")(function* ({ header, query = "" }) {
          if (header !== undefined) return (yield* Effect.mapError(cursors.decode(header), inHeader)).position
          return query === "" ? (yield* log.retained).last : (yield* cursors.decode(query)).position
        }),
        page: Effect.fn("Events.page")(function* ({ after: cursor, ...request }, key) {
          const after = yield* positionOf(cursor)
          return yield* read({ ...request, after }, key, { whole: false })
        }),
        history: Effect.fn("Events.history")(function* (
          { after: cursor, limit = 50, order = "desc", type, uuid },
          key
        ) {
          const after = yield* positionOf(cursor)
          if (!(yield* log.hasHistory(type, uuid))) return Option.none()
          return Option.some(yield* read({ after, limit, order, record: uuid }, key, { whole: true }))
        })
      })
    })
  )
}

/** The error of a cursor that was in the header. */
const inHeader = (error: InvalidRequestError | CursorExpiredError) =>
  error._tag === "CursorExpiredError"
    ? error
    : InvalidRequestError.of(error.issues.map((issue) => ({ ...issue, in: "header", path: "last-event-id" })))
