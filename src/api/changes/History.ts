import type { Schema } from "effect"
import { CursorExpiredError } from "../../domain/changes/Errors.ts"
import { Event } from "../../domain/changes/Event.ts"
import type { Permission } from "../../domain/keys/Permission.ts"
import type { Annotatable } from "../Annotations.ts"
import { operation } from "../Describe.ts"
import * as Envelope from "../Envelope.ts"
import { ReadsPrimary } from "../Limits.ts"
import { after, limit, order } from "./EventQuery.ts"

/** The schemas of the history of one record. */
export const history = <Id extends Schema.Top, NotFound extends Schema.Top>(id: Id, notFound: NotFound) => ({
  params: { uuid: id },
  query: { after, limit: limit(50), order: order("desc") },
  success: Envelope.CursorPage(Event),
  error: [notFound, CursorExpiredError] as const
})

/**
 * The permission and the description of the history of a kind of record: `user`, `asset category`. A replica that is behind would take
 * the cursor of an event that it lacks for one of another backup.
 */
export const describing =
  (permission: Permission, kind: string) =>
  <Endpoint extends Annotatable<Endpoint>>(endpoint: Endpoint): Endpoint =>
    operation(
      permission,
      `List the history of ${/^[aeio]/.test(kind) ? "an" : "a"} ${kind}`,
      `The changes of the ${kind}, the latest first, with their values; also those of a deleted ${kind}. Changes of relations are in the history of both records.`
    )(endpoint.annotateMerge(ReadsPrimary.context(true)))
