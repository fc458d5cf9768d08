import { type DateTime, Effect } from "effect"
import type { Encoded } from "../../../domain/schema/Encoded.ts"
import type { Selection } from "../../../domain/query/Selection.ts"
import { PastRecords } from "../../../repositories/changes/PastRecords.ts"
import type { Kinds } from "../../../repositories/changes/RecordKinds.ts"
import * as Included from "./Included.ts"
import * as Envelope from "../../transport/Envelope.ts"

type Kind = Exclude<keyof Kinds, "posts">

interface Repository<Id, A, E, R> {
  readonly get: (uuid: Id, selection: Selection) => Effect.Effect<Encoded<A>, E, R>
}

interface Request<Id> {
  readonly params: { readonly uuid: Id }
  readonly query: Selection & { readonly at?: DateTime.Utc }
}

/** The handlers that read one record, as it is or as it was. */
export const make = Effect.map(
  PastRecords,
  (past) =>
    <K extends Kind, Id extends string, E, R>(kind: K, repository: Repository<Id, Kinds[K]["record"], E, R>) =>
    ({ params: { uuid }, query: { at, ...selection } }: Request<Id>) =>
      at === undefined
        ? Envelope.one(Included.permitted(selection, repository.get(uuid, selection)), selection)
        : Envelope.past(Effect.andThen(Included.notInPast(selection), past.get(kind, uuid, at, selection)))
)
