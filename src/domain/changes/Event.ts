import { Schema } from "effect"
import { Timestamp, Uuid } from "../schema/Fields.ts"
import { EventType } from "./EventType.ts"
import { openWords } from "../schema/OpenWords.ts"
import { recordTypes } from "./RecordType.ts"

export const EventId = Uuid.pipe(Schema.brand("EventId"))
export type EventId = typeof EventId.Type

/** The value of a leaf: never an object. */
const value = Schema.optionalKey(
  Schema.Any.check(
    Schema.makeFilter(() => true, {
      toJsonSchema: () => ({
        type: ["string", "number", "boolean", "array"],
        items: { type: ["string", "number", "boolean", "object"] }
      })
    })
  )
)

/** What happened to one member of a record. */
export const Entry = Schema.Struct({
  path: Schema.String.annotate({
    description: "The member, dotted. A list is one member; `metaTags.<key>` is a value of an asset.",
    examples: ["address.city"]
  }),
  before: value.annotateKey({ description: "Absent when the member was unset." }),
  after: value.annotateKey({ description: "Absent when the member is unset." }),
  added: Schema.optionalKey(Schema.Array(Uuid)).annotateKey({
    description: "Of `groups`, `locations` and `users`: the uuids that were added."
  }),
  removed: Schema.optionalKey(Schema.Array(Uuid)).annotateKey({ description: "The uuids that were removed." })
}).annotate({ identifier: "ChangeEntry" })
export type Entry = typeof Entry.Type

/** A larger event has no values in the feed, the stream and webhooks. */
export const maxEventBytes = 1024 ** 2

/** An alteration of one record by one transaction. */
export const Event = Schema.Struct({
  id: EventId,
  cursor: Schema.String.annotate({ description: "The position of the event in the log, for `after`." }),
  type: EventType,
  occurredAt: Timestamp,
  record: Schema.Struct({
    type: openWords(recordTypes),
    uuid: Uuid,
    label: Schema.optionalKey(
      Schema.String.annotate({
        description: "Its name, title, username, key or URL after the change; before it, of a deleted record."
      })
    )
  }),
  actor: Schema.Struct({
    type: openWords(["apiKey", "schedule", "system", "command"]),
    uuid: Schema.optionalKey(Uuid),
    name: Schema.optionalKey(Schema.String),
    requestId: Schema.optionalKey(Schema.String)
  }),
  changes: Schema.Array(Entry),
  truncated: Schema.optionalKey(Schema.Literal(true)).annotateKey({
    description: `The values exceed ${maxEventBytes / 1024 ** 2} MiB and are left out; the history of the record has them.`
  })
}).annotate({ identifier: "Event" })
export type Event = typeof Event.Type
