import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { CurrentApiKey } from "../../../api/Authorization.ts"
import type { RestoreRequest, WrittenRestoration } from "../../../repositories/changes/Restoring.ts"
import * as Envelope from "../../transport/Envelope.ts"

interface Asked<Id, R> extends Pick<RestoreRequest<R>, "read"> {
  readonly uuid: Id
  readonly eventId?: string | undefined
  readonly request: HttpServerRequest.HttpServerRequest
}

/** Restores a record; a warning lists what was not restored. */
export const restored = <K extends string, Id extends string, E, R>(
  restore: (request: RestoreRequest<R>) => Effect.Effect<WrittenRestoration<K>, E>,
  { eventId, read, request, uuid }: Asked<Id, R>
) =>
  Effect.flatMap(CurrentApiKey, ({ permissions }) =>
    restore({ uuid, eventId, read, permissions, precondition: Envelope.ifMatch(request) })
  ).pipe(
    Effect.tap(({ missing }) => (missing.size === 0 ? Effect.void : Envelope.warn(`Not restored: ${listOf(missing)}`))),
    Effect.map((written) => ({ ...written, uuid })),
    Envelope.written
  )

const listOf = (missing: WrittenRestoration<string>["missing"]) =>
  Array.from(missing, ([path, count]) => `${path} ${count}`).join(", ")
