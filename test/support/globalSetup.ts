import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { ConfigProvider, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { execFileSync } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { TestProject } from "vitest/node"
import { isCurrent } from "../../bin/program.mjs"
import { Settings } from "../../src/settings/Config.ts"
import * as EmbeddedPostgres from "../../src/postgres/EmbeddedPostgres.ts"
import { migrate } from "../../src/sql/Migrations.ts"
import { Database } from "../../src/sql/Sql.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** How the tests reach PostgreSQL: a socket and a user, or a URL; each database is made from `template`. */
    readonly postgres: {
      readonly url?: string
      readonly socket?: string
      readonly username?: string
      readonly template: string
      /** Whether statements may be prepared, which a pooler in transaction mode forbids. */
      readonly prepare: boolean
      /** A data directory with a migrated database that no server runs on; tests copy it instead of making their own. */
      readonly directory?: string
    }
  }
}

const template = `waypost_template_${process.pid}`
const url = process.env["TEST_DATABASE_URL"]
const prepare = process.env["TEST_DATABASE_PREPARE"] !== "false"

/** Applies the migrations to a database. */
const migrated = (database: PgClient.PgClientConfig) =>
  migrate.pipe(
    Effect.provide(
      Layer.mergeAll(
        Layer.succeed(Database, database),
        Settings.layer.pipe(
          Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ DATABASE_PREPARE: String(prepare) })))
        ),
        NodeServices.layer
      )
    )
  )

/** Executes statements of an administrator. */
const administrator = (access: PgClient.PgClientConfig) => (statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(
    Effect.provide(PgClient.layer({ ...access, database: "postgres", maxConnections: 1 }))
  )

const start = (dataDir: string) =>
  EmbeddedPostgres.start({
    dataDir,
    settings: { fsync: "off", full_page_writes: "off", synchronous_commit: "off" }
  })

/** A PostgreSQL of this run, and a copy of its data directory from before its start. */
const own = Effect.gen(function* () {
  const folder = mkdtempSync(join(tmpdir(), "waypost-test-"))
  // PostgreSQL does not run as root; another user has to reach the folder.
  chmodSync(folder, 0o755)
  yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true, force: true })))
  const directory = join(folder, "copied", "postgres")
  mkdirSync(join(folder, "copied"))
  yield* Effect.scoped(
    Effect.flatMap(start(directory), ({ database, socket, username }) => migrated({ path: socket, username, database }))
  )
  execFileSync("cp", ["-a", directory, folder])
  const { database, socket, username } = yield* start(join(folder, "postgres"))
  yield* administrator({ path: socket, username })(`create database ${template} template ${database}`)
  return { socket, username, directory, prepare }
})

/** The PostgreSQL of `TEST_DATABASE_URL`. */
const given = Effect.fnUntraced(function* (url: string) {
  const access = { url: Redacted.make(url), prepare }
  const execute = administrator(access)
  yield* Effect.addFinalizer(() =>
    Effect.ignore(
      Effect.andThen(
        execute(`alter database ${template} is_template false`),
        execute(`drop database if exists ${template} with (force)`)
      )
    )
  )
  yield* execute(`create database ${template}`)
  yield* migrated({ ...access, database: template })
  yield* execute(`alter database ${template} is_template true allow_connections false`)
  // A pooler keeps its connections, and a database with connections cannot be copied.
  yield* execute(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${template}'`)
  return { url, prepare }
})

/** Builds the programs that tests start and the console, unless they are those of the sources. */
const build = () => {
  const root = fileURLToPath(new URL("../..", import.meta.url))
  if (!["program", "console"].every(isCurrent)) execFileSync(process.execPath, [join(root, "scripts/build.ts")])
}

export default async (project: TestProject) => {
  // The first project that needs PostgreSQL starts it for all of them.
  if ("postgres" in project.getProvidedContext()) return
  build()
  const scope = Scope.makeUnsafe()
  const postgres = await Effect.runPromise(
    Effect.gen(function* () {
      return url === undefined ? yield* own : yield* given(url)
    }).pipe(Effect.provideService(Scope.Scope, scope), Effect.provide(NodeServices.layer))
  )
  project.vitest.getRootProject().provide("postgres", { ...postgres, template })
  return () => Effect.runPromise(Scope.close(scope, Exit.void))
}
