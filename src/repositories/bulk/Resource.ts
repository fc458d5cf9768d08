import type { Effect } from "effect"
import type { Precondition } from "../../domain/query/Precondition.ts"
import type { Written } from "../../domain/write/Written.ts"
import type { Batch } from "../../sql/batch/BatchTypes.ts"
import type { Decode } from "./Decoding.ts"

/** A resource whose records are written in bulk. */
export interface BulkResource {
  readonly batch: Batch
  readonly create: Decode
  readonly patch: Decode
  /** The operations on one record. */
  readonly writes: {
    readonly create: (payload: never) => Effect.Effect<Written, unknown>
    readonly update: (uuid: never, patch: never, precondition: Precondition) => Effect.Effect<Written, unknown>
    readonly delete: (uuid: never, precondition: Precondition) => Effect.Effect<Written, unknown>
  }
}
