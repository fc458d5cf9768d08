import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { CursorExpiredError } from "../../domain/changes/Errors.ts"
import { Event } from "../../domain/changes/Event.ts"
import { EventType } from "../../domain/changes/EventType.ts"
import { group, operation } from "../Describe.ts"
import * as Envelope from "../Envelope.ts"
import { limits, ReadsPrimary } from "../Limits.ts"
import { EventQuery, EventSelection } from "./EventQuery.ts"

const begin = "Absent or empty, the stream begins with the next event."

/** The log of changes. */
export class EventsApi extends HttpApiGroup.make("events")
  .annotate(ReadsPrimary, true)
  .add(
    HttpApiEndpoint.get("list", "/", {
      query: EventQuery,
      success: Envelope.CursorPage(Event),
      error: CursorExpiredError
    }).pipe(
      operation(
        "read:events",
        "List events",
        "The committed changes of records in the order of the log. To follow it, pass `cursor` as `after`; with `wait`, the answer comes when there is an event, or without one after that many seconds. Events of record types whose `read:` permission the key lacks are left out."
      ),
      // The longest wait, and the default time for an answer.
      limits({ answerMillis: 45_000 })
    ),
    HttpApiEndpoint.get("stream", "/stream", {
      query: {
        after: Schema.optionalKey(
          Schema.String.annotate({ description: `The \`cursor\` of an earlier answer, to go on behind it. ${begin}` })
        ),
        ...EventSelection
      },
      headers: {
        "last-event-id": Schema.optionalKey(
          Schema.String.annotate({ description: "The id of the last event received; it counts instead of `after`." })
        )
      },
      success: HttpApiSchema.StreamSse({
        events: Schema.Struct({
          id: Schema.String,
          event: EventType,
          data: Schema.fromJsonString(Event)
        })
      }),
      error: CursorExpiredError
    }).pipe(
      operation(
        "read:events",
        "Stream events",
        "The events of the list as server-sent events, as they are committed. Each has its cursor as `id`, its type as `event`, and itself as `data` on one line; a comment comes every 15 s, with the cursor as `id` while there is no event. The stream ends when the key does, and when the service stops: connect again with the last `id` as `Last-Event-ID` or `after`."
      )
    )
  )
  .prefix("/v1/events")
  .annotateMerge(group("Events", "What changed: every committed alteration of a record, once and in order.")) {}
