import { Predicate } from "effect"
import type { Column } from "../definition/Definition.ts"
import { textOf } from "../data/Calls.ts"
import { useFormats, useWords } from "../words/Words.tsx"

const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** A value of a record in a line. Where its kind is not known, a text that reads like a time is one. */
export const Cell = ({ kind, value }: { readonly value: unknown; readonly kind?: Column["kind"] | undefined }) => {
  const words = useWords()
  const formats = useFormats()
  if (value === undefined || value === null) return null
  if (typeof value === "boolean") return value ? words.yes : words.no
  if (typeof value === "number") return formats.number(value)
  if (Array.isArray(value))
    return value.map((one) => (Predicate.isObject(one) ? JSON.stringify(one) : textOf(one))).join(", ")
  if (Predicate.isObject(value)) return JSON.stringify(value)
  const text = textOf(value)
  return kind === "date" || (kind === undefined && time.test(text)) ? formats.time(text) : text
}
