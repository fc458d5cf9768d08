import { Effect } from "effect"
import { CurrentApiKey } from "../../api/Authorization.ts"
import type { MirroredType } from "../../domain/changes/Delta.ts"
import { Mirrors, type MirrorRequest } from "../../services/changes/Mirrors.ts"
import * as Envelope from "../transport/Envelope.ts"

/** Makes the handler of the delta of a type of record. */
export const make = Effect.map(
  Mirrors,
  (mirrors) =>
    (type: MirroredType) =>
    ({ query }: { readonly query: MirrorRequest }) =>
      Effect.flatMap(CurrentApiKey, (key) => Envelope.cursorPage(mirrors.delta(type, query, key)))
)
