import type { Context } from "effect"

/** An endpoint: annotated, it keeps its type. */
export interface Annotatable<Endpoint> {
  annotateMerge<I>(annotations: Context.Context<I>): Endpoint
}
