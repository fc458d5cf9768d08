import { NodeServices } from "@effect/platform-node"
import { Effect, Exit, Scope } from "effect"
import { join } from "node:path"
import postgres, { type Sql } from "postgres"
import { seed, uuids } from "../../scripts/bench/database.ts"
import * as ApiKeySecret from "../../src/domain/ApiKeySecret.ts"
import * as EmbeddedPostgres from "../../src/postgres/EmbeddedPostgres.ts"
import * as Process from "../support/Process.ts"

/** A key that opens everything. */
export const key = ApiKeySecret.format(new Uint8Array(16).fill(11), new Uint8Array(32).fill(13)).key

export const headers = { authorization: key, "content-type": "application/json" }

/** The service as a process of its own, on a data folder of its own, with a line to its embedded database. */
export interface Running extends AsyncDisposable {
  readonly service: Process.Service
  readonly url: string
  readonly pid: number
  readonly folder: string
  /** Connections beside those of the service. */
  readonly sql: Sql
  /** Sends a request; what came back, its body read. */
  readonly call: (method: string, path: string, body?: unknown) => Promise<Called>
  /** SIGTERM, and the exit code. */
  readonly stop: () => Promise<number | null>
}

export interface Called {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- the proofs look inside
  readonly body: any
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const callTo =
  (url: string): Running["call"] =>
  async (method, path, body) => {
    const sent = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }
    const response = await fetch(`${url}${path}`, { method, headers, ...sent })
    const text = await response.text()
    return { status: response.status, headers: response.headers, text, body: parse(text) }
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

export const start = async (values: Readonly<Record<string, string>> = {}): Promise<Running> => {
  const { folder, remove } = Process.dataFolder()
  const service = await Process.start({ DATA_DIR: folder, BOOTSTRAP_API_KEY: key, ...values })
  const sql = postgres({ ...(await socketOf(folder)), max: 2, onnotice: () => undefined })
  const stop = () => {
    service.process.kill("SIGTERM")
    return service.exited
  }
  return {
    service,
    url: service.url,
    pid: service.process.pid!,
    folder,
    sql,
    call: callTo(service.url),
    stop,
    [Symbol.asyncDispose]: async () => {
      await sql.end({ timeout: 1 })
      const late = setTimeout(() => service.process.kill("SIGKILL"), 30_000)
      await stop()
      clearTimeout(late)
      remove()
    }
  }
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
