import readWorkbook from "read-excel-file/browser"
import { Effect, Stream } from "effect"
import * as Csv from "effect/encoding/Csv"
import * as Delimiter from "../../domain/files/Delimiter.ts"
import { ofWorkbook } from "../../domain/files/Rows.ts"

interface Row {
  /** As spreadsheets number it: rows above it count, also those without content. */
  readonly number: number
  readonly cells: ReadonlyArray<string>
}

/** The rows of a spreadsheet as text: the titles, and below them the cells. */
export interface Spreadsheet {
  readonly titles: ReadonlyArray<string>
  readonly rows: ReadonlyArray<Row>
}

/** Spreadsheets write UTF-8 or the code page of Windows. */
const decode = (bytes: ArrayBuffer): string => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder("windows-1252").decode(bytes)
  }
}

const readCsv = async (file: Blob): Promise<ReadonlyArray<ReadonlyArray<string>>> => {
  const text = decode(await file.arrayBuffer()).replace(/^\uFEFF/, "")
  const delimiter = Delimiter.detect(Delimiter.firstRecord(text) ?? text, () => false)
  const rows = await Stream.make(text).pipe(
    Stream.pipeThroughChannel(Csv.decodeString({ delimiter })),
    Stream.runCollect,
    Effect.runPromise
  )
  // Spreadsheets show no row for a `sep=;`.
  return Delimiter.declared(text) === undefined ? rows : rows.slice(1)
}

const readXlsx = async (file: Blob): Promise<ReadonlyArray<ReadonlyArray<string>>> => {
  const [sheet] = await readWorkbook(file)
  return (sheet?.data ?? []).map((row) => row.map(ofWorkbook))
}

/** Reads the first sheet of a workbook, or a CSV file of any delimiter. */
export const read = async (file: File): Promise<Spreadsheet> => {
  const all = await (/\.xlsx$/i.test(file.name) ? readXlsx(file) : readCsv(file))
  const [titles, ...rows] = all
    .map((cells, index): Row => ({ number: index + 1, cells }))
    .filter(({ cells }) => cells.some((cell) => cell.trim() !== ""))
  return { titles: (titles?.cells ?? []).map((title) => title.trim()), rows }
}
