import { Effect } from "effect"
import { CurrentApiKey } from "../../../api/Authorization.ts"
import type { RecordType } from "../../../domain/changes/RecordType.ts"
import { Events, type HistoryRequest } from "../../../services/changes/Events.ts"
import * as Envelope from "../../transport/Envelope.ts"

interface Request {
  readonly params: { readonly uuid: string }
  readonly query: Omit<HistoryRequest, "uuid" | "type">
}

/** Makes the handler of the histories of a type of record. */
export const make = Effect.map(
  Events,
  (events) =>
    <E>(type: RecordType, notFound: (uuid: string) => E) =>
    ({ params: { uuid }, query }: Request) =>
      Envelope.cursorPage(
        Effect.gen(function* () {
          const page = yield* events.history({ ...query, type, uuid }, yield* CurrentApiKey)
          return yield* Effect.fromOption(page, () => notFound(uuid))
        })
      )
)
