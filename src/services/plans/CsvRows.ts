import { Effect, Predicate, Result, Stream } from "effect"
import { Csv } from "effect/encoding"
import * as Rows from "../../domain/files/Rows.ts"
import { limits } from "../../domain/plans/Plan.ts"
import { maxIssues } from "../../domain/write/Issues.ts"
import { InvalidRequestError, type Issue } from "../../domain/write/RequestErrors.ts"
import { didYouMean, nearest } from "../../domain/write/Suggestions.ts"
import type { FileRow } from "../../repositories/plans/PlanStatements.ts"
import { inRow, rowTooLarge } from "../../repositories/plans/RowForms.ts"

const unknownColumn = (title: string, known: ReadonlyArray<string>) =>
  inRow(title, "unknownMember", `Unknown column "${title}"${didYouMean(nearest(title, known))}`)

/** The header of a CSV file: the paths of members. It can have hundreds of thousands of titles. */
const checkHeader = (header: ReadonlyArray<string>, columns: ReadonlyArray<Rows.Column>) => {
  const known = new Set(columns.map(({ path }) => path))
  const titles = new Set<string>()
  const issues: Array<Issue> = []
  for (const title of header) {
    if (issues.length === maxIssues) break
    if (titles.has(title)) issues.push(inRow(title, "duplicate", `Column "${title}" appears twice`))
    else if (!known.has(title)) issues.push(unknownColumn(title, [...known]))
    titles.add(title)
  }
  return issues.length > 0 ? Effect.fail(InvalidRequestError.of(issues)) : Effect.succeed(header)
}

/** The records of a CSV file, the first of which is its header. */
const csvRecords = <E>(text: Stream.Stream<string, E>) =>
  Stream.suspend(() => {
    let records = 0
    return text.pipe(
      Stream.pipeThroughChannel(Csv.decodeString({ maxRecordSize: limits.rowLength })),
      Stream.filter((cells) => cells.length > 1 || cells[0]!.trim() !== ""),
      Stream.map((cells) => {
        records++
        return cells
      }),
      Stream.catchIf(
        (error): error is Csv.CsvError => Predicate.isTagged(error, "CsvError"),
        ({ kind, line, message }) =>
          Stream.fail(
            kind === "RecordSize"
              ? rowTooLarge(records)
              : InvalidRequestError.inBody("", "wrongType", `Line ${line}: ${message}`)
          )
      )
    )
  })

/** The rows of a CSV file. */
export const csv = <E>(text: Stream.Stream<string, E>, columns: ReadonlyArray<Rows.Column>) =>
  csvRecords(text).pipe(
    Stream.mapAccumEffect(
      (): { readonly header: ReadonlyArray<string> | undefined; readonly row: number } => ({
        header: undefined,
        row: 0
      }),
      Effect.fnUntraced(function* ({ header, row }, cells: Csv.Row) {
        if (header !== undefined) return [{ header, row: row + 1 }, [cellsOf(header, columns, cells, row + 1)]] as const
        const titles = cells.map((title) => title.trim())
        return [{ header: yield* checkHeader(titles, columns), row }, []] as const
      })
    )
  )

const cellsOf = (
  header: ReadonlyArray<string>,
  columns: ReadonlyArray<Rows.Column>,
  cells: ReadonlyArray<string>,
  row: number
): FileRow => {
  if (cells.length === header.length) {
    const named = Object.fromEntries(header.map((title, index) => [title, cells[index]!]))
    return { row, data: Result.succeed(Rows.fromCells(columns, named)) }
  }
  const message = `The row has ${cells.length} cells and the header has ${header.length}`
  return { row, data: Result.fail([inRow("", "wrongWidth", message)]) }
}
