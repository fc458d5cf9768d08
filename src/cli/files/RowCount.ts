import { Effect, Stream } from "effect"
import type { ExportFormat } from "./Format.ts"

const quote = 0x22
const backslash = 0x5c
const lineFeed = 0x0a
const carriageReturn = 0x0d
const opening = new Set([0x7b, 0x5b])
const closing = new Set([0x7d, 0x5d])

/** Counts lines with content, of which those within quotes of a CSV file are part of a row. */
const lines = (quotes: boolean) => {
  let rows = 0
  let hasContent = false
  let isQuoted = false
  return {
    push: (chunk: Uint8Array) => {
      for (const byte of chunk) {
        if (quotes && byte === quote) isQuoted = !isQuoted
        if ((byte === lineFeed || byte === carriageReturn) && !isQuoted) {
          if (hasContent) rows++
          hasContent = false
        } else hasContent = true
      }
    },
    rows: () => rows + (hasContent ? 1 : 0)
  }
}

/** Counts the records in a JSON array. */
const records = () => {
  let rows = 0
  let depth = 0
  let isText = false
  let isEscaped = false
  return {
    push: (chunk: Uint8Array) => {
      for (const byte of chunk) {
        if (isText) {
          if (!isEscaped && byte === quote) isText = false
          isEscaped = !isEscaped && byte === backslash
        } else if (byte === quote) isText = true
        else if (opening.has(byte)) rows += depth++ === 1 ? 1 : 0
        else if (closing.has(byte)) depth--
      }
    },
    rows: () => rows
  }
}

/** The number of rows in a file, without reading what they hold. */
export const count = <E, R>(
  format: ExportFormat,
  bytes: Stream.Stream<Uint8Array, E, R>
): Effect.Effect<number, E, R> =>
  Effect.suspend(() => {
    const counter = format === "json" ? records() : lines(format === "csv")
    const header = format === "csv" ? 1 : 0
    return Effect.map(
      Stream.runForEach(bytes, (chunk) => Effect.sync(() => counter.push(chunk))),
      () => Math.max(0, counter.rows() - header)
    )
  })
