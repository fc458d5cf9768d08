import { Effect, Stream } from "effect"
import { Csv } from "effect/encoding"
import { FormatError, maxLength } from "./Row.ts"
import * as Delimiter from "../../domain/files/Delimiter.ts"
import * as Head from "./Head.ts"
import type { Line } from "./Table.ts"

/** Where a header of this length has not ended, its quotes are wrong. */
const maxHeader = 65_536

/** The separator of the cells of a text, and the text. */
export const detectDelimiter = <E, R>(text: Stream.Stream<string, E, R>, isKnown: (title: string) => boolean) =>
  Effect.map(
    Head.peek(text, (head) => {
      const joined = head.join("")
      return joined.length >= maxHeader || Delimiter.firstRecord(joined) !== undefined
    }),
    ({ head, stream }) => {
      const joined = head.join("")
      return { delimiter: Delimiter.detect(Delimiter.firstRecord(joined) ?? joined, isKnown), text: stream }
    }
  )

const lineBreaks = (cells: ReadonlyArray<string>) =>
  cells.reduce((sum, cell) => sum + (cell.match(/\r\n|\r|\n/g)?.length ?? 0), 0)

const isDeclaration = (cells: ReadonlyArray<string>, delimiter: string) =>
  Delimiter.declared(cells.join(delimiter)) !== undefined

/** The lines of CSV with their numbers; those without content and a `sep=;` are left out. */
export const lines =
  (delimiter: string) =>
  <E, R>(text: Stream.Stream<string, E, R>): Stream.Stream<Line, E | FormatError, R> =>
    text.pipe(
      Stream.pipeThroughChannel(Csv.decodeString({ delimiter, maxRecordSize: maxLength })),
      Stream.catchIf(
        (error) => error instanceof Csv.CsvError,
        ({ line, message }) => Stream.fail(new FormatError({ message: `Line ${line}: ${message}` }))
      ),
      Stream.mapAccum(
        () => 1,
        (line, cells): readonly [number, ReadonlyArray<Line>] => {
          const next = line + 1 + lineBreaks(cells)
          const isEmpty = cells.every((cell) => cell.trim() === "")
          return [next, isEmpty || (line === 1 && isDeclaration(cells, delimiter)) ? [] : [{ at: { line }, cells }]]
        }
      )
    )
