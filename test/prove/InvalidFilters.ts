import { type Asked, type Kind, write } from "../support/filters/FilterOracle.ts"
import type { Samples } from "../support/filters/FilterSamples.ts"

/** Names that are not fields: column names, members that every object inherits, and misspellings. */
const unknown = [
  "has_media",
  "file_uuid",
  "fileUuids",
  "keyHash",
  "__proto__",
  "constructor.name",
  "toString",
  "nmae",
  ""
]

/** Operators and values that are invalid for a kind of field. */
const misfits: Readonly<Record<Kind, ReadonlyArray<readonly [operator: string, value: string]>>> = {
  string: [
    ["gt", "a"],
    ["is", "a"],
    ["contains", ""],
    ["equals", '"a']
  ],
  enum: [
    ["equals", "unknown"],
    ["lt", "a"],
    ["equals", ""]
  ],
  uuid: [
    ["equals", "x"],
    ["gte", "0198d9e4-7d0c-7b1e-8b54-9c5d2f6a1e30"],
    ["equals", ""]
  ],
  number: [
    ["contains", "1"],
    ["equals", "abc"],
    ["gt", "0x10"],
    ["lt", "1e999"],
    ["gte", "NaN"],
    ["lte", ""]
  ],
  date: [
    ["startsWith", "2026"],
    ["equals", "2026-02-30"],
    ["gt", "2026-01-01T00:00:00Z"],
    ["lt", "0000-01-01"],
    ["gte", ""]
  ],
  day: [
    ["equals", "2026-02-30"],
    ["gte", "2026"],
    ["lt", "31-01-2026"],
    ["lte", ""]
  ],
  boolean: [
    ["equals", "yes"],
    ["equals", "TRUE"],
    ["contains", "true"],
    ["equals", ""]
  ]
}

/** Returns a function that makes a filter invalid by one wrong condition. */
export const make = ({ chance, pick, random }: Samples, fields: ReadonlyArray<Pick<Asked, "field" | "kind">>) => {
  const wrong = (most: number): string => {
    const { field, kind } = pick(fields)
    const [operator, value] = pick(misfits[kind])
    return pick([
      () => `${field}:${operator}:${value}`,
      () => `${field}:${operator}:${value}`,
      () => `${pick(unknown)}:equals:a`,
      () => field,
      () => `${field}:equals`,
      () => "",
      () => `${field}:equals:"a"b`,
      () => `${field}:equals:a\\b`,
      () => `${field} equals a`,
      () => Array.from({ length: 21 }, () => `${field}:equals:""`).join(","),
      () => `${field}:equals:${"a".repeat(most)}`
    ])()
  }
  return (right: ReadonlyArray<Asked>): string => {
    const written = write(right, random)
    // A filter with a list of values may be longer than others.
    const invalid = wrong(right.some(({ operator }) => operator === "in") ? 6000 : 2000)
    return chance(0.5) ? `${written},${invalid}` : `${invalid},${written}`
  }
}
