import { Schema } from "effect"
import { inRange } from "../schema/WholeNumber.ts"

/** How long a secret stays valid after its replacement unless the request says so, in seconds: a day. */
export const defaultOverlapSeconds = 86_400

const max = 30 * defaultOverlapSeconds

/** How long a secret stays valid after its replacement, in seconds: up to 30 days. */
export const overlapSeconds = (description: string) =>
  Schema.optionalKey(
    Schema.Int.check(inRange(0, max, `a whole number of seconds from 0 to ${max}`)).annotate({
      default: defaultOverlapSeconds,
      description
    })
  )
