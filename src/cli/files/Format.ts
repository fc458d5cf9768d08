import { Effect, Option } from "effect"
import * as Rows from "../../domain/files/Rows.ts"
import type { Resource } from "../transfer/Resource.ts"
import { FormatError } from "./Row.ts"

/** The formats of files that are read. */
export const formats = ["csv", "xlsx", "json", "ndjson"] as const
export type Format = (typeof formats)[number]

/** The formats of files that are also written; a workbook is only read. */
export type ExportFormat = Exclude<Format, "xlsx">

const extensions: Readonly<Record<string, Format>> = {
  csv: "csv",
  tsv: "csv",
  txt: "csv",
  xlsx: "xlsx",
  json: "json",
  ndjson: "ndjson",
  jsonl: "ndjson"
}

/** The format of a file, by its extension before `.gz`. */
export const formatOf = (file: string): Option.Option<Format> => {
  const extension = file.toLowerCase().replace(/\.gz$/, "").split(".").at(-1)!
  return Option.fromNullishOr(extensions[extension])
}

/** Rejects resources with required members that a table cannot hold. */
export const tabular = ({ create, name }: Resource, file = "A CSV file") => {
  const missing = Rows.missingFrom(create)
  return missing.length === 0
    ? Effect.void
    : Effect.fail(
        new FormatError({
          message: `${file} cannot hold the ${missing.join(", ")} of ${name}; use json or ndjson`
        })
      )
}
