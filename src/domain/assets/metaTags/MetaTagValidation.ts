import { Schema, Struct } from "effect"
import { inRange } from "../../schema/WholeNumber.ts"
import { text } from "../../schema/Fields.ts"

/** How many characters each type of text has at most, and how many options a definition has at most. */
export const limits = { text: 1000, longText: 10_000, url: 2048, options: 5000 } as const

const count = (minimum: number, maximum: number) => Schema.Int.check(inRange(minimum, maximum))

/** What a value has to fulfil; each member applies to some types only. */
export const Validation = Schema.Struct(
  Struct.map(
    {
      minLength: count(0, limits.longText).annotate({ description: "Of `text`, `longText` and `url`." }),
      maxLength: count(1, limits.longText).annotate({ description: "Of `text`, `longText` and `url`." }),
      min: Schema.Finite.annotate({ description: "Of `integer` and `decimal`." }),
      max: Schema.Finite.annotate({ description: "Of `integer` and `decimal`." }),
      pattern: text(200).pipe(
        Schema.annotateEncoded({
          description:
            "An RE2 expression that the whole value matches: of `text`, `longText` and `url`. It has no backreferences and no lookaround.",
          examples: ["[A-Z]{2}-[0-9]+"]
        })
      ),
      maxItems: count(1, limits.options).annotate({ description: "Of `multiSelect`." })
    },
    Schema.optionalKey
  )
).annotate({ examples: [{ maxItems: 2 }] })
export type Validation = typeof Validation.Type
