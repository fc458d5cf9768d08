import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { CursorExpiredError } from "../../domain/changes/Errors.ts"
import { Event } from "../../domain/changes/Event.ts"
import { group, operation } from "../Describe.ts"
import * as Envelope from "../Envelope.ts"
import { EventQuery } from "./EventQuery.ts"

/** The log of changes. */
export class EventsApi extends HttpApiGroup.make("events")
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
      )
    )
  )
  .prefix("/v1/events")
  .annotateMerge(group("Events", "What changed: every committed alteration of a record, once and in order.")) {}
