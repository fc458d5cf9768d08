import { identity, SchemaTransformation } from "effect"

/** Decodes a value to its normal form; encoding leaves it unchanged. */
export const normalise = <A>(f: (value: A) => A) =>
  SchemaTransformation.transform<A, A>({ decode: f, encode: identity })
