import { Schema } from "effect"

/** Text that matches a pattern; `expected` completes the sentence "Expected …". */
export const matching = (pattern: RegExp, expected: string) =>
  Schema.isPattern(pattern, { expected, code: "invalidFormat" })

/** A list of at most `max` items. */
export const atMost = (max: number, items: string) =>
  Schema.isMaxLength(max, { expected: `at most ${max} ${items}`, code: "tooMany" })
