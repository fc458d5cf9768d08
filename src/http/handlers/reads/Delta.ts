import { Effect } from "effect"
import { CurrentApiKey } from "../../../api/Authorization.ts"
import type { ManagedType } from "../../../domain/changes/RecordType.ts"
import { Mirrors, type MirrorRequest } from "../../../services/changes/Mirrors.ts"
import * as Envelope from "../../transport/Envelope.ts"

/** Makes the handler of the delta of a type of record. */
export const make = Effect.map(
  Mirrors,
  (mirrors) =>
    (type: ManagedType) =>
    ({ query }: { readonly query: MirrorRequest }) =>
      Effect.flatMap(CurrentApiKey, (key) => Envelope.cursorPage(mirrors.delta(type, query, key)))
)
