import { type Event, maxEventBytes } from "../../domain/changes/Event.ts"
import { type RecordType, relations, seesRelation } from "../../domain/changes/RecordType.ts"
import type { StoredEvent } from "../../repositories/changes/EventLog.ts"
import { type Encoded, encodedOf } from "../../domain/schema/Encoded.ts"
import { changesOf } from "../../repositories/changes/EventValues.ts"
import type { Cursors } from "./Cursors.ts"

/** Whether an event has nothing but relations, and none of those that are left. */
const isOnlyLinks = ({ action, after, before }: StoredEvent, links: ReadonlyArray<unknown>) =>
  action === "updated" && before === null && after === null && links.length === 0

/** The links of an event that a reader of these types sees; none if nothing of the event is left. */
const visibleLinks = (event: StoredEvent, visible: ReadonlySet<RecordType>) => {
  const all = event.links ?? []
  const links = all.filter(({ path }) => seesRelation(visible, path))
  const hasNothing = links.length < all.length && isOnlyLinks(event, links)
  return !visible.has(event.type) || hasNothing ? undefined : links
}

/**
 * The JSON text of an event for a reader of these types; none if the reader sees nothing of it. Unless `whole`, an event
 * above 1 MiB has the paths of its changes only.
 */
export type Encode = (
  event: StoredEvent,
  visible: ReadonlySet<RecordType>,
  options?: { readonly whole: boolean }
) => Encoded<Event> | undefined

export const make =
  (cursors: Cursors["Service"]): Encode =>
  (event, visible, { whole } = { whole: false }) => {
    const links = visibleLinks(event, visible)
    if (links === undefined) return undefined
    const changes = [
      ...changesOf(event.type, event.before, event.after),
      ...links.map(({ added, path, removed }) => ({ path, added, removed }))
    ]
    const shown = {
      id: event.id,
      cursor: cursors.encode({ position: event.position }),
      type: `${event.type}.${event.action}`,
      occurredAt: event.occurredAt,
      record: { type: event.type, uuid: event.uuid, label: event.label ?? undefined },
      actor: { ...event.actor, name: event.actorName ?? undefined }
    }
    const text = encodedOf<Event>({ ...shown, changes })
    return whole || Buffer.byteLength(text) <= maxEventBytes
      ? text
      : encodedOf<Event>({ ...shown, changes: changes.map(({ path }) => ({ path })), truncated: true })
  }

/**
 * Makes what readers see of an event once for all that see the same. It depends on the types of its links that they see, if it has
 * some, and on no other type than its own.
 */
export const shared = <A>(make: (event: StoredEvent, visible: ReadonlySet<RecordType>) => A | undefined) => {
  const made = new WeakMap<StoredEvent, Map<string, A | undefined>>()
  return (event: StoredEvent, visible: ReadonlySet<RecordType>): A | undefined => {
    if (!visible.has(event.type)) return undefined
    const known = made.get(event) ?? new Map<string, A | undefined>()
    made.set(event, known)
    const types = event.links?.map(({ path }) => relations[path]).filter((type) => visible.has(type))
    const seen = types === undefined ? "" : [...new Set(types)].toSorted().join()
    if (!known.has(seen)) known.set(seen, make(event, visible))
    return known.get(seen)
  }
}
