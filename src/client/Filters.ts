import { type DateTime, Record, Struct } from "effect"
import type { Condition, Operator } from "../domain/query/FilterConditions.ts"
import type { Plain } from "./Plain.ts"

type Scalar = string | number | boolean

/** A value that a filter compares. */
type Leaf = Scalar | DateTime.Utc | null | undefined

type Joined<Key extends string, Rest extends string> = Rest extends "" ? Key : `${Key}.${Rest}`

/** The dotted paths of the fields of a record; those of the elements of a list have the name of the list before them. */
type Path<T> = T extends Leaf
  ? ""
  : T extends ReadonlyArray<infer Element>
    ? Path<Element>
    : { [K in keyof T & string]-?: Joined<K, Path<NonNullable<T[K]>>> }[keyof T & string]

/** The value at a path. */
type At<T, P extends string> = T extends Leaf
  ? T
  : T extends ReadonlyArray<infer Element>
    ? At<Element, P>
    : P extends keyof T
      ? At<NonNullable<T[P]>, "">
      : P extends `${infer Key}.${infer Rest}`
        ? Key extends keyof T
          ? At<NonNullable<T[Key]>, Rest>
          : never
        : never

interface Any<T> {
  readonly equals?: T
  readonly in?: ReadonlyArray<T>
  readonly exists?: boolean
}

/** Operators that all hold, and others of which none holds. */
type Operators<O> = O & { readonly not?: O }

type Ordered<T> = T | Operators<Any<T> & { readonly [O in "gt" | "gte" | "lt" | "lte"]?: T }>
type Textual<T> = T | Operators<Any<T> & { readonly [O in "contains" | "startsWith" | "endsWith"]?: string }>

/** What a filter can ask of a value: a value that it equals, or operators that all hold. */
type Test<T> = [T] extends [DateTime.Utc]
  ? Ordered<string | Date>
  : [T] extends [number]
    ? Ordered<number>
    : [T] extends [boolean]
      ? T | Operators<Any<T>>
      : Textual<Plain<T>>

/** Conditions on the fields of a record, all of which must hold: `{ "address.city": "Utrecht", name: { contains: "a" } }`. */
export type FilterOf<T> = { readonly [P in Path<T>]?: Test<At<T, P>> } & (T extends { readonly metaTags?: unknown }
  ? { readonly [P in `metaTags.${string}`]?: Ordered<Scalar> | Textual<string> }
  : unknown)

type Tested = Scalar | Date

/** A value for each operator. */
type OperatorTests = { readonly [O in Operator]?: Tested | ReadonlyArray<Tested> | undefined }

export interface Tests {
  readonly [field: string]: Tested | (OperatorTests & { readonly not?: OperatorTests | undefined }) | undefined
}

const textOf = (value: Tested) => (value instanceof Date ? value.toISOString() : value)

const isList = (value: Tested | ReadonlyArray<Tested>): value is ReadonlyArray<Tested> => Array.isArray(value)

const conditionsOn = (
  field: string,
  tests: OperatorTests,
  negation: { readonly not?: true }
): ReadonlyArray<Condition> =>
  Struct.keys(tests).flatMap((operator): ReadonlyArray<Condition> => {
    const value = tests[operator]
    if (value === undefined) return []
    return [{ field, operator, value: isList(value) ? value.map(textOf) : textOf(value), ...negation }]
  })

/** The conditions of a filter. */
export const conditionsOf = (tests: Tests): ReadonlyArray<Condition> =>
  Record.toEntries(tests).flatMap(([field, test]): ReadonlyArray<Condition> => {
    if (test === undefined) return []
    if (typeof test !== "object" || test instanceof Date) return [{ field, operator: "equals", value: textOf(test) }]
    const { not = {}, ...operators } = test
    return [...conditionsOn(field, operators, {}), ...conditionsOn(field, not, { not: true })]
  })
