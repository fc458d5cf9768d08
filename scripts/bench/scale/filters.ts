import { type Operator, operatorsOf } from "../../../src/domain/query/FilterConditions.ts"
import type { Field } from "../../../src/domain/query/FilterFields.ts"
import { print } from "../../../src/domain/query/FilterSyntax.ts"

type Scalar = boolean | number | string
type Json = null | Scalar | ReadonlyArray<Json> | { readonly [member: string]: Json }

/** The values at a path of a record, including those of every element of a list. */
const valuesAt = (value: Json | undefined, segments: ReadonlyArray<string>): ReadonlyArray<Scalar> => {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value.flatMap((item) => valuesAt(item, segments))
  const [segment, ...rest] = segments
  if (segment === undefined) return [value as Scalar]
  return valuesAt((value as { readonly [member: string]: Json })[segment], rest)
}

const absentValues: Readonly<Record<Field["kind"], string>> = {
  string: "nowhere",
  uuid: "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30",
  enum: "nowhere",
  number: "1",
  date: "2026-01-31",
  day: "2026-01-31",
  boolean: "true"
}

/** A value that matches some record: a few letters of a text, the day of a timestamp, the whole value otherwise. */
const valueOf = (
  { kind, values }: Field,
  operator: Operator,
  found: Scalar | undefined
): string | boolean | ReadonlyArray<string> => {
  const text =
    found === undefined
      ? operator === "equals"
        ? (values[0] ?? absentValues[kind])
        : absentValues[kind]
      : String(found)
  const middle = Math.max(0, Math.floor(text.length / 2) - 3)
  switch (operator) {
    case "contains":
      return text.slice(middle, middle + 6)
    case "startsWith":
      return text.slice(0, 6)
    case "endsWith":
      return text.slice(-6)
    case "equals":
      return kind === "date" ? text.slice(0, 10) : text
    case "in":
      return [text]
    case "exists":
      return true
    default:
      return text
  }
}

/** A record whose meta tags also have their value under their key, as a filter names it. */
const withKeys = (record: Json): Json => {
  const { metaTags, ...members } = record as {
    readonly metaTags?: ReadonlyArray<{ readonly key: string; readonly value: Json }>
  }
  return metaTags === undefined
    ? record
    : { ...members, metaTags: metaTags.map((tag) => ({ ...tag, [tag.key]: tag.value })) }
}

/** A filter for every one of the fields with each of its operators, with values of existing records. */
export const everyFilter = (fields: ReadonlyArray<Field>, listed: ReadonlyArray<Json>): ReadonlyArray<string> => {
  const records = listed.map(withKeys)
  return fields.flatMap((field) => {
    const found = records.flatMap((value) => valuesAt(value, field.segments))
    const value = found[Math.floor(found.length / 2)]
    return operatorsOf[field.kind].map((operator) =>
      print([{ field: field.path, operator, value: valueOf(field, operator, value) }])
    )
  })
}
