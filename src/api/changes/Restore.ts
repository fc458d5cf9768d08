import { Schema } from "effect"
import { EventId } from "../../domain/changes/Event.ts"
import { HistoryExpiredError } from "../../domain/changes/Errors.ts"
import type { Entity } from "../../domain/keys/Permission.ts"
import type { Annotatable } from "../Annotations.ts"
import { requires } from "../Authorization.ts"
import { describe } from "../Describe.ts"
import * as Envelope from "../Envelope.ts"
import { answersHeaders } from "../openapi/Headers.ts"

const RestoreRequest = Schema.Struct({
  eventId: Schema.optionalKey(
    EventId.pipe(
      Schema.annotateEncoded({
        description: "The event after which the record had the state that it gets; required for a record that exists."
      })
    )
  )
}).annotate({ identifier: "RestoreRequest" })

/** The schemas of the restoration of a record; `errors` are those of the rules that it can break. */
export const restoration = <
  Id extends Schema.Top,
  NotFound extends Schema.Top,
  const Errors extends ReadonlyArray<Schema.Top>
>(
  id: Id,
  notFound: NotFound,
  errors: Errors
) => ({
  params: { uuid: id },
  payload: RestoreRequest,
  success: Envelope.Written(id),
  error: [notFound, HistoryExpiredError, ...errors] as const
})

/**
 * The permissions and the description of the restoration of a kind of record: `user`, `asset category`; `also` names
 * those that some members need in addition.
 */
export const restoring =
  (entity: Entity, kind: string, also = "") =>
  <Endpoint extends Annotatable<Endpoint>>(endpoint: Endpoint): Endpoint =>
    describe(
      `Restore ${/^[aeio]/.test(kind) ? "an" : "a"} ${kind}`,
      `Brings a deleted ${kind} back as it was before its deletion, or after the event \`eventId\`; an existing ${kind} gets its members of then. A \`Warning\` header lists what was not restored, by path and number.${also}`
    )(answersHeaders("Warning")(requires(`create:${entity}`, `update:${entity}`)(endpoint)))
