import { Schema } from "effect"
import { text } from "../schema/Fields.ts"

/** One choice of a variant: the key of an option and the key of one of its values. */
export const OptionValue = Schema.Struct({
  option: text(100).pipe(Schema.annotateEncoded({ examples: ["size"] })),
  value: text(100).pipe(Schema.annotateEncoded({ examples: ["a4"] }))
}).annotate({ identifier: "OptionValue" })
