import { Predicate } from "effect"
import { type Json, memberOf } from "../../domain/schema/Json.ts"
import type { Entry } from "../../domain/changes/Event.ts"
import { differing, type Leaf } from "../../domain/changes/Leaves.ts"
import { limits } from "../../domain/plans/Plan.ts"
import { InvalidRequestError, type Issue } from "../../domain/write/RequestErrors.ts"
import type { DecodedOperation } from "../bulk/Decoding.ts"

/** The key of a row that is refused, as the file has it. */
export const textOf = (record: unknown, member: string) => {
  const key = memberOf(record, member)
  return typeof key === "string" || typeof key === "number" ? String(key).slice(0, 255) : ""
}

/** The members that differ, to the leaves, in the order of the record. */
export const leaves = (before: string | null | undefined, after: string | undefined): ReadonlyArray<Leaf> => {
  const [old, now] = [parse(before), parse(after)]
  const names = new Set([...Object.keys(now), ...Object.keys(old)])
  return [...names].flatMap((name) => differing(name, old[name], now[name]))
}

const parse = (json: string | null | undefined): Json => JSON.parse(json ?? "{}")

/** How long the values of changes are. */
export const lengthOf = (changes: ReadonlyArray<Entry>) =>
  changes.reduce(
    (length, { added, after, before, removed }) =>
      [added, after, before, removed].reduce<number>((sum, value) => sum + textLength(value), length),
    0
  )

const textLength = (value: unknown) => {
  if (typeof value === "string") return value.length
  return value === undefined ? 0 : JSON.stringify(value).length
}

/** The set of uuids that an operation gives a record as a relation; none if it leaves the relation as it is. */
export const setOf = (operation: DecodedOperation, member: string) => {
  const sent = "payload" in operation ? memberOf(operation.payload, member) : undefined
  return Array.isArray(sent) ? [...new Set(sent.map(String))].toSorted() : undefined
}

/** The issues of an error of a single write. */
export const issuesOf = (error: object): ReadonlyArray<Issue> => {
  if (Predicate.hasProperty(error, "issues") && Array.isArray(error.issues)) return error.issues
  const [code, message] = [memberOf(error, "_tag"), memberOf(error, "message")]
  return [{ in: "body", path: "", code: String(code), message: String(message) }]
}

export const inRow = (path: string, code: string, message: string): Issue => ({ in: "body", path, code, message })

/** A row that is too long; 0 is the header of a CSV file. */
export const rowTooLarge = (row: number) =>
  InvalidRequestError.inBody(
    "",
    "tooLarge",
    `${row === 0 ? "The header" : `Row ${row}`} has more than ${limits.rowLength / 1024 ** 2} MiB, the maximum of a row`
  )

export const duplicate = (member: string, first: number, row: number) =>
  inRow(member, "duplicate", `Rows ${first} and ${row} have the same ${member}; only the first counts`)
export const outsideFilter = (member: string) =>
  inRow(member, "outsideFilter", `The record with this ${member} does not match the filter of the plan`)
