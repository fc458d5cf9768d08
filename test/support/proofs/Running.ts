import { NodeServices } from "@effect/platform-node"
import { Effect, Exit, Scope } from "effect"
import { join } from "node:path"
import postgres, { type Sql } from "postgres"
import { seed, uuids } from "../Databases.ts"
import * as EmbeddedPostgres from "../../../src/postgres/EmbeddedPostgres.ts"
import * as Service from "../Service.ts"

export { callTo, headers, key } from "../Service.ts"

/** The service as a process of its own, on a data folder of its own, with a line to its embedded database. */
export interface Running extends Service.Service {
  readonly service: Service.Service
  /** Connections beside those of the service. */
  readonly sql: Sql
}

/** How to reach the embedded database of a running service from beside it. */
export const socketOf = async (folder: string) => {
  const attach = EmbeddedPostgres.start({ dataDir: join(folder, "postgres") })
  const scope = Scope.makeUnsafe()
  const { database, socket, username } = await Effect.runPromise(
    attach.pipe(Effect.provideService(Scope.Scope, scope), Effect.provide(NodeServices.layer))
  )
  await Effect.runPromise(Scope.close(scope, Exit.void))
  return { path: socket, username, database }
}

export const start = async (settings: Readonly<Record<string, string>> = {}): Promise<Running> => {
  await using stack = new AsyncDisposableStack()
  const service = stack.use(await Service.start(settings))
  const sql = postgres({ ...(await socketOf(service.folder)), max: 2, onnotice: () => undefined })
  stack.defer(() => sql.end({ timeout: 1 }))
  const disposal = stack.move()
  return { ...service, service, sql, [Symbol.asyncDispose]: () => disposal.disposeAsync() }
}

/** Uuids of so many new locations. */
export const locations = async (sql: Sql, count: number): Promise<ReadonlyArray<string>> => {
  await seed(sql, count)
  return uuids(sql, count)
}

/** From now on a change of a location takes the database so many seconds more; it holds no lock meanwhile. */
export const slowChanges = (sql: Sql, seconds: number) =>
  sql.unsafe(`
    create or replace function slow_change() returns trigger language plpgsql as
      $$ begin perform pg_sleep(${seconds}); return null; end $$;
    create or replace trigger slow_change before update on locations for each statement execute function slow_change()`)
