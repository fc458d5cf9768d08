import { Exit, Schema } from "effect"

export type Case = readonly [sent: unknown, stored: unknown]

/** What decoding a value that is refused gives here. */
export const refused = "refused"

export const decode = (schema: Schema.Codec<unknown, unknown>, sent: unknown): unknown => {
  const exit = Schema.decodeUnknownExit(schema)(sent)
  return Exit.isSuccess(exit) ? exit.value : refused
}

/** Values that are stored as they are sent. */
export const kept = (values: ReadonlyArray<unknown>): ReadonlyArray<Case> => values.map((value) => [value, value])

export const refuses = (values: ReadonlyArray<unknown>): ReadonlyArray<Case> => values.map((value) => [value, refused])

/** What a schema makes of the values, and the cases: equal when all hold. */
export const compare = (
  schema: Schema.Codec<unknown, unknown>,
  cases: ReadonlyArray<Case>
): [actual: ReadonlyArray<Case>, expected: ReadonlyArray<Case>] => [
  cases.map(([sent]) => [sent, decode(schema, sent)]),
  cases
]

/** What no text field takes. */
export const notText = [1, null, true, [], {}, undefined]
