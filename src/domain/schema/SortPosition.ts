import { Schema } from "effect"
import { inRange } from "./WholeNumber.ts"

/** The sort position of a record among its siblings, lowest first. */
export const SortPosition = Schema.Int.check(inRange(0, 1_000_000)).annotate({
  description: "Where it stands among its siblings, the lowest first; 0 unless given.",
  examples: [10]
})
