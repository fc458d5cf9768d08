import { Result } from "effect"
import * as Countries from "../../domain/files/Countries.ts"
import * as Phones from "../../domain/files/Phones.ts"
import * as Rows from "../../domain/files/Rows.ts"
import type { Resource } from "../definition/Definition.ts"
import { en } from "../words/en.ts"
import { isNamedAlone } from "../words/Names.ts"
import { nl } from "../words/nl.ts"
import type { Spreadsheet } from "./Spreadsheet.ts"

/** The member that each column of a file is; `undefined` of a column that is ignored. */
export type Mapping = ReadonlyArray<string | undefined>

const plain = (text: string) => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "")

const dictionaries = [en.members, nl.members]

/** The last word of a path, and its names in the languages of the console. */
const namesOf = (path: string): ReadonlyArray<string> => {
  const last = path.slice(path.lastIndexOf(".") + 1)
  return [last, ...dictionaries.flatMap((dictionary) => dictionary[last] ?? [])]
}

/**
 * The member that each title most likely means: by its path, else by the name of its last word. Of several members with this name
 * it is the one of the record itself: "Email" is not that of the invoice.
 */
export const guess = ({ imported }: Resource, titles: ReadonlyArray<string>): Mapping => {
  const taken = new Set<string>()
  return titles.map((title) => {
    const wanted = plain(title)
    const paths = imported.map(({ path }) => path)
    const named = paths.filter((path) => namesOf(path).some((name) => plain(name) === wanted))
    const candidates = [paths.filter((path) => plain(path) === wanted), named.filter(isNamedAlone), named]
    const found = candidates.find(({ length }) => length === 1)?.[0]
    if (found === undefined || taken.has(found)) return undefined
    taken.add(found)
    return found
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
  const recordOf = ({ cells, number }: Spreadsheet["rows"][number]) => {
    const typed = ({ path }: Rows.Column) => cells[mapping.indexOf(path)] ?? ""
    const country = main === undefined ? undefined : Countries.codeOf(typed(main))
    const named = columns.map((column) => [column.path, cellOf(column, typed(column), country)] as const)
    return { ...Rows.fromCells(columns, Object.fromEntries(named)), _row: number }
  }
  return rows.map((row) => `${JSON.stringify(recordOf(row))}\n`).join("")
}
