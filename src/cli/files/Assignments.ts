import { Effect, FileSystem, Stream } from "effect"
import { CommandError, inFile } from "../Failures.ts"
import * as Rows from "../../domain/files/Rows.ts"
import { didYouMean } from "../../domain/write/Suggestions.ts"
import * as Csv from "./Csv.ts"
import * as Encoding from "./Encoding.ts"
import { similarTo, titleOf } from "./Header.ts"

/** A value for the rows that leave a column out. */
export interface Default {
  readonly column: Rows.Column
  readonly value: unknown
}

const hintFor = (path: string, columns: ReadonlyArray<Rows.Column>) => {
  const known = columns.map((column) => column.path)
  return didYouMean(similarTo(path, known)) || "; --columns lists the columns"
}

const fail = (message: string) => Effect.fail(new CommandError({ message }))

/** The defaults of `--default 'path=value'`; a value is written as in a cell. */
export const defaultsOf = (given: ReadonlyArray<string>, columns: ReadonlyArray<Rows.Column>) =>
  Effect.forEach(given, (text): Effect.Effect<Default, CommandError> => {
    const [path = "", ...rest] = text.split("=")
    const column = columns.find((candidate) => candidate.path === path.trim())
    if (rest.length === 0) return fail(`--default ${text}: write column=value`)
    if (column === undefined) return fail(`--default ${path}: unknown column${hintFor(path, columns)}`)
    const value = Rows.readCell(column, rest.join("="))
    return value === undefined ? fail(`--default ${text}: the value is missing`) : Effect.succeed({ column, value })
  })

/** The pairs of `Filiaalnaam=name,Plaats=address.city`. */
const inline = (text: string) =>
  text
    .split(",")
    .filter((pair) => pair.trim() !== "")
    .map((pair) => {
      const at = pair.lastIndexOf("=")
      return at === -1 ? [pair] : [pair.slice(0, at), pair.slice(at + 1)]
    })

/** The pairs of a CSV file of two columns. */
const ofFile = Effect.fnUntraced(function* (file: string, isPath: (title: string) => boolean) {
  const fs = yield* FileSystem.FileSystem
  const bytes = Stream.mapError(fs.stream(file), inFile(file))
  const encoding = yield* Encoding.detect(bytes, { isWhole: true })
  const { delimiter, text } = yield* Csv.detectDelimiter(Encoding.decode(encoding)(bytes), isPath)
  const lines = yield* Stream.runCollect(Csv.lines(delimiter)(text))
  return lines.map(({ cells }) => cells)
}, Effect.scoped)

/** Our column for each name in a file, of `--map`: a file, or the pairs themselves. */
export const mapOf = Effect.fnUntraced(function* (given: string | undefined, columns: ReadonlyArray<Rows.Column>) {
  const map = new Map<string, string>()
  if (given === undefined) return map
  const fs = yield* FileSystem.FileSystem
  const hasPairs = given.includes("=")
  // Pairs may be longer than the name of a file.
  const isFile = yield* hasPairs ? Effect.orElseSucceed(fs.exists(given), () => false) : fs.exists(given)
  const isInline = hasPairs && !isFile
  if (!isFile && !isInline) {
    return yield* fail(
      `--map ${given}: no file has this name; pairs are written as Filiaalnaam=name,Plaats=address.city`
    )
  }
  const isPath = (title: string) => columns.some(({ path }) => path === titleOf(title))
  for (const pair of isInline ? inline(given) : yield* ofFile(given, isPath)) {
    const [name = "", path = "", ...rest] = pair.map(titleOf)
    if (name === "" || path === "" || rest.length > 0) {
      return yield* fail(`--map: "${pair.join(",")}" is not a name of the file and a column`)
    }
    if (!isPath(path)) {
      return yield* fail(`--map ${name}=${path}: unknown column${hintFor(path, columns)}`)
    }
    if (map.has(name)) return yield* fail(`--map: "${name}" appears twice`)
    map.set(name, path)
  }
  return map
})
