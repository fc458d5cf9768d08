import { Predicate, Schema } from "effect"

/** A JSON object of any shape. */
export type Json = { readonly [member: string]: unknown }

/** A member of a value of any shape, by its path; `undefined` where it has none. */
export const memberOf = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((inner, name) => (Predicate.isObject(inner) ? inner[name] : undefined), value)

/** Parses text as JSON. */
export const parseJson = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Unknown))
