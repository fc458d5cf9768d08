import { Console, Effect, Option, Stdio, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { randomUUID } from "node:crypto"
import { Client } from "../../client/Client.ts"
import * as Filter from "../../domain/query/Filter.ts"
import * as Rows from "../../domain/files/Rows.ts"
import { filterableOf } from "../../domain/query/FilterFields.ts"
import * as Connection from "../Connection.ts"
import * as Flags from "../files/Flags.ts"
import { replace } from "../Replace.ts"
import * as Progress from "../Progress.ts"
import { exportFormatOf, exportFormats, write } from "./ExportFormat.ts"
import { resources } from "./Resources.ts"
import type { Resource } from "./Resource.ts"
import * as WholeList from "./WholeList.ts"

const description = (resource: Resource) => `Writes ${resource.name}, oldest first, to a file that import can read.

In CSV files, an apostrophe is put before = + - @ TAB or CR at the beginning of a cell, and behind ";" or a line break,
so that spreadsheets do not execute what follows as a formula; import removes it. Numbers are unchanged.`

const hasValue = (value: unknown) =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)

/**
 * Writes under a temporary name first: a truncated file would look like a smaller export. It is another one for each export,
 * because several can write the same file.
 */
const save =
  (file: string) =>
  <E>(text: Stream.Stream<string, E>) =>
    Effect.gen(function* () {
      const stdio = yield* Stdio.Stdio
      if (file === "-") return yield* Stream.run(text, stdio.stdout())
      yield* replace(file, text, `${file}.${randomUUID()}.partial`)
    })

const exportCommand = (resource: Resource) =>
  Command.provide(
    Command.make(
      resource.name,
      {
        file: Argument.String("file").pipe(
          Argument.withDescription("The file to write; - is standard output"),
          Argument.withDefault("-")
        ),
        format: Flags.formatFlag(exportFormats),
        filter: Flag.String("filter").pipe(
          Flag.withDescription('Export only matching records, for example "address.countryCode:equals:NL"'),
          Flag.withDefault("")
        ),
        ...Connection.flags
      },
      Effect.fnUntraced(function* ({ file, filter, format }) {
        const client = yield* Client
        const fields = filterableOf(resource.listed ?? resource.record)
        const conditions = filter === "" ? [] : yield* Effect.fromResult(Filter.parse(fields, filter))
        const chosen = yield* Effect.fromOption(
          Option.orElse(format, () => exportFormatOf(file)),
          () => Flags.unknownFormat(file, exportFormats)
        )
        const list = resource.list(client, { flat: chosen === "csv" })
        const count: Progress.Count = { done: 0, total: undefined }
        const lost = new Set<string>()
        const lossy = chosen === "csv" ? Rows.withoutColumn(resource.create) : []
        const records = WholeList.read(resource, list, conditions, (total) => {
          count.total = total
        })
        const { seconds } = yield* records.pipe(
          Stream.tap((record) =>
            Effect.sync(() => {
              count.done++
              for (const member of lossy) if (hasValue(record[member])) lost.add(member)
            })
          ),
          write(chosen, resource),
          save(file),
          Progress.show(() => ({ done: count.done, fraction: Progress.fractionOf(count) })),
          Progress.timed
        )
        if (file !== "-") {
          yield* Console.log(
            `${resource.name}: ${Progress.count(count.done)} exported to ${file} in ${seconds.toFixed(1)} s`
          )
        }
        if (lost.size > 0) {
          yield* Console.error(
            `The export lacks the ${[...lost].toSorted().join(", ")} of ${resource.name}, which CSV cannot hold; use json or ndjson`
          )
        }
      })
    ).pipe(
      Command.withDescription(description(resource)),
      Command.withShortDescription(`Write ${resource.name} to a file`)
    ),
    Connection.layer
  )

/** `waypost export <resource> [FILE]` */
export const command = Command.make("export").pipe(
  Command.withExamples([
    { command: "waypost export locations locations.csv" },
    { command: "waypost export locations - --format ndjson --filter address.countryCode:equals:NL" }
  ]),
  Command.withSubcommands(resources.map(exportCommand))
)
