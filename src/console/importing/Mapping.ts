import { Result } from "effect"
import * as Countries from "../../domain/files/Countries.ts"
import * as Phones from "../../domain/files/Phones.ts"
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

/** The mapping in which a column is a member; another column that was this member is ignored. */
export const choose = (mapping: Mapping, column: number, member: string | undefined): Mapping =>
  mapping.map((other, index) => (index === column ? member : other === member ? undefined : other))

/** "52,09" is a number where people write commas. */
const decimal = (cell: string) => (/^-?\d+,\d+$/.test(cell) ? cell.replace(",", ".") : cell)

/** A number in national form, as the country of its row writes it; the service rejects one that cannot be read. */
const phoneOf = (path: string, typed: string, country: string | undefined): string =>
  Result.getOrElse(Phones.international(typed, { path, ...(country !== undefined && { country }) }), () => typed)

const cellOf = ({ kind, meaning, path }: Rows.Column, cell: string, country: string | undefined): string => {
  const text = cell.trim()
  if (text === "") return text
  if (meaning === "country") return Countries.codeOf(text) ?? text
  if (meaning === "phone") return phoneOf(path, text, country)
  return kind === "number" ? decimal(text) : text
}

/** The records of a file as NDJSON, each with its row of the file. */
export const ndjsonOf = (resource: Resource, { rows }: Spreadsheet, mapping: Mapping): string => {
  const columns = resource.imported.filter(({ path }) => mapping.includes(path))
  const main = Phones.countryIn(columns)
  const recordOf = (cells: ReadonlyArray<string>, index: number): Json => {
    const typed = ({ path }: Rows.Column) => cells[mapping.indexOf(path)] ?? ""
    const country = main === undefined ? undefined : Countries.codeOf(typed(main))
    const named = columns.map((column) => [column.path, cellOf(column, typed(column), country)] as const)
    return { ...Rows.fromCells(columns, Object.fromEntries(named)), _row: index + 1 }
  }
  return rows.map((cells, index) => `${JSON.stringify(recordOf(cells, index))}\n`).join("")
}
