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
  /** The operations on one record, for what `create` and `patch` decoded; only the resource knows the types. */
  readonly writes: {
    create(payload: unknown): Effect.Effect<Written, unknown>
    update(uuid: string, patch: unknown, precondition: Precondition): Effect.Effect<Written, unknown>
    delete(uuid: string, precondition: Precondition): Effect.Effect<Written, unknown>
  }
}
