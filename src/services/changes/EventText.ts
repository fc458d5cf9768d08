import { type Entry, type Event, maxEventBytes } from "../../domain/changes/Event.ts"
import { type RecordType, relations, seesRelation } from "../../domain/changes/RecordType.ts"
import type { StoredEvent } from "../../repositories/changes/EventLog.ts"
import { type Encoded, encodedOf } from "../../domain/schema/Encoded.ts"
import { changesOf } from "../../repositories/changes/EventValues.ts"
import type { Cursors } from "./Cursors.ts"

/**
 * What a reader of these types sees of an event; none if relations are all that it has, and the reader sees none of them. An
 * update of relations alone has no values, or the values of no member.
 */
const visibleChanges = ({ action, after, before, links, type }: StoredEvent, visible: ReadonlySet<RecordType>) => {
  if (!visible.has(type)) return undefined
  const all = links ?? []
  const seen = all.filter(({ path }) => seesRelation(visible, path))
  const changes: ReadonlyArray<Entry> = [
    ...changesOf(type, before, after),
    ...seen.map(({ added, path, removed }) => ({ path, added, removed }))
  ]
  const hasNothing = action === "updated" && seen.length < all.length && changes.length === 0
  return hasNothing ? undefined : changes
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
    const changes = visibleChanges(event, visible)
    if (changes === undefined) return undefined
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
