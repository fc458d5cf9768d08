import { NodeServices } from "@effect/platform-node"
import { Effect, Exit, Scope } from "effect"
import { join } from "node:path"
import postgres, { type Sql } from "postgres"
import { seed, uuids } from "../Databases.ts"
import * as EmbeddedPostgres from "../../../src/postgres/EmbeddedPostgres.ts"
import * as Service from "../Service.ts"

export { callTo, headers, key } from "../Service.ts"

/** The service in its own process and data folder, with connections to its embedded database. */
export interface Running extends Service.Service {
  readonly service: Service.Service
  /** Connections to the database, in addition to those of the service. */
  readonly sql: Sql
}

/** The connection parameters of the embedded database of a running service. */
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

/** Creates locations and returns their uuids. */
export const locations = async (sql: Sql, count: number): Promise<ReadonlyArray<string>> => {
  await seed(sql, count)
  return uuids(sql, count)
}

/** Delays each update of a location by some seconds from now on; the delay holds no lock. */
export const slowChanges = (sql: Sql, seconds: number) =>
  sql.unsafe(`
    create or replace function slow_change() returns trigger language plpgsql as
      $$ begin perform pg_sleep(${seconds}); return null; end $$;
    create or replace trigger slow_change before update on locations for each statement execute function slow_change()`)

/** How many connections to the database the service has open. */
export const backendsOf = async ({ sql }: Pick<Running, "sql">): Promise<number> => {
  const [row] = await sql`select count(*)::int as open from pg_stat_activity where application_name = 'waypost'`
  return Number(row!["open"])
}
