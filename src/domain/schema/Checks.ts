import { Schema } from "effect"

/** A pattern as JSON Schema writes it: without the escapes of a literal, which generators would escape once more. */
export const sourceOf = ({ source }: RegExp): string => source.replaceAll(String.raw`\/`, "/")

/** Text that matches a pattern; `expected` completes the sentence "Expected …". */
export const matching = (pattern: RegExp, expected: string) =>
  Schema.isPattern(pattern, {
    expected,
    code: "invalidFormat",
    // JSON Schema has no flags.
    ...(pattern.flags === "" ? { toJsonSchema: () => ({ pattern: sourceOf(pattern) }) } : {})
  })

/** Text that matches a pattern and is stored as sent. */
export const patternText = (pattern: RegExp, expected: string, example: string) =>
  Schema.String.check(matching(pattern, expected)).annotate({ examples: [example] })

/** Bounds for the OpenAPI document, which a later step of decoding checks. */
export const documented = (fragment: Readonly<Record<string, string | number>>) =>
  Schema.makeFilter<string>(() => true, { toJsonSchema: () => fragment })

/** A list of at most `max` items. */
export const atMost = (max: number, items: string) =>
  Schema.isMaxLength(max, { expected: `at most ${max} ${items}`, code: "tooMany" })
