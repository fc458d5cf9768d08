import { Effect, Stream } from "effect"
import * as FileRows from "../../../src/cli/files/FileRows.ts"
import type { Format } from "../../../src/cli/files/Format.ts"
import type { Resource } from "../../../src/cli/transfer/Resource.ts"

/** The rows of bytes in UTF-8, or in the given encoding. */
export const readRows = (
  format: Format,
  resource: Resource,
  bytes: FileRows.Source["bytes"],
  { encoding = "utf-8", ...options }: Partial<FileRows.Options> = {}
) =>
  Stream.unwrap(
    Effect.map(FileRows.read({ bytes, encoding, isFile: false }, resource, { ...options, format }), ({ rows }) => rows)
  )
