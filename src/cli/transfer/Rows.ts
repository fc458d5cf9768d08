import { Array as Arr, Predicate, type Schema, SchemaAST } from "effect"
import { type Field, fieldsOf } from "../../domain/query/FilterFields.ts"

/**
 * Records as flat rows of text and back, for every resource: the columns are the dotted paths of the record's schema.
 *
 * An empty cell is an absent member, a list of plain values is one cell with `;` between them (no such list has values
 * that contain one), and a list of records has no column. Nothing is checked here: a cell that is not the number it
 * should be stays text, and the schema refuses it by name.
 */
export type Column = Field

export type Cells = Readonly<Record<string, string>>

/** The columns of a record. */
export const columnsOf = (record: Schema.Top): ReadonlyArray<Column> =>
  fieldsOf(record).filter(({ listAt, segments }) => listAt === undefined || listAt === segments.length)

/** The columns of a record that what creates one has as well. */
export const columnsReadBack = (resource: {
  readonly record: Schema.Top
  readonly create: Schema.Top
}): ReadonlyArray<Column> => {
  const known = new Set(columnsOf(resource.create).map(({ path }) => path))
  return columnsOf(resource.record).filter(({ path }) => known.has(path))
}

/** Members that a record cannot be without and that no column can hold. */
export const missingFrom = (record: Schema.Top): ReadonlyArray<string> => {
  const ast = SchemaAST.toEncoded(record.ast)
  const held = new Set(columnsOf(record).map(({ segments }) => segments[0]))
  return SchemaAST.isObjects(ast)
    ? ast.propertySignatures.flatMap(({ name, type }) =>
        SchemaAST.isOptional(type) || held.has(String(name)) ? [] : [String(name)]
      )
    : []
}

/** The elements of a list stand in one cell, separated by `;`; in an element that and the backslash are escaped. */
const joinList = (elements: ReadonlyArray<unknown>): string =>
  elements.map((element) => String(element).replaceAll(/[\\;]/g, "\\$&")).join(";")

const splitList = (text: string): ReadonlyArray<string> =>
  (text.match(/(?:\\[\\;]|[^;])+/g) ?? []).map((element) => element.replaceAll(/\\([\\;])/g, "$1"))

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * Spreadsheets run text that begins like a formula. An apostrophe in front stops them; text that has apostrophes there
 * already gets one more, so that taking one away always gives back what was written.
 */
export const guard = (text: string): string => (/^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text)

export const unguard = (cell: string): string => (/^'+[=+\-@\t\r]/.test(cell) ? cell.slice(1) : cell)

const at = (value: unknown, segments: ReadonlyArray<string>): unknown =>
  segments.reduce<unknown>((inner, segment) => (Predicate.isObject(inner) ? inner[segment] : undefined), value)

const write = (value: unknown): string => {
  if (value === undefined || value === null) return ""
  if (Array.isArray(value)) return guard(joinList(value))
  // A negative number is no formula, and with an apostrophe no number either.
  return Predicate.isString(value) ? guard(value) : JSON.stringify(value)
}

/** The cells of an encoded record, one for each column. */
export const toCells = (columns: ReadonlyArray<Column>, record: unknown): Cells =>
  Object.fromEntries(columns.map((column) => [column.path, write(at(record, column.segments))]))

const readValue = ({ kind }: Column, text: string): unknown => {
  if (kind === "number") return number.test(text.trim()) ? Number(text) : text
  if (kind === "boolean") return text === "true" ? true : text === "false" ? false : text
  return text
}

const read = (column: Column, cell: string): unknown => {
  const text = unguard(cell)
  if (column.listAt === undefined) return readValue(column, text)
  return Arr.map(
    splitList(text).filter((element) => element.trim() !== ""),
    (element) => readValue(column, element)
  )
}

/** The record that the cells describe, to be decoded with its schema. */
export const fromCells = (columns: ReadonlyArray<Column>, cells: Cells): Readonly<Record<string, unknown>> => {
  const record: Record<string, unknown> = {}
  for (const column of columns) {
    const cell = cells[column.path] ?? ""
    if (cell === "") continue
    let inner = record
    for (const segment of column.segments.slice(0, -1)) {
      inner = (inner[segment] ??= {}) as Record<string, unknown>
    }
    inner[column.segments.at(-1)!] = read(column, cell)
  }
  return record
}

/** Whether a record has everything a patch asks for, so that sending it would change nothing. */
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
