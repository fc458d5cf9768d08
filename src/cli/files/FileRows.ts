import { Effect, FileSystem, type PlatformError, Result, Stdio, Stream } from "effect"
import { CommandError, inFile } from "../Failures.ts"
import type { Resource } from "../transfer/Resource.ts"
import type { FormatError, Row } from "./Row.ts"
import * as RowCount from "./RowCount.ts"
import * as Rows from "../../domain/files/Rows.ts"
import { defaultsOf, mapOf } from "./Assignments.ts"
import { decompress, sizeOf } from "./Compression.ts"
import { converter } from "./Convert.ts"
import * as Csv from "./Csv.ts"
import * as Delimiter from "../../domain/files/Delimiter.ts"
import * as Duplicates from "./Duplicates.ts"
import * as Encoding from "./Encoding.ts"
import { type Format, tabular } from "./Format.ts"
import * as Head from "./Head.ts"
import { layoutOf, titleOf } from "./Header.ts"
import * as JsonRows from "./JsonRows.ts"
import { type Layout, type Line, reader } from "./Table.ts"
import * as Xlsx from "./Xlsx.ts"

/** How a file is read. */
export interface Options {
  readonly format: Format
  readonly sheet?: string | undefined
  readonly delimiter?: string | undefined
  readonly encoding?: string | undefined
  readonly map?: string | undefined
  readonly ignoreUnknown?: boolean
  readonly defaults?: ReadonlyArray<string>
}

type Bytes = Stream.Stream<Uint8Array, PlatformError.PlatformError | FormatError>
type RowStream = Stream.Stream<Row, PlatformError.PlatformError | FormatError>

/** The rows of a file, with how it was read. */
export interface FileRows {
  readonly rows: RowStream
  /** The separator of cells that a file of refused rows has as well. */
  readonly delimiter: string
  /** What was detected, where it is not UTF-8 with commas. */
  readonly notes: ReadonlyArray<string>
  /** The number of rows, which is counted while they are read. */
  readonly counted: { rows: number | undefined }
}

/** Standard input is read once, so its encoding is that of its first bytes. */
const headSize = 65_536

const sourceOf = Effect.fnUntraced(function* (file: string, { encoding, format }: Options) {
  const fs = yield* FileSystem.FileSystem
  const { stdin } = yield* Stdio.Stdio
  const isFile = file !== "-"
  if (isFile) yield* fs.access(file, { readable: true })
  const bytes: Bytes = decompress(isFile ? Stream.mapError(fs.stream(file), inFile(file)) : stdin)
  if (encoding !== undefined || format === "xlsx") return { bytes, encoding: encoding ?? "utf-8", isFile }
  if (isFile) return { bytes, encoding: yield* Encoding.detect(bytes, { isWhole: true }), isFile }
  const { head, stream } = yield* Head.peek(bytes, (chunks) => sizeOf(chunks) >= headSize)
  return { bytes: stream, encoding: yield* Encoding.detect(Stream.fromIterable(head), { isWhole: false }), isFile }
})

/** The rows below the first line, which is the header. */
const belowHeader = <E, R>(
  lines: Stream.Stream<Line, E, R>,
  layout: (line: Line) => Effect.Effect<Layout, FormatError>,
  row: (layout: Layout, line: Line) => Row
) =>
  lines.pipe(
    Stream.mapAccumEffect(
      (): Layout | undefined => undefined,
      Effect.fnUntraced(function* (known: Layout | undefined, line: Line) {
        if (known !== undefined) return [known, [row(known, line)]] as const
        return [yield* layout(line), []] as const
      })
    )
  )

/** Text with its encoding, or a workbook. */
export interface Source {
  readonly bytes: Bytes
  readonly encoding: string
  /** Whether the bytes can be read again, to count the rows. */
  readonly isFile: boolean
}

/** Reads bytes as rows of a resource. */
export const read = Effect.fnUntraced(function* (
  { bytes, encoding, isFile }: Source,
  resource: Resource,
  options: Options
) {
  const { format, ignoreUnknown = false } = options
  const columns = Rows.columnsSent(resource)
  const map = yield* mapOf(options.map, columns)
  const defaults = yield* defaultsOf(options.defaults ?? [], columns)
  const counted: FileRows["counted"] = { rows: undefined }
  const convert = converter(resource, defaults)
  const layout = ({ cells }: Line) =>
    layoutOf(cells, columns, { map, ignoreUnknown, filled: new Set(defaults.map(({ column }) => column.path)) })
  const result = (rows: RowStream, delimiter: string, notes: ReadonlyArray<string>): FileRows => ({
    rows: rows.pipe(
      Duplicates.reject(resource),
      Stream.map((row) => ({ ...row, record: Result.flatMap(row.record, convert) }))
    ),
    delimiter,
    notes,
    counted
  })

  if (format === "csv") yield* tabular(resource)
  if (format === "xlsx") {
    yield* tabular(resource, "An .xlsx file")
    const lines = yield* Xlsx.lines(bytes, options.sheet)
    counted.rows = Math.max(0, lines.length - 1)
    return result(belowHeader(Stream.fromIterable(lines), layout, reader(columns, { commas: true })), ";", [])
  }
  const text = Encoding.decode(encoding)(bytes)
  if (isFile) {
    // Line ends and quotes are no part of another character in 8-bit encodings and in UTF-8.
    const countable = encoding.startsWith("utf-16") ? Stream.encodeText(text) : bytes
    const counting = Effect.map(RowCount.count(format, countable), (rows) => {
      counted.rows = rows
    })
    yield* Effect.forkScoped(Effect.ignore(counting))
  }
  const notes = encoding === "utf-8" ? [] : [Encoding.shown(encoding)]
  if (format === "csv") {
    const known = new Set([...columns.map(({ path }) => path), ...map.keys()])
    const detected =
      options.delimiter === undefined
        ? yield* Csv.detectDelimiter(text, (title) => known.has(titleOf(title)))
        : { delimiter: options.delimiter, text }
    const { delimiter } = detected
    const rows = belowHeader(
      Csv.lines(delimiter)(detected.text),
      layout,
      reader(columns, { commas: delimiter !== "," })
    )
    return result(
      rows,
      delimiter,
      delimiter === "," ? notes : [...notes, `cells separated by ${Delimiter.shown(delimiter)}`]
    )
  }
  const renamed = JsonRows.renamed({ schema: resource.create, map, ignoreUnknown })
  const own = Stream.map(format === "json" ? JsonRows.json(text) : JsonRows.ndjson(text), (row) => ({
    ...row,
    record: Result.map(row.record, renamed)
  }))
  return result(own, ",", notes)
})

/**
 * Opens a file, or standard input, as rows of a resource: in one of the formats, encodings and separators, compressed or
 * not, with titles of its own. Every row has its number in the file, and its record or the problems of reading it. Fails
 * only for problems of the whole file. CSV, JSON and NDJSON are read in constant memory, but for the hashes of the keys.
 */
export const open = Effect.fnUntraced(function* (file: string, resource: Resource, options: Options) {
  if (options.encoding !== undefined && !Encoding.isKnown(options.encoding)) {
    return yield* new CommandError({ message: `--encoding ${options.encoding}: unknown encoding` })
  }
  return yield* read(yield* sourceOf(file, options), resource, options)
})
