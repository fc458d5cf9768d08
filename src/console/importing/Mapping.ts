import * as Countries from "../../domain/files/Countries.ts"
import * as Rows from "../../domain/files/Rows.ts"
import type { Json } from "../data/Calls.ts"
import type { Resource } from "../definition/Definition.ts"
import type { Spreadsheet } from "./Spreadsheet.ts"

/** The member that each column of a file is; `undefined` of a column that is ignored. */
export type Mapping = ReadonlyArray<string | undefined>

const plain = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "")

/** The member that a title most likely means: its path, its last word, or its name in one of the languages of the console. */
export const guess = (
  resource: Resource,
  titles: ReadonlyArray<string>,
  namesOf: (path: string) => ReadonlyArray<string>
): Mapping => {
  const taken = new Set<string>()
  return titles.map((title) => {
    const wanted = plain(title)
    const found = resource.imported.find(
      ({ path, segments }) =>
        !taken.has(path) && [path, segments.at(-1) ?? "", ...namesOf(path)].some((name) => plain(name) === wanted)
    )
    if (found !== undefined) taken.add(found.path)
    return found?.path
  })
}

/** "52,09" is a number where people write commas. */
const decimal = (cell: string) => (/^-?\d+,\d+$/.test(cell) ? cell.replace(",", ".") : cell)

const cellOf = ({ kind, meaning }: Rows.Column, cell: string): string => {
  const text = cell.trim()
  if (meaning === "country") return Countries.codeOf(text) ?? text
  return kind === "number" ? decimal(text) : text
}

/** The records of a file as NDJSON, each with its row of the file. */
export const ndjsonOf = (resource: Resource, { rows }: Spreadsheet, mapping: Mapping): string => {
  const columns = resource.imported.filter(({ path }) => mapping.includes(path))
  const recordOf = (cells: ReadonlyArray<string>, index: number): Json => {
    const named = columns.map(
      (column) => [column.path, cellOf(column, cells[mapping.indexOf(column.path)] ?? "")] as const
    )
    return { ...Rows.fromCells(columns, Object.fromEntries(named)), _row: index + 1 }
  }
  return rows.map((cells, index) => `${JSON.stringify(recordOf(cells, index))}\n`).join("")
}
