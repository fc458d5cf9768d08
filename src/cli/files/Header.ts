import { Effect } from "effect"
import { didYouMean, nearest } from "../../domain/write/Suggestions.ts"
import { FormatError } from "./Row.ts"
import type * as Rows from "../../domain/files/Rows.ts"
import type { Layout } from "./Table.ts"

/** The column in which a file of refused rows has the reasons; it is not imported. */
export const reasonsTitle = "_reasons"

const lastOf = (path: string) => path.slice(path.lastIndexOf(".") + 1)

/** The columns that a name resembles, or the last part of whose path it resembles: `contact.phone` for `phone`. */
export const similarTo = (name: string, known: ReadonlyArray<string>): ReadonlyArray<string> => {
  const similar = nearest(name, known)
  if (similar.length > 0) return similar
  const last = nearest(lastOf(name), known.map(lastOf), 1)
  return known.filter((path) => last.includes(lastOf(path))).slice(0, 3)
}

/** One line for each unknown column, and the known ones once. */
const unknownColumns = (names: ReadonlyArray<string>, known: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (names.length === 0) return []
  const lines = names.map((name) => {
    const similar = similarTo(name, known)
    return `Unknown column "${name}"${didYouMean(similar)}`
  })
  const isListed = lines.some((line) => !line.endsWith("?"))
  return [
    ...lines,
    ...(isListed ? [`The columns are ${known.join(", ")}`] : []),
    "Name the columns with --map, or pass over unknown ones with --ignore-unknown"
  ]
}

interface Options {
  /** Our path of each title of the file that has another name. */
  readonly map: ReadonlyMap<string, string>
  readonly ignoreUnknown: boolean
  /** Paths that are filled where the file leaves them out. */
  readonly filled: ReadonlySet<string>
}

/** Titles as they are compared: spreadsheets may compose accents differently. */
export const titleOf = (cell: string): string => cell.trim().normalize("NFC")

/** Where each column of a file goes; fails for unknown and repeated columns, and where a required one is missing. */
export const layoutOf = (
  header: ReadonlyArray<string>,
  columns: ReadonlyArray<Rows.Column>,
  { filled, ignoreUnknown, map }: Options
): Effect.Effect<Layout, FormatError> => {
  const known = columns.map(({ path }) => path)
  const titles = header.map(titleOf)
  const wanted = titles.map((title) => map.get(title) ?? title)
  const isRead = (path: string) => known.includes(path)
  const unknown = wanted.filter((path) => !isRead(path) && path !== "" && path !== reasonsTitle)
  const used = new Set(wanted.filter(isRead))
  const twice = wanted.flatMap((path, index) => {
    const first = wanted.indexOf(path)
    if (!isRead(path) || first === index) return []
    const [before, after] = [titles[first]!, titles[index]!]
    return before === after
      ? [`Column "${after}" appears twice`]
      : [`Columns "${before}" and "${after}" are both ${path}`]
  })
  const problems = [
    ...(ignoreUnknown ? [] : unknownColumns(unknown, known)),
    ...twice,
    ...[...map.keys()]
      .filter((title) => !titles.includes(title))
      .map((title) => {
        const similar = nearest(title, titles)
        return `--map: the file has no column "${title}"${didYouMean(similar)}`
      }),
    ...columns
      .filter(({ optional, path }) => !optional && !used.has(path) && !filled.has(path))
      .map(({ path }) => `Column "${path}" is missing`)
  ]
  return problems.length > 0
    ? Effect.fail(new FormatError({ message: problems.join("\n") }))
    : Effect.succeed({ titles, paths: wanted.map((path) => (isRead(path) ? path : undefined)) })
}
