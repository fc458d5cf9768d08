import { Context, Effect, Layer } from "effect"
import type { CursorExpiredError } from "../../domain/changes/Errors.ts"
import { eventTypes } from "../../domain/changes/EventType.ts"
import { type RecordType, relations, visibleTo } from "../../domain/changes/RecordType.ts"
import type { Encoded } from "../../domain/schema/Encoded.ts"
import type { Event } from "../../domain/changes/Event.ts"
import type { CallingKey } from "../../domain/keys/ApiKey.ts"
import type { InvalidRequestError } from "../../domain/write/RequestErrors.ts"
import { EventLog, type PageRequest, type StoredEvent } from "../../repositories/changes/EventLog.ts"
import { changesOf } from "../../repositories/changes/EventValues.ts"
import { Cursors } from "./Cursors.ts"

/** A page of events as JSON text, with the cursor behind it. */
export interface EncodedEvents {
  readonly data: Encoded<ReadonlyArray<Event>>
  readonly cursor: string
  readonly more: boolean
}

export interface EventRequest extends Omit<PageRequest, "after"> {
  readonly after?: string | undefined
}

/** Values of an event in the feed, the stream and webhooks. */
const maxBytes = 1024 * 1024

/** The events of the log as a key sees them. */
export class Events extends Context.Service<
  Events,
  {
    page(
      request: EventRequest,
      key: Pick<CallingKey, "permissions">
    ): Effect.Effect<EncodedEvents, InvalidRequestError | CursorExpiredError>
    /** The JSON text of an event for a reader of these types; none if the reader sees nothing of it. */
    encode(
      event: StoredEvent,
      visible: ReadonlySet<RecordType>,
      options?: { readonly whole: boolean }
    ): string | undefined
  }
>()("waypost/services/changes/Events") {
  static readonly layer = Layer.effect(
    Events,
    Effect.gen(function* () {
      const log = yield* EventLog
      const cursors = yield* Cursors

      const encode: Events["Service"]["encode"] = (event, visible, { whole } = { whole: false }) => {
        const links = (event.links ?? []).filter(({ path }) => visible.has(relations[path]))
        if (!visible.has(event.type) || (links.length < (event.links ?? []).length && isOnlyLinks(event, links))) return
        const isTruncated = !whole && event.bytes > maxBytes
        const changes = [
          ...changesOf(event.type, event.before, event.after).map((leaf) => (isTruncated ? { path: leaf.path } : leaf)),
          ...links.map(({ added, path, removed }) => (isTruncated ? { path } : { path, added, removed }))
        ]
        return JSON.stringify({
          id: event.id,
          cursor: cursors.encode({ position: event.position }),
          type: `${event.type}.${event.action}`,
          occurredAt: event.occurredAt,
          record: { type: event.type, uuid: event.uuid, label: event.label ?? undefined },
          actor: { ...event.actor, name: event.actorName ?? undefined },
          changes,
          truncated: isTruncated ? true : undefined
        })
      }

      const page = Effect.fn("Events.page")(function* (
        request: EventRequest,
        { permissions }: Pick<CallingKey, "permissions">
      ) {
        const { after, types = eventTypes, ...rest } = request
        const visible = visibleTo(permissions)
        // Without a cursor, the descending order begins at the end.
        const begin = after === undefined || after === "" ? undefined : (yield* cursors.decode(after)).position
        const seen = types.filter((type) => visible.has(type.split(".")[0] as RecordType))
        const { events, more, position } = yield* log.page({ ...rest, types: seen, after: begin })
        const encoded = events.flatMap((event) => encode(event, visible) ?? [])
        return {
          data: `[${encoded.join(",")}]` as Encoded<ReadonlyArray<Event>>,
          cursor: cursors.encode({ position }),
          more
        }
      })

      return Events.of({ page, encode })
    })
  )
}

/** Whether an event has nothing but relations, and none of those that are left. */
const isOnlyLinks = ({ action, after, before }: StoredEvent, links: ReadonlyArray<unknown>) =>
  action === "updated" && before === null && after === null && links.length === 0
