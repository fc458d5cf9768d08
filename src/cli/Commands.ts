import { Command } from "effect/cli"
import * as Backup from "./backup/Backup.ts"
import * as Database from "./Database.ts"
import * as Export from "./transfer/Export.ts"
import * as Import from "./transfer/Import.ts"
import * as Keys from "./keys/Keys.ts"
import * as Restore from "./backup/Restore.ts"
import * as Upload from "./upload/Upload.ts"

/** All commands with the services each needs besides the platform. */
export const waypost = Command.make("waypost").pipe(
  Command.withDescription("The command line of Waypost, a content and location management service"),
  Command.withSubcommands([
    Keys.command.pipe(Command.provide(Database.keys)),
    Database.migrateCommand.pipe(Command.provide(Database.database)),
    Backup.command.pipe(Command.provide(Database.database)),
    Restore.command,
    Import.command,
    Export.command,
    Upload.command
  ])
)
