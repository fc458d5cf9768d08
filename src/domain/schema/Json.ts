import { Predicate, Result } from "effect"

/** A JSON object of any shape. */
export type Json = { readonly [member: string]: unknown }

/** A value as a JSON object; one without members if it is none. */
export const objectOf = (value: unknown): Json => (Predicate.isObject(value) ? value : {})

/** A member of a value of any shape, by its path; `undefined` where it has none. */
export const memberOf = (value: unknown, ...path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>((inner, name) => (Predicate.isObject(inner) ? inner[name] : undefined), value)

/** The objects in a list; none of a value that is no list. */
export const objectsIn = (value: unknown): ReadonlyArray<Json> =>
  Array.isArray(value) ? value.filter(Predicate.isObject) : []

/** The texts in a list; none of a value that is no list. */
export const textsOf = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.filter(Predicate.isString) : []

/** Parses text as JSON. */
export const parseJson = (text: string): Result.Result<unknown, unknown> => Result.try(() => JSON.parse(text))

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** Whether text is a number as JSON writes it: `Number` also accepts an empty text, hexadecimal digits and `Infinity`. */
export const isJsonNumber = (text: string): boolean => jsonNumber.test(text)
