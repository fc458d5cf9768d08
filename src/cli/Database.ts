import { Console, Effect, Layer } from "effect"
import { Command } from "effect/cli"
import { Settings } from "../settings/Config.ts"
import { ApiKeys as Repository } from "../repositories/keys/ApiKeys.ts"
import { migrate, Sql } from "../sql/Sql.ts"
import { ApiKeys } from "../services/ApiKeys.ts"
import * as Startup from "../app/Startup.ts"

/** The configured database. Commands connect to the embedded server when it runs, and start it when it does not. */
export const database = Layer.provideMerge(Startup.database, Settings.layer)

/** The API keys in a migrated database. */
export const keys = Layer.provideMerge(ApiKeys.layer, Repository.layer).pipe(
  Layer.provide(Layer.provideMerge(Sql.layer, Startup.migrations)),
  Layer.provide(database)
)

/** `waypost migrate` */
export const migrateCommand = Command.make(
  "migrate",
  {},
  Effect.fnUntraced(function* () {
    const applied = yield* migrate
    if (applied.length === 0) return yield* Console.log("The database is up to date")
    for (const [id, name] of applied) yield* Console.log(`Applied ${String(id).padStart(4, "0")}_${name}`)
  })
).pipe(
  Command.withDescription(
    "Apply and list the pending database migrations. The service applies them too when it starts."
  )
)
