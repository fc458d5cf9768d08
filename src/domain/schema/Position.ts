import { Schema } from "effect"
import { inRange } from "./WholeNumber.ts"

/** Where something stands among its like: the lowest first. */
export const Position = Schema.Int.check(inRange(0, 1_000_000)).annotate({
  description: "Where it stands among its like, the lowest first; 0 unless given.",
  examples: [10]
})
