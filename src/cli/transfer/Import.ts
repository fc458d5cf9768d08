import { Cause, Console, Effect, Option, Path, Stream } from "effect"
import { Command } from "effect/cli"
import { fstatSync, statSync } from "node:fs"
import { Client } from "../../client/Client.ts"
import { numberTo, optionalText, toggle } from "../CommonFlags.ts"
import * as Connection from "../Connection.ts"
import { CommandError } from "../Failures.ts"
import { columnList } from "../files/ColumnList.ts"
import * as FileRows from "../files/FileRows.ts"
import type { Options } from "../files/FileRows.ts"
import * as Flags from "../files/Flags.ts"
import type { Format } from "../files/Format.ts"
import * as RefusedFile from "../files/RefusedFile.ts"
import * as RefusedRows from "../files/RefusedRows.ts"
import type { RefusedRow } from "../files/RefusedRows.ts"
import * as Progress from "../Progress.ts"
import { resources } from "./Resources.ts"
import type { Resource } from "./Resource.ts"
import * as Sending from "./Sending.ts"
import * as Upsert from "./Upsert.ts"

const description = (resource: Resource) => `Creates or updates ${resource.name} from a file, one for each row.

A row whose ${resource.key} exists updates that record; members that the row omits are unchanged. Of several rows with
the same ${resource.key} the first one is imported. Refused rows are written to a file of the same format with the
reasons in its last column, and the exit code is 1, as it is for a file without rows. Importing the same file again is safe.
${resource.note === undefined ? "" : `\n${resource.note}\n`}
The file is CSV, .xlsx, JSON or NDJSON, also compressed with gzip. Encoding and separator of CSV are detected. Columns
are dotted paths such as address.city, which --columns prints; --map takes other names. Empty cells are omitted. Elements
of a list are separated by ";"; write "\\;" inside an element. An apostrophe before = + - @ TAB or CR at the beginning of a
cell, or behind ";" or a line break, which export adds against formulas, is removed. Names of countries become codes, and
national phone numbers become international ones with the country of the row.`

/** The numbers of rows by outcome, without those that are zero. */
const outcomes = (summary: Upsert.Summary) =>
  (["created", "updated", "unchanged", "refused"] as const)
    .filter((outcome) => summary[outcome] > 0)
    .map((outcome) => `${Progress.count(summary[outcome])} ${outcome}`)
    .join(", ")

interface Unfinished {
  readonly dryRun: boolean
  readonly isInterrupted: boolean
  /** The file that has refused rows. */
  readonly refusedFile: string | undefined
  readonly total: number | undefined
}

/** How far an import came that was interrupted or failed, where its refused rows are, and how to go on. */
const unfinished = (summary: Upsert.Summary, { dryRun, isInterrupted, refusedFile, total }: Unfinished) => {
  const done = Upsert.rowsOf(summary)
  const detail = done === 0 ? "" : ` (${outcomes(summary)})`
  const where = refusedFile === undefined ? "" : `. The refused rows so far are in ${refusedFile}`
  const next = isInterrupted ? "to continue" : "when the cause of the failure is removed"
  return (
    `${isInterrupted ? "Interrupted" : "Failed"} after ${Progress.rowsOf({ done, total })}${detail}${where}. ` +
    (dryRun ? dryRunNote : `Run the same command again ${next}: rows that were imported are then unchanged`)
  )
}

const dryRunNote = "This was a dry run; nothing was written"

/** The result in one line. */
export const report = (name: string, summary: Upsert.Summary, seconds: number): string => {
  const rows = Upsert.rowsOf(summary)
  const rate = `${Progress.count(rows)} rows in ${seconds.toFixed(1)} s, ${Progress.count(rows / seconds)} rows/s`
  return `${name}: ${outcomes(summary)} (${rate})`
}

/** What a file is by any of its names, of which `-` is standard input. `FileSystem` does not say what file a descriptor has. */
const identityOf = (file: string) =>
  Effect.try(() => (file === "-" ? fstatSync(0, { bigint: true }) : statSync(file, { bigint: true }))).pipe(
    Effect.map((info) => (info.isFile() ? Option.some(`${info.dev}:${info.ino}`) : Option.none())),
    Effect.orElseSucceed(() => Option.none<string>())
  )

/** Prints refused rows in a dry run that names no file for them, and otherwise writes them to a file. */
const refusedOutput = Effect.fnUntraced(function* (
  refused: Option.Option<string>,
  { delimiter, dryRun, file, format }: { file: string; format: Format; delimiter: string; dryRun: boolean }
) {
  if (dryRun && Option.isNone(refused)) {
    return { name: undefined, add: (row: RefusedRow) => Console.log(RefusedRows.textOf(row)) }
  }
  const name = Option.getOrElse(refused, () => RefusedRows.defaultFile(file, format))
  const target = yield* identityOf(name)
  if (Option.isSome(target) && Option.contains(yield* identityOf(file), target.value)) {
    const message = `${name} is the file that is imported, so refused rows cannot be written to it. Name another one with --refused`
    return yield* new CommandError({ message })
  }
  const written = yield* RefusedFile.pathOf(refused, name)
  const add = yield* RefusedRows.make(written, { format, delimiter })
  return { name: (yield* Path.Path).resolve(name) === written ? name : written, add }
})

const runImport = Effect.fnUntraced(function* (
  resource: Resource,
  file: string,
  options: Options,
  { concurrency, dryRun, refused }: { concurrency: number; dryRun: boolean; refused: Option.Option<string> }
) {
  const client = yield* Client
  const { counted, delimiter, notes, rows } = yield* FileRows.open(file, resource, options)
  const { add, name } = yield* refusedOutput(refused, { file, format: options.format, delimiter, dryRun })
  const flat = options.format === "csv" || options.format === "xlsx"
  const summary = Upsert.emptySummary()
  let written = 0
  const { seconds } = yield* rows.pipe(
    Sending.upsertAll(client, resource, { concurrency, dryRun, flat, summary }),
    Stream.runForEach((row) => Effect.tap(add(row), () => Effect.sync(() => (written += 1)))),
    Progress.show(() => {
      const done = Upsert.rowsOf(summary)
      const count = { done, total: counted.rows }
      return { ...count, fraction: Progress.fractionOf(count) }
    }),
    Progress.timed,
    Effect.onError((cause) => {
      const isInterrupted = Cause.hasInterruptsOnly(cause)
      if (!isInterrupted && Upsert.rowsOf(summary) === 0) return Effect.void
      const refusedFile = written === 0 ? undefined : name
      return Console.error(unfinished(summary, { dryRun, isInterrupted, refusedFile, total: counted.rows }))
    })
  )
  if (Upsert.rowsOf(summary) === 0) {
    return yield* new CommandError({
      message: `${file === "-" ? "Standard input" : file} has no rows, so nothing was imported`
    })
  }
  if (notes.length > 0) yield* Console.log(`Read ${file} as ${notes.join(", ")}`)
  yield* Console.log(report(resource.name, summary, seconds))
  if (dryRun) yield* Console.log(dryRunNote)
  if (summary.refused > 0) {
    const where = name === undefined ? "" : `; the reasons are in ${name}`
    return yield* new CommandError({ message: `${Progress.count(summary.refused)} rows were refused${where}` })
  }
}, Effect.scoped)

const importCommand = (resource: Resource) =>
  Command.make(
    resource.name,
    {
      ...Flags.flags,
      ...Connection.flags,
      concurrency: numberTo(
        "concurrency",
        "Concurrent requests for products with modules and posts that change their status",
        256,
        32
      ),
      dryRun: toggle("dry-run", "Write nothing, and print the counts and the reasons of refused rows"),
      refused: optionalText("refused", "The file for refused rows; default: <file>.refused.<format>")
    },
    Effect.fnUntraced(function* (input) {
      if (input.columns) return yield* Console.log(columnList(resource))
      const { file, options } = yield* Flags.read(input)
      yield* Effect.provide(runImport(resource, file, options, input), Connection.layer(input))
    })
  ).pipe(
    Command.withDescription(description(resource)),
    Command.withShortDescription(`Create or update ${resource.name} from a file`)
  )

/** `waypost import <resource> FILE` */
export const command = Command.make("import").pipe(
  Command.withExamples([
    { command: "waypost import locations branches.xlsx --dry-run" },
    { command: "waypost import locations branches.csv --map Branch=identifier,Town=address.city" }
  ]),
  Command.withSubcommands(resources.map(importCommand))
)
