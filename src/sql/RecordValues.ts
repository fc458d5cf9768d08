import { Clock, DateTime, Effect, Predicate } from "effect"
import { randomUUID } from "node:crypto"
import type { Column } from "./Columns.ts"

/** The values of a record by member, decoded. */
export type Values = Readonly<Record<string, unknown>>

/** The value as its column takes it; lists are never null. */
export const stored = ({ kind }: Column, value: unknown): unknown => {
  if (kind === "list") return value ?? []
  if (value === undefined || value === null) return null
  return DateTime.isDateTime(value) ? DateTime.formatIso(value) : value
}

/** The value of a new record: without nulls, and without empty objects. */
export const prune = (value: unknown): unknown => {
  if (!Predicate.isObject(value)) return value ?? undefined
  const members = Object.entries(value).map(([member, inner]) => [member, prune(inner)] as const)
  const kept = members.filter(([, inner]) => inner !== undefined)
  return kept.length === 0 ? undefined : Object.fromEntries(kept)
}

/** The value of a new record as its column takes it. */
export const storedNew = (column: Column, value: unknown): unknown =>
  stored(column, column.kind === "json" ? prune(value) : value)

/** Where the last uuid stands: its time, and its place in that millisecond. */
const last = { millis: 0, place: 0 }
const placesPerMilli = 4096
/** A clock that was set back by more than this is followed. */
const maxAhead = 1000

/** Uuids of version 7, which order the records of this process as they were created; at most 4,096. */
export const uuidsV7 = (count: number) =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    if (now > last.millis || now < last.millis - maxAhead) Object.assign(last, { millis: now, place: 0 })
    if (last.place + count > placesPerMilli) Object.assign(last, { millis: last.millis + 1, place: 0 })
    const { millis, place } = last
    last.place += count
    const time = millis.toString(16).padStart(12, "0")
    const prefix = `${time.slice(0, 8)}-${time.slice(8)}-7`
    // A pool of random bytes serves `randomUUID`; requesting ten takes ten times as long.
    return Array.from(
      { length: count },
      (_, index) => `${prefix}${(place + index).toString(16).padStart(3, "0")}${randomUUID().slice(18)}`
    )
  })
