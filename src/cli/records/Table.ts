import { CliOutput } from "effect/cli"
import { Array as Arr, Predicate } from "effect"
import type { Json } from "../../domain/schema/Json.ts"
import * as Rows from "../../domain/files/Rows.ts"

/** The value at a dotted path. */
export const valueAt = (record: Json, path: string): unknown =>
  path
    .split(".")
    .reduce<unknown>((value, name) => (Predicate.isObjectOrArray(value) ? Reflect.get(value, name) : undefined), record)

const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return ""
  return Predicate.isString(value) ? value : JSON.stringify(value)
}

/** A cell without line breaks and control characters, which would move the cursor of the terminal. */
export const cellOf = (value: unknown) => textOf(value).replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ")

const maxCell = 40

const shortened = (text: string) => {
  const characters = Array.from(text)
  return characters.length > maxCell ? `${characters.slice(0, maxCell - 1).join("")}…` : text
}

const padded = (text: string, width: number) => text + " ".repeat(Math.max(0, width - CliOutput.displayWidth(text)))

/** The rows as lines whose columns are aligned, also where letters are two columns wide. */
export const aligned = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => CliOutput.displayWidth(row[column]!)))) ?? []
  return rows
    .map((row) =>
      row
        .map((cell, column) => padded(cell, widths[column]!))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

/**
 * Records as a table: the given fields, or those that have a value in some record and fit into the width. The last two are
 * those that say least.
 */
export const table = (
  records: ReadonlyArray<Json>,
  { fields, given, width }: { readonly fields: ReadonlyArray<string>; readonly given: boolean; readonly width: number }
): string => {
  const isLate = (field: string) => ["uuid", "createdAt", "editedAt"].includes(field)
  const ordered = given ? fields : [...fields.filter((field) => !isLate(field)), ...fields.filter(isLate)]
  const columns = ordered
    .map((field) => {
      const cells = records.map((record) => cellOf(valueAt(record, field)))
      const shown = given ? cells : cells.map(shortened)
      const size = Math.max(CliOutput.displayWidth(field), ...shown.map(CliOutput.displayWidth))
      return { field, cells: shown, size, isEmpty: cells.every((cell) => cell === "") }
    })
    .filter(({ isEmpty }) => given || !isEmpty)
  let used = -2
  const fitting = given ? columns : columns.filter(({ size }) => (used += size + 2) <= width)
  const kept = fitting.length === 0 ? columns.slice(0, 1) : fitting
  const rows = records.map((_, row) => kept.map(({ cells }) => cells[row]!))
  return aligned([kept.map(({ field }) => field), ...rows])
}

/** The values of a record, one on each line. */
const card = (record: Json, prefix = ""): ReadonlyArray<readonly [string, string]> =>
  Object.entries(record).flatMap(([name, value]) =>
    Predicate.isObject(value) ? card(value, `${prefix}${name}.`) : [[`${prefix}${name}`, cellOf(value)] as const]
  )

export const cardText = (record: Json): string => aligned(card(record))

const quoted = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** Records as CSV, with the cells of an export. */
export const csv = (records: ReadonlyArray<Json>, fields: ReadonlyArray<string>): string =>
  [fields, ...records.map((record) => fields.map((field) => Rows.write(valueAt(record, field))))]
    .map((cells) => Arr.map(cells, quoted).join(","))
    .join("\n")
