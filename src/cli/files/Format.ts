import { Option } from "effect"

/** The formats of files that are read. */
export const formats = ["csv", "xlsx", "json", "ndjson"] as const
export type Format = (typeof formats)[number]

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
