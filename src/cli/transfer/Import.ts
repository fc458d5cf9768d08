import { Console, Effect, FileSystem, Option, Path, Stdio, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Client } from "../../client/Client.ts"
import * as Connection from "../Connection.ts"
import { CommandError } from "../Failures.ts"
import * as Formats from "./Formats.ts"
import * as DeferredRows from "./DeferredRows.ts"
import * as Progress from "../Progress.ts"
import * as RowCount from "./RowCount.ts"
import * as RefusedFile from "./RefusedFile.ts"
import { resources } from "./Resources.ts"
import type { Resource } from "./Resource.ts"
import * as Upsert from "./Upsert.ts"

const description = (resource: Resource) => `Creates or updates ${resource.name} from a file, one for each row.

A row whose ${resource.key} exists updates that record; members that the row omits are unchanged. Of several rows with
the same ${resource.key} the last one wins. Refused rows are written to a file with the reasons, and the exit code is 1.
Importing the same file again is safe.
${resource.note === undefined ? "" : `\n${resource.note}\n`}
CSV columns are dotted paths such as address.city. Empty cells are omitted. Elements of a list are separated by ";"; write
"\\;" inside an element. An apostrophe before = + - @ TAB or CR, which export adds against formulas, is removed.`

export const formatFlag = Flag.Literals("format", Formats.formats).pipe(
  Flag.withDescription("The format; default: the extension of the file"),
  Flag.optional
)

/** The requested format, or that of the file's extension. */
export const formatFor = (file: string, given: Option.Option<Formats.Format>) =>
  Effect.fromOption(
    Option.orElse(given, () => Formats.formatOf(file)),
    () =>
      new CommandError({
        message: `The format of "${file}" is unknown; set --format to one of ${Formats.formats.join(", ")}`
      })
  )

/** The bytes of a file or of standard input, and the number of rows, which is counted while the import runs. */
const open = Effect.fnUntraced(function* (file: string, format: Formats.Format) {
  const fs = yield* FileSystem.FileSystem
  const { stdin } = yield* Stdio.Stdio
  const counted: { rows: number | undefined } = { rows: undefined }
  if (file === "-") return { bytes: stdin, counted }
  yield* fs.access(file, { readable: true })
  const counting = Effect.map(RowCount.count(format, fs.stream(file)), (rows) => {
    counted.rows = rows
  })
  yield* Effect.forkScoped(Effect.ignore(counting))
  return { bytes: fs.stream(file), counted }
})

/** The numbers of rows by outcome, without those that are zero. */
const outcomes = (summary: Upsert.Summary) =>
  (["created", "updated", "unchanged", "refused"] as const)
    .filter((outcome) => summary[outcome] > 0)
    .map((outcome) => `${Progress.count(summary[outcome])} ${outcome}`)
    .join(", ")

/** How far an import came that was interrupted, and how to go on. */
const interrupted = (summary: Upsert.Summary, total: number | undefined) => {
  const done = Upsert.rowsOf(summary)
  const detail = done === 0 ? "" : ` (${outcomes(summary)})`
  return (
    `Interrupted after ${Progress.rowsOf({ done, total })}${detail}. ` +
    "Run the same command again to continue: rows that were imported are then unchanged"
  )
}

/** The result in one line. */
export const report = (name: string, summary: Upsert.Summary, seconds: number): string => {
  const rows = Upsert.rowsOf(summary)
  const parts = outcomes(summary)
  const rate = `${Progress.count(rows)} rows in ${seconds.toFixed(1)} s, ${Progress.count(rows / seconds)} rows/s`
  return `${name}: ${parts === "" ? "nothing to do" : parts} (${rate})`
}

const importCommand = (resource: Resource) =>
  Command.provide(
    Command.make(
      resource.name,
      {
        file: Argument.String("file").pipe(Argument.withDescription("The file to read; - is standard input")),
        format: formatFlag,
        ...Connection.flags,
        concurrency: Connection.concurrency("Concurrent requests", 256, 32),
        refused: Flag.String("refused").pipe(
          Flag.withDescription("The file for refused rows; default: <file>.refused.ndjson"),
          Flag.optional
        )
      },
      Effect.fnUntraced(function* ({ concurrency, file, format, refused }) {
        const client = yield* Client
        const path = yield* Path.Path
        const refusedFile = Option.getOrElse(refused, () => `${file === "-" ? "stdin" : file}.refused.ndjson`)
        const write = yield* RefusedFile.make(path.resolve(refusedFile))
        const chosen = yield* formatFor(file, format)
        const rows = Formats.read(chosen, resource)
        const calls = resource.calls(client, { flat: chosen === "csv" })
        const { bytes, counted } = yield* open(file, chosen)
        const summary = Upsert.emptySummary()
        const { seconds } = yield* rows(bytes).pipe(
          DeferredRows.upsertAll(resource, calls, { concurrency, summary }),
          Stream.runForEach(({ reasons, row }) => write({ ...row.at, reasons, row: row.source })),
          Progress.show(() => {
            const done = Upsert.rowsOf(summary)
            return { done, total: counted.rows, fraction: counted.rows ? done / counted.rows : undefined }
          }),
          Progress.timed,
          Effect.onInterrupt(() => Console.error(interrupted(summary, counted.rows)))
        )
        yield* Console.log(report(resource.name, summary, seconds))
        if (summary.refused > 0) {
          const message = `${Progress.count(summary.refused)} rows were refused; the reasons are in ${refusedFile}`
          return yield* new CommandError({ message })
        }
      }, Effect.scoped)
    ).pipe(
      Command.withDescription(description(resource)),
      Command.withShortDescription(`Create or update ${resource.name} from a file`)
    ),
    Connection.layer
  )

/** `waypost import <resource> FILE` */
export const command = Command.make("import").pipe(
  Command.withDescription("Create or update records from CSV, JSON or NDJSON"),
  Command.withSubcommands(resources.map(importCommand))
)
