import { Effect, Option } from "effect"
import { Argument, Flag } from "effect/cli"
import { optionalText, toggle } from "../CommonFlags.ts"
import { CommandError } from "../Failures.ts"
import * as Delimiter from "../../domain/files/Delimiter.ts"
import type { Options } from "./FileRows.ts"
import { formatOf, formats } from "./Format.ts"

/** The flag for the format of a file, which is one of these. */
export const formatFlag = <const Names extends ReadonlyArray<string>>(names: Names) =>
  Flag.Literals("format", names).pipe(
    Flag.withDescription("The format; default: the extension of the file"),
    Flag.optional
  )

/** The format of a file is neither given nor known by its name. */
export const unknownFormat = (file: string, names: ReadonlyArray<string>) =>
  new CommandError({ message: `The format of "${file}" is unknown; set --format to one of ${names.join(", ")}` })

/** The flags of commands that read a file of records. */
export const flags = {
  file: Argument.String("file").pipe(
    Argument.withDescription("The file to read; - is standard input"),
    Argument.optional
  ),
  format: formatFlag(formats),
  sheet: optionalText("sheet", "The sheet of an .xlsx file; default: the first one"),
  delimiter: optionalText(
    "delimiter",
    'What separates the cells of CSV: a character such as ";", or tab; default: detected'
  ),
  encoding: optionalText(
    "encoding",
    "The encoding, such as utf-8, utf-16le, windows-1252 or macintosh; default: detected"
  ),
  map: optionalText(
    "map",
    "Names in the file and our columns: 'Filiaalnaam=name,Plaats=address.city', or a CSV file of two columns with them"
  ),
  ignoreUnknown: toggle("ignore-unknown", "Pass over columns and members that the resource does not have"),
  defaults: Flag.String("default").pipe(
    Flag.withDescription(
      "A column and the value of rows that leave it out, once for each: --default address.countryCode=NL"
    ),
    Flag.atLeast(0)
  ),
  columns: toggle("columns", "Print the columns that a file can have, and stop")
}

interface Given {
  readonly file: Option.Option<string>
  readonly format: Option.Option<Options["format"]>
  readonly sheet: Option.Option<string>
  readonly delimiter: Option.Option<string>
  readonly encoding: Option.Option<string>
  readonly map: Option.Option<string>
  readonly ignoreUnknown: boolean
  readonly defaults: ReadonlyArray<string>
}

const missingFile = new CommandError({ message: "Pass the file to read, or - for standard input" })

/** The file, and how to read it by the flags and its name. */
export const read = Effect.fnUntraced(function* (given: Given) {
  const file = yield* Effect.fromOption(given.file, () => missingFile)
  const format = yield* Effect.fromOption(
    Option.orElse(given.format, () => formatOf(file)),
    () => unknownFormat(file, formats)
  )
  const delimiter = Option.map(given.delimiter, Delimiter.parse)
  if (Option.isSome(delimiter) && delimiter.value === undefined) {
    return yield* new CommandError({ message: "--delimiter: expected one character, or tab" })
  }
  const options: Options = {
    format,
    sheet: Option.getOrUndefined(given.sheet),
    delimiter: Option.getOrUndefined(delimiter),
    encoding: Option.getOrUndefined(given.encoding),
    map: Option.getOrUndefined(given.map),
    ignoreUnknown: given.ignoreUnknown,
    defaults: given.defaults
  }
  return { file, options }
})
