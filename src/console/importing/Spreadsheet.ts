import readWorkbook from "read-excel-file/browser"
import { Effect, Stream } from "effect"
import * as Csv from "effect/encoding/Csv"
import * as Delimiter from "../../domain/files/Delimiter.ts"
import { sampleSize, unicodeOf } from "../../domain/files/Encodings.ts"
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

/** Spreadsheets write UTF-8, UTF-16 or the code page of Windows. */
const textOf = (bytes: Uint8Array): string => {
  const unicode = unicodeOf(bytes.subarray(0, sampleSize))
  if (unicode !== undefined) return new TextDecoder(unicode, { fatal: true }).decode(bytes)
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return new TextDecoder("windows-1252").decode(bytes)
  }
}

/** Fails for a file of another kind, such as an `.xls`: it has NULs, and text has none. */
const decode = (bytes: Uint8Array): string => {
  const text = textOf(bytes)
  if (text.includes("\0")) throw new Error("The file is not text")
  return text
}

const readCsv = async (file: Blob): Promise<ReadonlyArray<ReadonlyArray<string>>> => {
  const text = decode(new Uint8Array(await file.arrayBuffer())).replace(/^\uFEFF/, "")
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
