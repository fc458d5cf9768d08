import { Effect } from "effect"
import { hash } from "node:crypto"
import type { Precondition } from "../domain/query/Precondition.ts"
import { PreconditionFailedError } from "../domain/write/RequestErrors.ts"

/**
 * The entity tag of a JSON text, or of bytes. It is computed from the answer and not from a version column, so it also
 * changes with members that other rows contribute.
 */
export const entityTag = (json: string | Uint8Array): string => `"${hash("sha1", json, "base64url")}"`

/** Ends the request with 412 unless `json`, the current answer to a read, meets the precondition. */
export const checkPrecondition = (
  precondition: Precondition,
  json: string | undefined,
  kind: "record" | "module" | "upload" = "record"
): Effect.Effect<void> =>
  precondition === undefined || (json !== undefined && precondition.includes(entityTag(json)))
    ? Effect.void
    : Effect.die(
        new PreconditionFailedError({
          message: `The ${kind} has changed since it was read; read it again and repeat the request with the new ETag`
        })
      )
