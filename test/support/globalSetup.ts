import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { ConfigProvider, Effect, Exit, Layer, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { TestProject } from "vitest/node"
import { Settings } from "../../src/settings/Config.ts"
import * as EmbeddedPostgres from "../../src/postgres/EmbeddedPostgres.ts"
import { Database, migrate } from "../../src/sql/Sql.ts"

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
    }
  }
}

const template = `waypost_template_${process.pid}`

/** One PostgreSQL for the whole run, migrated once into a template that every test file copies. */
const prepare = Effect.gen(function* () {
  const url = process.env["TEST_DATABASE_URL"]
  const prepare = process.env["TEST_DATABASE_PREPARE"] !== "false"
  const folder = mkdtempSync(join(tmpdir(), "waypost-test-"))
  // PostgreSQL does not run as root; another user has to reach the folder.
  chmodSync(folder, 0o755)
  const server =
    url === undefined
      ? yield* EmbeddedPostgres.start({
          dataDir: join(folder, "postgres"),
          settings: { fsync: "off", full_page_writes: "off", synchronous_commit: "off" }
        })
      : undefined
  const access =
    server === undefined ? { url: Redacted.make(url!) } : { path: server.socket, username: server.username }
  const at = (database: string) => ({ ...access, database, prepare })
  const admin = PgClient.layer({ ...at("postgres"), maxConnections: 1 })
  const execute = (statement: string) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(Effect.provide(admin))
  yield* Effect.addFinalizer(() =>
    server === undefined
      ? Effect.ignore(
          Effect.andThen(
            execute(`alter database ${template} is_template false`),
            execute(`drop database if exists ${template} with (force)`)
          )
        )
      : Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  yield* execute(`create database ${template}`)
  yield* migrate.pipe(
    Effect.provide(
      Layer.mergeAll(
        Layer.succeed(Database, at(template)),
        Settings.layer.pipe(
          Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ DATABASE_PREPARE: String(prepare) })))
        ),
        NodeServices.layer
      )
    )
  )
  yield* execute(`alter database ${template} is_template true allow_connections false`)
  // A pooler keeps its connections, and a database with connections cannot be copied.
  yield* execute(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${template}'`)
  return server === undefined
    ? { url: url!, template, prepare }
    : { socket: server.socket, username: server.username, template, prepare }
})

export default async (project: TestProject) => {
  // The first project that needs PostgreSQL starts it for all of them.
  if ("postgres" in project.getProvidedContext()) return
  const scope = Scope.makeUnsafe()
  const postgres = await Effect.runPromise(
    prepare.pipe(Effect.provideService(Scope.Scope, scope), Effect.provide(NodeServices.layer))
  )
  project.vitest.getRootProject().provide("postgres", postgres)
  return () => Effect.runPromise(Scope.close(scope, Exit.void))
}
