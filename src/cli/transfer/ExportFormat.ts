import { Array as Arr, Effect, Option, Stream } from "effect"
import { Csv, JsonArray, Ndjson } from "effect/encoding"
import { type ExportFormat, tabular } from "../files/Format.ts"
import type { FormatError } from "../files/Row.ts"
import type { Resource } from "./Resource.ts"
import * as Rows from "../../domain/files/Rows.ts"

/** The formats of files that are written. */
export const exportFormats = ["csv", "json", "ndjson"] as const satisfies ReadonlyArray<ExportFormat>

const extensions: ReadonlyArray<readonly [string, ExportFormat]> = [
  ...exportFormats.map((name) => [name, name] as const),
  ["jsonl", "ndjson"]
]

/** The format of a file to write, by its extension. */
export const exportFormatOf = (file: string): Option.Option<ExportFormat> =>
  Option.map(
    Arr.findFirst(extensions, ([extension]) => file.toLowerCase().endsWith(`.${extension}`)),
    ([, format]) => format
  )

/** Writes encoded records in a form that an import reads. */
export const write =
  (format: ExportFormat, resource: Resource) =>
  <E>(
    records: Stream.Stream<unknown, E>
  ): Stream.Stream<string, E | FormatError | JsonArray.JsonArrayError | Ndjson.NdjsonError> => {
    const columns = Rows.columnsReadBack(resource)
    switch (format) {
      case "csv":
        return Stream.unwrap(Effect.as(tabular(resource), records)).pipe(
          Stream.map((record) => Rows.toCells(columns, record)),
          Stream.pipeThroughChannel(Csv.encodeString({ columns: columns.map(({ path }) => path), headers: true }))
        )
      case "json":
        return Stream.pipeThroughChannel(records, JsonArray.encodeString())
      case "ndjson":
        return Stream.pipeThroughChannel(records, Ndjson.encodeString())
    }
  }
