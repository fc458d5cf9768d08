import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Encoded } from "../../domain/schema/Encoded.ts"
import { typeOfKind } from "../../domain/changes/RecordType.ts"
import type { Selection } from "../../domain/query/Selection.ts"
import { type Kinds, notFound } from "../../repositories/changes/RecordKinds.ts"
import { type RestoreRequest, Restoring, type WrittenRestoration } from "../../repositories/changes/Restoring.ts"
import * as Delta from "./reads/Delta.ts"
import * as Get from "./reads/Get.ts"
import * as History from "./reads/History.ts"
import * as Bulk from "./writes/Bulk.ts"
import * as Restore from "./writes/Restore.ts"

/** Posts are read in a language, so their handlers differ. */
type Kind = Exclude<keyof Kinds, "posts">

type Read<Id, A, E, R = never> = (uuid: Id, selection?: Selection) => Effect.Effect<Encoded<A>, E, R>

interface Restored<Id> {
  readonly params: { readonly uuid: Id }
  readonly payload: { readonly eventId?: string }
  readonly request: HttpServerRequest.HttpServerRequest
}

type Restorers = {
  readonly [K in Kind]: <E>(
    request: RestoreRequest<E>
  ) => Effect.Effect<WrittenRestoration<K>, Effect.Error<ReturnType<Restoring["Service"][K]>>>
}

/** Makes the handlers that records of every kind have: bulk requests, deltas, histories, reads of one record and restorations. */
export const make = Effect.gen(function* () {
  const bulkOf = yield* Bulk.make
  const deltaOf = yield* Delta.make
  const getOf = yield* Get.make
  const historyOf = yield* History.make
  const restorers: Restorers = yield* Restoring
  return <K extends Kind, Id extends string, E, R = never>(
    kind: K,
    repository: { readonly get: Read<Id, Kinds[K]["record"], E> },
    /** What a client reads of the records, if that is not all. */
    visible: { readonly get: Read<Id, Kinds[K]["record"], E, R> } = repository
  ) => ({
    bulk: bulkOf(kind),
    delta: deltaOf(typeOfKind[kind]),
    get: getOf(kind, visible),
    history: historyOf(typeOfKind[kind], notFound[kind].of),
    restore: ({ params, payload, request }: Restored<Id>) =>
      Restore.restored(restorers[kind], { ...params, ...payload, request, read: repository.get(params.uuid) })
  })
})
