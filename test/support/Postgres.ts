import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { inject } from "vitest"
import { StatementLimits } from "../../src/sql/connections/Pools.ts"
import { Database, Sql } from "../../src/sql/Sql.ts"

const at = (database: string): PgClient.PgClientConfig => {
  const { prepare, socket, url, username } = inject("postgres")
  const access = url === undefined ? { path: socket!, username: username! } : { url: Redacted.make(url) }
  // A busy machine may need more time than the service gives a connection.
  return { ...access, database, prepare, connectTimeout: "1 minute" }
}

const asAdmin = (statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(
    Effect.provide(PgClient.layer({ ...at("postgres"), maxConnections: 1 })),
    Effect.orDie
  )

/** How a database is created with the tables of the service, or with all that another one has. */
export const templated = (template = inject("postgres").template) => {
  // The server of the tests does not synchronise files, so copying them is faster than writing them through the log.
  const strategy = inject("postgres").url === undefined ? "strategy file_copy" : ""
  return `template ${template} ${strategy}`
}

/** A new database, dropped with the scope. On a busy machine that takes longer than a statement of the service may. */
export const created = Effect.fnUntraced(function* (source: string) {
  const name = `test_${SecureRandom.uuidV4Unsafe().replaceAll("-", "")}`
  yield* Effect.acquireRelease(asAdmin(`create database ${name} ${source}`), () =>
    asAdmin(`drop database ${name} with (force)`)
  )
  return { ...at(name), database: name }
})

/** A database of this test file alone, dropped at its end. */
export const database = Layer.effect(
  Database,
  Effect.suspend(() => created(templated()))
)

// Another process can take the processors for a minute.
const patient = { millis: 120_000, lockMillis: 120_000, maxWait: "2 minutes" } as const

/**
 * More time for statements and for pauses between them than in production, because a busy machine may need it for what a test is not
 * about.
 */
export const patience = Layer.succeed(StatementLimits, patient)

/** The same, but for the limits that a test is about. */
export const patienceBut = (limits: Partial<typeof StatementLimits.Service>) =>
  Layer.succeed(StatementLimits, { ...patient, ...limits })

/** The pools of the service on a database of its own, with the time limits of production; needs settings. */
export const limited = Sql.layer.pipe(Layer.provideMerge(database))

/** The pools of the service on a database of its own, whose statements have more time; needs settings. */
export const sql = Layer.provide(limited, patience)

/** A client of this database without the timeouts of the service, for the many rows of a test. */
export const untimed = Layer.unwrap(Effect.map(Database, (config) => PgClient.layer({ ...config, maxConnections: 1 })))

/** Executes one statement without a timeout, also where `hurried` gave the role one. */
export const execute = <A extends object = Record<string, unknown>>(statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    sql.withTransaction(Effect.andThen(sql`set local statement_timeout = 0`, sql.unsafe<A>(statement)))
  ).pipe(Effect.provide(untimed))

/**
 * The pools of the service on this database, whose statements have this many milliseconds. The settings need `DATABASE_PREPARE=false`:
 * otherwise each connection begins with the time limit of the service. What the process waits for by its own clock has more time.
 */
export const hurried = (millis: number) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql.unsafe(`do $$ begin
        execute format('alter role %I in database %I set statement_timeout = ${millis}', current_user, current_database());
      end $$`)
      return Layer.provide(Layer.fresh(Sql.layer), patience)
    }).pipe(Effect.provide(untimed), Effect.orDie)
  )
