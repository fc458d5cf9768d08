import { Predicate, type Schema, SchemaAST } from "effect"
import { type Field, fieldsOf } from "../query/FilterFields.ts"
import { fieldsOf as membersOf, markerOf, type Shaped } from "../write/Markers.ts"
import { isJsonNumber } from "../schema/Json.ts"

/**
 * Converts records to flat rows of text and back; the columns are the dotted paths of the record's schema.
 *
 * A cell without content is an absent member, a list of scalars is one cell separated by `;`, and a list of records has no column.
 * Values are not validated here: a cell that is no number stays text, and the schema rejects it.
 */
export type Column = Field

export type Cells = Readonly<Record<string, string>>

/** The columns of a record. */
export const columnsOf = (record: Schema.Top): ReadonlyArray<Column> =>
  fieldsOf(record).filter(
    ({ lists, segments }) => lists.length === 0 || (lists.length === 1 && lists[0] === segments.length)
  )

interface Resource {
  readonly record: Schema.Top
  readonly create: Schema.Top
}

/** The columns of the payload that creates a record, and those that the service ignores in it. */
export const columnsSent = ({ create, record }: Resource): ReadonlyArray<Column> => {
  const sent = columnsOf(create)
  const answered = columnsOf(record)
  return propertiesOf(create).flatMap(({ name }) => {
    const own = sent.filter(({ segments }) => segments[0] === name)
    const ignored = answered.filter(({ path }) => path === name).map((column) => ({ ...column, optional: true }))
    return own.length > 0 ? own : ignored
  })
}

/** The columns of a record that can also be sent. */
export const columnsReadBack = (resource: Resource): ReadonlyArray<Column> => {
  const sent = new Set(columnsSent(resource).map(({ path }) => path))
  return columnsOf(resource.record).filter(({ path }) => sent.has(path))
}

const propertiesOf = (schema: Schema.Top) => {
  const ast = SchemaAST.toEncoded(schema.ast)
  return SchemaAST.isObjects(ast) ? ast.propertySignatures : []
}

/** Required members that no column can hold. */
export const missingFrom = (record: Schema.Top): ReadonlyArray<string> => {
  const held = new Set(columnsOf(record).map(({ segments }) => segments[0]))
  return propertiesOf(record).flatMap(({ name, type }) =>
    SchemaAST.isOptional(type) || held.has(String(name)) ? [] : [String(name)]
  )
}

/** Members that can be sent and that no column can hold. */
export const withoutColumn = (create: Schema.Top & Shaped): ReadonlyArray<string> => {
  const held = new Set(columnsOf(create).map(({ segments }) => segments[0]))
  return Object.entries(membersOf(create)).flatMap(([name, member]) =>
    held.has(name) || markerOf(member).readOnly === true ? [] : [name]
  )
}

/** Elements of a list are separated by `;`; inside an element `;` and the backslash are escaped. */
const joinList = (elements: ReadonlyArray<unknown>): string =>
  elements.map((element) => String(element).replaceAll(/[\\;]/g, "\\$&")).join(";")

const splitList = (text: string): ReadonlyArray<string> =>
  (text.match(/(?:\\[\\;]|[^;])+/g) ?? []).map((element) => element.replaceAll(/\\([\\;])/g, "$1"))

/**
 * Spreadsheets execute text that begins like a formula; a leading apostrophe prevents that. Where `;` separates the cells of a
 * file, what follows a `;` or a line break begins a cell as well. Text with apostrophes there already gets one more, so that
 * `unguard` always restores the original.
 */
export const guard = (text: string): string => text.replaceAll(/(?<=^|[;\r\n])(?='*[=+\-@\t\r])/g, "'")

export const unguard = (cell: string): string => cell.replaceAll(/(?<=^|[;\r\n])'(?='*[=+\-@\t\r])/g, "")

const at = (value: unknown, segments: ReadonlyArray<string>): unknown =>
  segments.reduce<unknown>((inner, segment) => (Predicate.isObject(inner) ? inner[segment] : undefined), value)

/** The cell of a value; objects, and lists of them, are JSON. */
export const write = (value: unknown): string => {
  if (value === undefined || value === null) return ""
  // Negative numbers are not guarded: with an apostrophe they would become text.
  if (Predicate.isNumber(value)) return JSON.stringify(value)
  if (Array.isArray(value) && !value.some(Predicate.isObjectOrArray)) return guard(joinList(value))
  return guard(Predicate.isString(value) ? value : JSON.stringify(value))
}

/** The cells of an encoded record, one for each column. */
export const toCells = (columns: ReadonlyArray<Column>, record: unknown): Cells =>
  Object.fromEntries(columns.map((column) => [column.path, write(at(record, column.segments))]))

const readValue = ({ kind }: Column, text: string): unknown => {
  if (kind === "number") return isJsonNumber(text.trim()) ? Number(text) : text
  if (kind === "boolean") return text === "true" ? true : text === "false" ? false : text
  return text
}

const read = (column: Column, cell: string): unknown => {
  const text = unguard(cell)
  if (column.lists.length === 0) return readValue(column, text)
  const elements = splitList(text).filter((element) => element.trim() !== "")
  return elements.length === 0 ? undefined : elements.map((element) => readValue(column, element))
}

/** The value of a cell; `undefined` for one without content: spaces, and in a list separators. */
export const readCell = (column: Column, cell: string): unknown => (cell.trim() === "" ? undefined : read(column, cell))

/** Instead of a date that has no text. No member takes it: its last character is a control character. */
const noDate = "Invalid Date\u001A"

/** A workbook has times as fractions of a day, so that a second can begin a millisecond early. */
const ofDate = (date: Date) => {
  const second = new Date(Math.round(date.getTime() / 1000) * 1000)
  return Number.isNaN(second.getTime()) ? noDate : second.toISOString()
}

/** The text of a cell of a workbook. */
export const ofWorkbook = (value: unknown): string => {
  if (value instanceof Date) return ofDate(value)
  return Predicate.isString(value) || Predicate.isNumber(value) || Predicate.isBoolean(value) ? String(value) : ""
}

/** The encoded record of the cells. */
export const fromCells = (columns: ReadonlyArray<Column>, cells: Cells): Readonly<Record<string, unknown>> => {
  const record: Record<string, unknown> = {}
  for (const column of columns) {
    const value = readCell(column, cells[column.path] ?? "")
    if (value === undefined) continue
    let inner = record
    for (const segment of column.segments.slice(0, -1)) {
      const nested = inner[segment]
      inner = Predicate.isObject(nested) ? nested : (inner[segment] = {})
    }
    inner[column.segments.at(-1)!] = value
  }
  return record
}

/** Whether a record already has all values of a patch. */
export const covers = (record: unknown, patch: unknown): boolean => {
  if (Array.isArray(patch)) {
    return (
      Array.isArray(record) &&
      record.length === patch.length &&
      patch.every((element, index) => covers(record[index], element))
    )
  }
  if (!Predicate.isObject(patch)) return (record ?? null) === (patch ?? null)
  return Object.entries(patch).every(([member, value]) =>
    covers(Predicate.isObject(record) ? record[member] : undefined, value)
  )
}
