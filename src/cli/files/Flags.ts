import { Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { CommandError } from "../Failures.ts"
import * as Delimiter from "../../domain/files/Delimiter.ts"
import type { Options } from "./FileRows.ts"
import { formatOf, formats } from "./Format.ts"

/** The flags of commands that read a file of records. */
export const flags = {
  format: Flag.Literals("format", formats).pipe(
    Flag.withDescription("The format; default: the extension of the file"),
    Flag.optional
  ),
  sheet: Flag.String("sheet").pipe(
    Flag.withDescription("The sheet of an .xlsx file; default: the first one"),
    Flag.optional
  ),
  delimiter: Flag.String("delimiter").pipe(
    Flag.withDescription('What separates the cells of CSV: a character such as ";", or tab; default: detected'),
    Flag.optional
  ),
  encoding: Flag.String("encoding").pipe(
    Flag.withDescription("The encoding, such as utf-8, utf-16le, windows-1252 or macintosh; default: detected"),
    Flag.optional
  ),
  map: Flag.String("map").pipe(
    Flag.withDescription(
      "Names in the file and our columns: 'Filiaalnaam=name,Plaats=address.city', or a CSV file of two columns with them"
    ),
    Flag.optional
  ),
  ignoreUnknown: Flag.Boolean("ignore-unknown").pipe(
    Flag.withDescription("Pass over columns and members that the resource does not have"),
    Flag.withDefault(false)
  ),
  defaults: Flag.String("default").pipe(
    Flag.withDescription(
      "A column and the value of rows that leave it out, once for each: --default address.countryCode=NL"
    ),
    Flag.atLeast(0)
  ),
  columns: Flag.Boolean("columns").pipe(
    Flag.withDescription("Print the columns that a file can have, and stop"),
    Flag.withDefault(false)
  )
}

interface Given {
  readonly format: Option.Option<Options["format"]>
  readonly sheet: Option.Option<string>
  readonly delimiter: Option.Option<string>
  readonly encoding: Option.Option<string>
  readonly map: Option.Option<string>
  readonly ignoreUnknown: boolean
  readonly defaults: ReadonlyArray<string>
}

/** How to read the file, by the flags and its name. */
export const optionsFor = Effect.fnUntraced(function* (file: string, given: Given) {
  const format = yield* Effect.fromOption(
    Option.orElse(given.format, () => formatOf(file)),
    () =>
      new CommandError({ message: `The format of "${file}" is unknown; set --format to one of ${formats.join(", ")}` })
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
  return options
})
