import { Console, Effect, Option, Stdio, Stream } from "effect"
import { Command, Flag, Prompt, TerminalCapabilities } from "effect/cli"
import { Client } from "../../client/Client.ts"
import type { Plan, PlanId } from "../../domain/plans/Plan.ts"
import { optionalText, toggle } from "../CommonFlags.ts"
import * as Connection from "../Connection.ts"
import * as Failures from "../Failures.ts"
import { CommandError } from "../Failures.ts"
import { columnList } from "../files/ColumnList.ts"
import * as FileRows from "../files/FileRows.ts"
import * as Flags from "../files/Flags.ts"
import * as Progress from "../Progress.ts"
import type { Resource } from "../transfer/Resource.ts"
import { resources } from "../transfer/Resources.ts"
import * as PlanLines from "./PlanLines.ts"
import { linesOf, painter, summaryOf, writes } from "./Differences.ts"

const description = (resource: Resource) => `Makes ${resource.name} equal to a file, and shows before what that changes.

Records are found by their ${resource.key}. The service compares the file with its records; rows that are equal are not
written. With --full, records that the file does not name are deleted. The changes are applied as a whole or not at all.

The file is read as import reads it: CSV, .xlsx, JSON or NDJSON, with --map, --default and --columns.`

/** How many changes are shown before a plan is applied. */
const shownChanges = 20

/** How many changes are read at once where all are shown; halved, it stays whole for long. */
const pageSize = 320

interface Input {
  readonly full: boolean
  readonly ignore: Option.Option<string>
  readonly maxDeletes: Option.Option<number>
  readonly filter: Option.Option<string>
  readonly plan: boolean
  readonly yes: boolean
  readonly force: boolean
}

interface Page {
  readonly from: number
  readonly limit: number
}

/** The changes of a plan, a page at a time, with how many follow; of large records, fewer at once. */
const pagesOf = (client: Client["Service"], uuid: PlanId, limit: number) =>
  Stream.paginate({ from: 0, limit }, ({ from, limit }: Page) =>
    Failures.retriedWhileBusy(
      client.plans.changes({ params: { uuid }, query: { limit, page: from / limit + 1 } })
    ).pipe(
      Effect.map(({ data, pagination }) => {
        const next = from + data.length
        const more = (pagination.total ?? 0) - next
        return [[{ data, more }], more > 0 ? Option.some({ from: next, limit }) : Option.none<Page>()] as const
      }),
      Effect.catchIf(
        (failure) => limit > 1 && Failures.isPageTooLarge(failure),
        // A divisor of the limit, so that the next page begins where this one would.
        () => Effect.succeed([[], Option.some({ from, limit: limit % 2 === 0 ? limit / 2 : 1 })] as const)
      )
    )
  )

/** Shows a plan, without the rows that were printed before, and only its first changes if it can be applied. */
const show = Effect.fnUntraced(function* (
  plan: Plan,
  { force, isPlan, placeAt, printed }: Decision,
  hasColour: boolean
) {
  const client = yield* Client
  const paint = painter(hasColour)
  yield* Console.log(summaryOf(plan))
  const pages = pagesOf(client, plan.uuid, isPlan ? pageSize : shownChanges)
  let left = 0
  yield* Stream.runForEach(
    isPlan ? pages : Stream.take(pages, 1),
    Effect.fnUntraced(function* ({ data, more }) {
      for (const change of data) {
        if (change.row === undefined || !printed.has(change.row))
          yield* Console.log(linesOf(paint, placeAt, change).join("\n"))
      }
      left = more
    })
  )
  // A plan that does not pass is deleted.
  const way = plan.guards.length > 0 && !force ? "with --plan" : `GET /v1/plans/${plan.uuid}/changes`
  if (left > 0) yield* Console.log(`… and ${Progress.count(left)} more: ${way}`)
  for (const { message } of plan.guards) yield* Console.log(paint("yellow", `! ${message}`))
})

interface Decision {
  readonly isPlan: boolean
  readonly yes: boolean
  readonly force: boolean
  /** The numbers of the rows that were printed before. */
  readonly printed: ReadonlySet<number>
  /** The position of the row with a number, as messages show it. */
  readonly placeAt: (row: number) => string
}

/** Shows a plan, and applies it if that is wanted; whether it did. */
const decide = Effect.fnUntraced(function* (plan: Plan, decision: Decision) {
  const { force, isPlan, yes } = decision
  const client = yield* Client
  const { canColor } = yield* TerminalCapabilities.TerminalCapabilities
  yield* show(plan, decision, canColor)
  const isGuarded = plan.guards.length > 0
  if (!writes(plan) && !isGuarded) {
    yield* Console.log("Nothing to do")
    return false
  }
  if (isPlan) {
    const way = isGuarded ? "with --force instead of --plan" : "without --plan"
    const message = writes(plan) ? `Nothing was written; run it ${way} to apply this` : nothingToApply
    return yield* new CommandError({ message, exitCode: 2 })
  }
  if (isGuarded && !force) return yield* new CommandError({ message: writes(plan) ? guarded : nothingToApply })
  if (!yes && !(yield* Prompt.run(Prompt.Confirm({ message: "Apply these changes?" })))) {
    yield* Console.log("Nothing was written")
    return false
  }
  const { seconds } = yield* client.plans
    .apply({ params: { uuid: plan.uuid }, payload: { force } })
    .pipe(Progress.timed)
  yield* Console.log(`${plan.resource}: applied in ${seconds.toFixed(1)} s`)
  return true
})

const guarded = "The plan does not pass the safety checks above; --force applies it"
const nothingToApply = "The plan does not pass the safety checks above, and has nothing to apply"

const sync = Effect.fnUntraced(function* (
  resource: Resource,
  file: string,
  options: FileRows.Options,
  { filter, force, full, ignore, maxDeletes, plan: isPlan, yes }: Input
) {
  const client = yield* Client
  const stdio = yield* Stdio.Stdio
  if (!isPlan && !yes && !(yield* stdio.stdinIsTerminal)) {
    return yield* new CommandError({ message: "Pass --yes to apply the changes, or --plan to only show them" })
  }
  const { rows } = yield* FileRows.open(file, resource, options)
  const { placeAt, refused, text } = yield* PlanLines.make(resource, rows)
  const plan = yield* client.plans.create({
    query: {
      resource: resource.name,
      mode: full ? "full" : "partial",
      ...Option.match(ignore, { onNone: () => ({}), onSome: (ignore) => ({ ignore }) }),
      ...Option.match(maxDeletes, { onNone: () => ({}), onSome: (maxDeletes) => ({ maxDeletes }) }),
      ...Option.match(filter, { onNone: () => ({}), onSome: (filter) => ({ filter }) })
    },
    payload: text
  })
  const remove = Effect.ignore(client.plans.delete({ params: { uuid: plan.uuid } }))
  const isApplied = yield* Effect.onError(decide(plan, { force, isPlan, placeAt, printed: refused, yes }), () => remove)
  if (!isApplied) yield* remove
}, Effect.scoped)

const syncCommand = (resource: Resource) =>
  Command.make(
    resource.name,
    {
      ...Flags.flags,
      ...Connection.flags,
      full: toggle("full", "Delete the records that the file does not name"),
      ignore: optionalText("ignore", "Paths of existing records that stay unchanged, such as contact.phone,other"),
      maxDeletes: Flag.Int("max-deletes").pipe(
        Flag.withDescription("How many percent of the records may be deleted without --force; default: 10"),
        Flag.optional
      ),
      filter: optionalText(
        "filter",
        'Compare and delete only matching records, for example "address.countryCode:equals:NL"'
      ),
      plan: toggle(
        "plan",
        "Only show the changes, all of them; the exit code is 2 if there are some or a safety check fails, and 0 if not"
      ),
      yes: toggle("yes", "Apply the changes without asking"),
      force: toggle("force", "Apply the plan although it does not pass a safety check; refused rows are left out")
    },
    Effect.fnUntraced(function* (input) {
      if (input.columns) return yield* Console.log(columnList(resource))
      const { file, options } = yield* Flags.read(input)
      yield* Effect.provide(sync(resource, file, options, input), Connection.layer(input))
    })
  ).pipe(
    Command.withDescription(description(resource)),
    Command.withShortDescription(`Make ${resource.name} equal to a file`)
  )

/** `waypost sync <resource> FILE` */
export const command = Command.make("sync").pipe(
  Command.withExamples([
    { command: "waypost sync locations branches.csv --plan" },
    { command: "waypost sync locations branches.csv --yes" }
  ]),
  Command.withSubcommands(resources.map(syncCommand))
)
