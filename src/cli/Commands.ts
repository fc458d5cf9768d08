import { Effect } from "effect"
import { Command } from "effect/cli"

/**
 * A command: itself where it is used, else its description only. A command whose own help says no more has the description from
 * here.
 */
const entry = <Name extends string, Module, Input, Context, E, R>(
  name: Name,
  description: string,
  load: Effect.Effect<Module>,
  pick: (module: Module) => Command.Command<Name, Input, Context, E, R>
) => ({
  name,
  command: (isUsed: boolean) =>
    isUsed
      ? Effect.map(load, (module) => {
          const command = pick(module)
          return Command.withDescription(command, command.description ?? description)
        })
      : Effect.succeed(Command.make(name).pipe(Command.withDescription(description)))
})

/**
 * The commands in the order of the help. Each is loaded when it is used: all of them together take longer than most
 * commands.
 */
const entries = [
  entry(
    "status",
    "Show whether the service answers, and what the key may do",
    Effect.promise(() => import("./Status.ts")),
    ({ command }) => command
  ),
  entry(
    "list",
    "Show records as a table, JSON or CSV",
    Effect.promise(() => import("./records/Reads.ts")),
    ({ list }) => list
  ),
  entry(
    "get",
    "Show a record",
    Effect.promise(() => import("./records/Reads.ts")),
    ({ get }) => get
  ),
  entry(
    "search",
    "Find records by words",
    Effect.promise(() => import("./records/Reads.ts")),
    ({ search }) => search
  ),
  entry(
    "create",
    "Create a record",
    Effect.promise(() => import("./records/Writes.ts")),
    ({ create }) => create
  ),
  entry(
    "update",
    "Change a record",
    Effect.promise(() => import("./records/Writes.ts")),
    ({ update }) => update
  ),
  entry(
    "delete",
    "Delete a record",
    Effect.promise(() => import("./records/Writes.ts")),
    ({ remove }) => remove
  ),
  entry(
    "near",
    "List the locations nearest to a place",
    Effect.promise(() => import("./records/Reads.ts")),
    ({ near }) => near
  ),
  entry(
    "quality",
    "Show what is wrong with data",
    Effect.promise(() => import("./quality/Quality.ts")),
    ({ command }) => command
  ),
  entry(
    "history",
    "Show what changed in a record",
    Effect.promise(() => import("./changes/History.ts")),
    ({ command }) => command
  ),
  entry(
    "events",
    "Show or follow the changes of all records",
    Effect.promise(() => import("./changes/Events.ts")),
    ({ command }) => command
  ),
  entry(
    "access",
    "Show whether a user or a location sees a product or a post, and why",
    Effect.promise(() => import("./access/Access.ts")),
    ({ command }) => command
  ),
  entry(
    "restore-record",
    "Restore a record from the log of changes",
    Effect.promise(() => import("./records/Restore.ts")),
    ({ command }) => command
  ),
  entry(
    "import",
    "Create or update records from CSV, Excel, JSON or NDJSON",
    Effect.promise(() => import("./transfer/Import.ts")),
    ({ command }) => command
  ),
  entry(
    "sync",
    "Make records equal to a file, and show the changes before",
    Effect.promise(() => import("./sync/Sync.ts")),
    ({ command }) => command
  ),
  entry(
    "export",
    "Write records as CSV, JSON or NDJSON",
    Effect.promise(() => import("./transfer/Export.ts")),
    ({ command }) => command
  ),
  entry(
    "mirror",
    "Keep a copy of records in a file up to date",
    Effect.promise(() => import("./mirror/Mirror.ts")),
    ({ command }) => command
  ),
  entry(
    "upload",
    "Create assets from the files in folders",
    Effect.promise(() => import("./upload/Upload.ts")),
    ({ command }) => command
  ),
  entry(
    "keys",
    "Create, list and revoke API keys in the database, without a running service",
    Effect.promise(() => import("./keys/Keys.ts")),
    ({ command }) => command
  ),
  entry(
    "webhooks",
    "Receive webhooks on this machine, verify their signatures and print them",
    Effect.promise(() => import("./webhooks/Listen.ts")),
    ({ command }) => command
  ),
  entry(
    "audit",
    "Verify the change log in the database, without a running service",
    Effect.promise(() => import("./audit/Audit.ts")),
    ({ command }) => command
  ),
  entry(
    "migrate",
    "Bring the tables up to date, as the start of the service does",
    Effect.promise(() => import("./Migrate.ts")),
    ({ command }) => command
  ),
  entry(
    "backup",
    "Copy the database and the files into a folder",
    Effect.promise(() => import("./backup/Backup.ts")),
    ({ command }) => command
  ),
  entry(
    "restore",
    "Fill an empty installation from a backup",
    Effect.promise(() => import("./backup/Restore.ts")),
    ({ command }) => command
  )
] as const

/** Flags that describe every command. */
const needsAll = ["--completions", "--wizard"]

/** The command line, with the command that the arguments name; the others have their descriptions only. */
export const commandFor = Effect.fnUntraced(function* (args: ReadonlyArray<string>) {
  const isWhole = args.some((arg) => needsAll.some((flag) => arg.startsWith(flag)))
  const named = args.find((arg) => entries.some(({ name }) => name === arg))
  const commands = yield* Effect.all(entries.map(({ command, name }) => command(isWhole || name === named)))
  return Command.make("waypost").pipe(
    Command.withDescription("The command line of Waypost, a content and location management service"),
    Command.withSubcommands(commands)
  )
})
