import { Schema } from "effect"

/** Where something stands among its like: the lowest first. */
export const Position = Schema.Int.check(
  Schema.isBetween(
    { minimum: 0, maximum: 1_000_000 },
    { expected: "a whole number from 0 to 1000000", code: "outOfRange" }
  )
).annotate({ description: "Where it stands among its like, the lowest first; 0 unless given.", examples: [10] })
