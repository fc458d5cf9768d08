import { Console, Effect, Layer, Option, Path, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentChange } from "../domain/changes/Actor.ts"
import { Settings } from "../settings/Config.ts"
import { ApiKeys as Repository } from "../repositories/keys/ApiKeys.ts"
import { isOutdated } from "../sql/Migrations.ts"
import { maintenanceClient } from "../sql/connections/Maintenance.ts"
import { Sql } from "../sql/Sql.ts"
import { ApiKeys } from "../services/ApiKeys.ts"
import * as Startup from "../app/Startup.ts"
import { CommandError } from "./Failures.ts"

/** The installation that the settings name: its data folder, or its database without the credentials. */
const installation = Effect.gen(function* () {
  const { DATA_DIR, DATABASE_URL } = yield* Settings
  if (Option.isNone(DATABASE_URL)) return (yield* Path.Path).resolve(DATA_DIR)
  const { host, pathname } = new URL(Redacted.value(DATABASE_URL.value))
  return `postgres://${host}${pathname}`
})

/** Prints to standard error which installation a command works on. */
export const printInstallation = Effect.flatMap(installation, (name) => Console.error(`Installation: ${name}`))

/** Prints to standard error which installation and which storage a command works on, for commands that copy files. */
export const printWithStorage = (storage: string) =>
  Effect.flatMap(installation, (name) => Console.error(`Installation: ${name}, files in ${storage}`))

/** The configured database. Commands connect to the embedded server when it runs, and start it when it does not. */
export const database = Layer.provideMerge(Startup.database, Settings.layer)

const missing = Effect.fnUntraced(function* () {
  const name = yield* installation
  return yield* new CommandError({
    message:
      `There is no installation of Waypost in ${name}, and this command does not create one. ` +
      "Run it in the folder of the service, or set DATA_DIR or DATABASE_URL as for the service"
  })
})

/** Fails unless the data folder has a database. */
const withEmbedded = Layer.effectDiscard(
  Effect.gen(function* () {
    const { DATABASE_URL } = yield* Settings
    if (Option.isNone(DATABASE_URL) && !(yield* Startup.hasEmbedded)) return yield* missing()
  })
)

/** Fails unless the database has the tables of some version. */
const withTables = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql`select to_regclass('waypost_migrations') is not null as found`
    if (row?.["found"] !== true) return yield* missing()
  }).pipe(Effect.provide(maintenanceClient))
)

/** The database of an installation that exists, for commands that a new one has no use for. */
export const existing = withTables.pipe(
  Layer.provideMerge(Startup.database),
  Layer.provide(withEmbedded),
  Layer.provideMerge(Settings.layer)
)

/** Fails on the tables of an older version. Bringing them up to date can lock them, which is left to `migrate` and the service. */
const withCurrentTables = Layer.effectDiscard(
  Effect.gen(function* () {
    if (!(yield* isOutdated)) return
    return yield* new CommandError({
      message: `The tables in ${yield* installation} are of an older version. Bring them up to date with npx waypost migrate`
    })
  }).pipe(Effect.provide(maintenanceClient))
)

/** The API keys in the database, once its tables are those of this version. */
const keysOf = <E, R>(tables: Layer.Layer<never, E, R>) =>
  Layer.provideMerge(ApiKeys.layer, Repository.layer).pipe(Layer.provide(Layer.provideMerge(Sql.layer, tables)))

/** What the change log notes as the actor of a command that works on the database. */
const asCommand = Layer.succeed(CurrentChange, { actor: { type: "command" } })

/** The API keys in the database, which is created and migrated if there is none; for scripts. */
export const keys = Layer.merge(asCommand, Layer.provideMerge(keysOf(Startup.migrations), database))

/** The API keys of an installation that exists, with the tables of this version. */
export const existingKeys = Layer.merge(asCommand, Layer.provideMerge(keysOf(withCurrentTables), existing))
