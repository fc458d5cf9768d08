import { type DateTime, Record, type Schema, Struct } from "effect"
import type { groupRead, locationRead, productRead, userRead } from "../api/Included.ts"
import type { Product } from "../domain/catalog/Product.ts"
import type { Location } from "../domain/locations/Location.ts"
import type { Group } from "../domain/people/Group.ts"
import type { User } from "../domain/people/User.ts"
import type { LocaleCoverage } from "../domain/quality/Coverage.ts"
import type { Condition, Operator } from "../domain/query/FilterConditions.ts"
import type { Plain } from "./Plain.ts"

type Scalar = string | number | boolean

/** A value that a filter compares. */
type Leaf = Scalar | DateTime.Utc | null | undefined

/** The members that every answer signs anew. */
type Signed = "urls" | "thumbnailUrl" | "resumeCursor"

type Form<T> = T extends string ? "text" : T extends number ? "number" : T extends boolean ? "boolean" : "other"
type IsUnion<T, U = T> = T extends unknown ? ([U] extends [T] ? false : true) : never

/** The dotted paths of the members of a record; those of the elements of a list have the name of the list before them. */
type Path<T> = T extends Leaf
  ? never
  : T extends ReadonlyArray<infer Element>
    ? Path<Element>
    : {
        [K in Exclude<keyof T & string, Signed>]-?: PathFrom<K, NonNullable<T[K]>>
      }[Exclude<keyof T & string, Signed>]

/** A value that may be text as well as a number is not compared. */
type PathFrom<Key extends string, T> = IsUnion<Form<T>> extends true ? never : Key | `${Key}.${Path<T>}`

/** The value at a path, or the values in a list. */
type At<T, P extends string> = T extends Leaf
  ? never
  : T extends ReadonlyArray<infer Element>
    ? At<Element, P>
    : P extends keyof T
      ? Value<NonNullable<T[P]>>
      : P extends `${infer Key}.${infer Rest}`
        ? Key extends keyof T
          ? At<NonNullable<T[Key]>, Rest>
          : never
        : never

type Value<T> = T extends ReadonlyArray<infer Element> ? Value<Element> : T

interface Existence {
  readonly exists?: boolean
}

interface Any<T> extends Existence {
  readonly equals?: T
  readonly in?: ReadonlyArray<T>
}

/** Operators that all hold, and others of which none holds. */
type Operators<O> = O & { readonly not?: O }

type Ordered<T> = T | Operators<Any<T> & { readonly [O in "gt" | "gte" | "lt" | "lte"]?: T }>
type Textual<T> = T | Operators<Any<T> & { readonly [O in "contains" | "startsWith" | "endsWith"]?: string }>

/** What a filter can ask of a value: a value that it equals, or operators that all hold. Objects can only exist. */
type Test<T> = [T] extends [DateTime.Utc]
  ? Ordered<string | Date>
  : [T] extends [number]
    ? Ordered<number>
    : [T] extends [boolean]
      ? T | Operators<Any<T>>
      : [T] extends [string]
        ? Textual<Plain<T>>
        : Operators<Existence>

type IsSame<A, B> = [A, B] extends [B, A] ? true : false
type IsOf<Row, Read extends { readonly answered: Schema.Top }> = IsSame<keyof Row, keyof Read["answered"]["Type"]>

/** The record of which a filter names members: answers can have other records in addition. */
type Filtered<Row> = Row extends unknown
  ? IsOf<Row, typeof locationRead> extends true
    ? Location
    : IsOf<Row, typeof userRead> extends true
      ? User
      : IsOf<Row, typeof groupRead> extends true
        ? Group
        : IsOf<Row, typeof productRead> extends true
          ? Product
          : Row extends LocaleCoverage
            ? never
            : Row
  : never

type ConditionsOn<T> = { readonly [P in Path<T>]?: Test<At<T, P>> } & ("metaTags" extends keyof T
  ? { readonly [P in `metaTags.${string}`]?: Ordered<Scalar> | Textual<string> }
  : unknown)

/**
 * Conditions on the fields of the records of a list, all of which must hold:
 * `{ "address.city": "Utrecht", name: { contains: "a" } }`.
 */
export type FilterOf<Row> = ConditionsOn<Filtered<Row>>

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

/** The first test that has no value, also in a list: `filter.name.contains is undefined`. */
const missingIn = (tests: object, path: string): string | undefined => {
  for (const [name, value] of Object.entries<unknown>({ ...tests })) {
    const at = `${path}.${name}`
    if (value === undefined || value === null) return `${at} is ${value}`
    const found = typeof value === "object" ? missingIn(value, at) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/** Why a filter cannot be sent, if it cannot: without a condition that has no value, the records would be others. */
export const problemOf = (filter: object): string | undefined => {
  const found = missingIn(filter, "filter")
  return found === undefined ? undefined : `${found}: without this condition the list would have other records`
}
