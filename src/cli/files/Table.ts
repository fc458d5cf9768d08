import { Result } from "effect"
import type { Row } from "./Row.ts"
import * as Rows from "../../domain/files/Rows.ts"

/** A line of a table with its number in the file. */
export interface Line {
  readonly at: { readonly line: number } | { readonly row: number }
  readonly cells: ReadonlyArray<string>
}

/** The columns of a table: the titles in the file and, of those that are read, the paths. */
export interface Layout {
  readonly titles: ReadonlyArray<string>
  readonly paths: ReadonlyArray<string | undefined>
}

/** A row of a table as it is in the file. */
export interface TableSource {
  readonly titles: ReadonlyArray<string>
  readonly cells: ReadonlyArray<string>
}

export const isTableSource = (source: unknown): source is TableSource =>
  typeof source === "object" && source !== null && "titles" in source && "cells" in source

const decimalComma = /^\s*-?\d+,\d+\s*$/

const readComma = (columns: ReadonlyMap<string, Rows.Column>, path: string, cell: string) =>
  columns.get(path)?.kind === "number" && decimalComma.test(cell) ? cell.replace(",", ".") : cell

const problemOf = ({ titles }: Layout, cells: ReadonlyArray<string>) => {
  if (cells.length !== titles.length) {
    const message = `The row has ${cells.length} cells and the header has ${titles.length}`
    return { code: "wrongWidth", message }
  }
  const untitled = cells.findIndex((cell, index) => titles[index] === "" && cell.trim() !== "")
  return untitled === -1
    ? undefined
    : { code: "untitledCell", message: `Cell ${untitled + 1} is in a column without a title` }
}

/** Reads lines as rows of a layout; with `commas`, numbers may have a decimal comma. */
export const reader = (columns: ReadonlyArray<Rows.Column>, { commas }: { readonly commas: boolean }) => {
  const byPath = new Map(columns.map((column) => [column.path, column]))
  return (layout: Layout, { at, cells }: Line): Row => {
    const source: TableSource = { titles: layout.titles, cells }
    const problem = problemOf(layout, cells)
    if (problem !== undefined) return { at, source, record: Result.fail([problem]) }
    const named = layout.paths.flatMap((path, index) => {
      const cell = cells[index]!
      return path === undefined ? [] : [[path, commas ? readComma(byPath, path, cell) : cell] as const]
    })
    return { at, source, record: Result.succeed(Rows.fromCells(columns, Object.fromEntries(named))) }
  }
}
