import { Result, Stream } from "effect"
import type { FileRow } from "./PlanStatements.ts"

/** Rows of a file that are compared together. */
export interface FileChunk {
  readonly rows: ReadonlyArray<FileRow>
  /** How long they are. */
  readonly length: number
}

/** How many rows a chunk has. */
export const maxRows = 500

/** How long the rows of a chunk are; the last one may exceed it. */
const maxLength = 1024 ** 2

/** How long a row, or what is wrong with it, is as JSON; one that is nested too deep to be written fills a chunk. */
const lengthOf = ({ data, named }: FileRow) =>
  Result.getOrElse(
    Result.try(() => JSON.stringify(Result.getOrElse(data, (issues) => [named, issues]))?.length ?? 0),
    () => maxLength
  )

/** The rows of a file in chunks. */
export const chunksOf = <E>(rows: Stream.Stream<FileRow, E>): Stream.Stream<FileChunk, E> =>
  Stream.mapAccum(
    rows,
    (): FileChunk => ({ rows: [], length: 0 }),
    (chunk, row) => {
      const next = { rows: [...chunk.rows, row], length: chunk.length + lengthOf(row) }
      return next.rows.length === maxRows || next.length >= maxLength ? [{ rows: [], length: 0 }, [next]] : [next, []]
    },
    { onHalt: (chunk) => (chunk.rows.length === 0 ? [] : [chunk]) }
  )
