import { Exit, Schema } from "effect"

export type Case = readonly [sent: unknown, stored: unknown]

/** The result of `decode` for a rejected value. */
export const rejected = "rejected"

export const decode = (schema: Schema.Codec<unknown, unknown>, sent: unknown): unknown => {
  const exit = Schema.decodeUnknownExit(schema)(sent)
  return Exit.isSuccess(exit) ? exit.value : rejected
}

/** Values that are stored unchanged. */
export const kept = (values: ReadonlyArray<unknown>): ReadonlyArray<Case> => values.map((value) => [value, value])

export const rejects = (values: ReadonlyArray<unknown>): ReadonlyArray<Case> => values.map((value) => [value, rejected])

/** Actual and expected cases, as arguments of deepStrictEqual. */
export const compare = (
  schema: Schema.Codec<unknown, unknown>,
  cases: ReadonlyArray<Case>
): [actual: ReadonlyArray<Case>, expected: ReadonlyArray<Case>] => [
  cases.map(([sent]) => [sent, decode(schema, sent)]),
  cases
]

/** Values that every text field rejects. */
export const notText = [1, null, true, [], {}, undefined]
