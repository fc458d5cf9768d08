import { Effect, Stream } from "effect"
import readWorkbook from "read-excel-file/universal"
import { ofWorkbook } from "../../domain/files/Rows.ts"
import { didYouMean, nearest } from "../../domain/write/Suggestions.ts"
import { FormatError } from "./Row.ts"
import type { Line } from "./Table.ts"

const notFound = (name: string, names: ReadonlyArray<string>) => {
  const hint = didYouMean(nearest(name, names)) || `; the sheets are ${names.join(", ")}`
  return new FormatError({ message: `The workbook has no sheet "${name}"${hint}` })
}

/**
 * The lines of a sheet, the first one unless named, with the numbers that spreadsheets show. A workbook is a ZIP archive
 * with its directory at the end, so all of it is in memory.
 */
export const lines = Effect.fnUntraced(function* <E, R>(
  bytes: Stream.Stream<Uint8Array, E, R>,
  sheet: string | undefined
) {
  const whole = Buffer.concat(yield* Stream.runCollect(bytes))
  const sheets = yield* Effect.tryPromise({
    try: () => readWorkbook(new Blob([whole])),
    catch: (error) =>
      new FormatError({
        message: `The file is not an .xlsx workbook without a password: ${error instanceof Error ? error.message : String(error)}`
      })
  })
  const names = sheets.map((one) => one.sheet)
  const found = sheet === undefined ? sheets[0] : sheets.find((one) => one.sheet === sheet)
  if (found === undefined) return yield* notFound(sheet ?? "", names)
  return found.data
    .map((cells, index): Line => ({ at: { row: index + 1 }, cells: cells.map(ofWorkbook) }))
    .filter(({ cells }) => cells.some((cell) => cell.trim() !== ""))
})
