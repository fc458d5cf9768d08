import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { migrate } from "../sql/Migrations.ts"
import * as Database from "./Database.ts"

/** `waypost migrate` */
export const command = Command.make(
  "migrate",
  {},
  Effect.fnUntraced(function* () {
    yield* Database.printInstallation
    const applied = yield* migrate
    if (applied.length === 0) return yield* Console.log("The database is up to date")
    for (const [id, name] of applied) yield* Console.log(`Applied ${String(id).padStart(4, "0")}_${name}`)
  })
).pipe(
  Command.withDescription(
    "Apply and list the pending database migrations. The service applies them too when it starts."
  ),
  Command.withExamples([{ command: "waypost migrate" }]),
  Command.provide(Database.database)
)
