import { Context, Effect, Exit, Layer, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Database } from "../../../src/sql/Sql.ts"
import * as Postgres from "../Postgres.ts"
import { type Call, callTo } from "../Service.ts"
import * as Wire from "../wire/Wire.ts"
import { urlOf } from "./Backups.ts"

/** The service on a socket of this process: a start needs no process, no PostgreSQL and no code that is compiled again. */
export interface Served extends AsyncDisposable {
  readonly url: string
  /** A key with every permission. */
  readonly key: string
  /** For the files of a test. */
  readonly folder: string
  readonly call: Call
  /** The `DATABASE_URL` of its database. */
  readonly databaseUrl: string
  /** Runs a statement on its database, without the time limit of the service. */
  readonly execute: (statement: string) => Promise<unknown>
}

/** Starts the service with a database of its own, which ends with it. A test that blocks this process gets no answers. */
export const start = async (settings: Readonly<Record<string, string>> = {}): Promise<Served> => {
  await using stack = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), "waypost-served-"))
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const scope = Scope.makeUnsafe()
  stack.defer(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const context = await Effect.runPromise(
    Effect.flatMap(Layer.makeMemoMap, (memo) => Layer.buildWithMemoMap(Wire.layer(settings), memo, scope))
  )
  const { fullKey, port } = Context.get(context, Wire.Wire)
  const url = `http://127.0.0.1:${port}`
  const execute = (statement: string) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(
      Effect.provide(Postgres.untimed),
      Effect.provide(context),
      Effect.runPromise
    )
  const disposal = stack.move()
  return {
    url,
    key: fullKey,
    folder,
    call: callTo(url, fullKey),
    databaseUrl: urlOf(Context.get(context, Database).database!),
    execute,
    [Symbol.asyncDispose]: () => disposal.disposeAsync()
  }
}
