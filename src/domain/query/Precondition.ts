import { Context } from "effect"

/**
 * The entity tags of the request's `If-Match` header, or nothing when the client sent none (or `*`). It lies in the
 * fiber's context so that the repository can compare under the row's lock without every handler passing it on.
 */
export const IfMatch = Context.Reference<ReadonlyArray<string> | undefined>(
  "waypost/domain/query/Precondition/IfMatch",
  {
    defaultValue: () => undefined
  }
)
