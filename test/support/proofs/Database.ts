import { NodeServices } from "@effect/platform-node"
import { PgConnection } from "@effect/sql-pg"
import { Deferred, Effect, Exit, Option, Redacted, Scope } from "effect"
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as DataDirectory from "../../../src/postgres/DataDirectory.ts"
import * as NativeBinaries from "../../../src/postgres/NativeBinaries.ts"
import * as Postmaster from "../../../src/postgres/Postmaster.ts"
import * as Subprocess from "../../../src/postgres/Subprocess.ts"
import { endWithUs } from "../Children.ts"
import * as Process from "../Process.ts"
import { copyDirectory, giveTo } from "./BaseBackup.ts"
import { until } from "../Until.ts"

export { until } from "../Until.ts"

/** A separate session, which can hold locks. */
export interface Session {
  readonly query: <A>(statement: string) => Promise<ReadonlyArray<A>>
  readonly close: () => Promise<void>
}

/** A backend with a connection of the service. */
export interface Backend {
  readonly pid: number
  readonly state: string
  readonly query: string
  readonly waits: string | null
}

/** An external PostgreSQL with default durability, which a proof stops, kills and freezes. */
export interface Database {
  readonly url: string
  /** The account PostgreSQL runs as; none if it is the account of this process. */
  readonly account: Option.Option<Subprocess.Account>
  /** The folder around the data directory. */
  readonly folder: string
  /** Waits until it accepts connections; returns that moment of `performance.now()`. */
  readonly start: () => Promise<number>
  /** Sends the signal to the postmaster and waits until it has exited. */
  readonly stop: (signal: NodeJS.Signals) => Promise<void>
  readonly postmaster: () => number
  readonly session: () => Promise<Session>
  readonly query: Session["query"]
  /** The connections of the service. */
  readonly backends: () => Promise<ReadonlyArray<Backend>>
  /** The server log. */
  readonly log: () => string
  readonly remove: () => Promise<void>
}

const run = <A, E>(effect: Effect.Effect<A, E, NodeServices.NodeServices>) =>
  Effect.runPromise(Effect.provide(effect, NodeServices.layer))

const connect = async (url: string): Promise<Session> => {
  const scope = Scope.makeUnsafe()
  const made = PgConnection.make({ url: Redacted.make(url), applicationName: "proof" })
  const connection = await run(Scope.provide(made, scope))
  return {
    query: <A>(statement: string) =>
      run(Effect.map(connection.query(statement), ({ rows }) => rows as ReadonlyArray<A>)),
    close: () => run(Scope.close(scope, Exit.void))
  }
}

/** How the data directory of a server comes to be. */
type Prepare = (data: DataDirectory.DataDirectory, binaries: NativeBinaries.NativeBinaries) => Promise<void>

/** A directory with the tables of the service, if the tests have one to copy. */
export const migrated: Prepare = (data, binaries) =>
  Process.hasMigratedDatabase() ? Promise.resolve(Process.copyDatabase(data.directory)) : empty(data, binaries)

const empty: Prepare = (data, binaries) => run(DataDirectory.prepare(data, binaries, false))

/** Whether a `postmaster.pid` says that the server accepts connections, as a primary or as a standby. */
const accepts = (content: string) => /\n(?:ready|standby)\s*$/.test(content)

/** Creates a server and starts it. */
export const make = async (
  settings: Readonly<Record<string, string>> = {},
  prepare: Prepare = empty
): Promise<Database> => {
  const { folder, remove } = Process.dataFolder()
  const data = await run(DataDirectory.locate(join(folder, "postgres")))
  const { account, directory } = data
  // The folders the service uses.
  const cache = Option.isSome(account) ? "/var/cache/waypost" : join(folder, "postgres-binaries")
  const binaries = await run(NativeBinaries.prepare(account, cache))
  await prepare(data, binaries)
  const port = await Process.freePort()
  const url = `postgres://${DataDirectory.username}@127.0.0.1:${port}/postgres`
  const file = join(folder, "postgres.log")
  const parameters = Object.entries({
    port: String(port),
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    ...settings
  }).flatMap(([name, value]) => ["-c", `${name}=${value}`])

  let server: Subprocess.Subprocess | undefined
  const forget = endWithUs(() => server?.child.kill("SIGQUIT"))
  const isReady = async () => {
    const postmaster = await run(Postmaster.read(directory))
    return Option.exists(postmaster, ({ content, pid }) => accepts(content) && pid === server?.child.pid)
  }
  const start = () =>
    until("PostgreSQL started", async () => {
      // After kill -9 the shared memory of the old server stays in use until its last backend has exited.
      if (server === undefined || server.child.exitCode !== null || server.child.signalCode !== null) {
        const log = openSync(file, "a")
        const stdio = ["ignore", "ignore", log] as const
        const parameter = ["-D", directory, ...parameters]
        server = await run(
          Subprocess.spawn(binaries.postgres, parameter, account, { detached: false, stdio: [...stdio] })
        )
        closeSync(log)
      }
      return (await isReady()) && performance.now()
    })
  const postmaster = () => server!.child.pid!
  const stop = async (signal: NodeJS.Signals) => {
    if (server === undefined) return
    process.kill(postmaster(), signal)
    await run(Deferred.await(server.exited))
  }

  await start()
  let own = await connect(url)
  const query = async <A>(statement: string) => {
    const rows = await own.query<A>(statement).catch(() => undefined)
    if (rows !== undefined) return rows
    // The connection broke: the server was restarted.
    await own.close()
    own = await connect(url)
    return own.query<A>(statement)
  }
  return {
    url,
    account,
    folder,
    start,
    stop,
    postmaster,
    query,
    session: () => connect(url),
    backends: () =>
      query<Backend>(
        `select pid, state, query, wait_event_type as waits from pg_stat_activity
          where application_name = 'waypost' and backend_type = 'client backend' order by pid`
      ),
    log: () => readFileSync(file, "utf8"),
    remove: async () => {
      await own.close()
      if (server?.child.exitCode === null && server.child.signalCode === null) await stop("SIGINT")
      forget()
      remove()
    }
  }
}

/** A streaming replica of a server, from a base backup that is taken now. */
export const standbyOf = (primary: Database, settings: Readonly<Record<string, string>> = {}): Promise<Database> => {
  const { port } = new URL(primary.url)
  return make(
    { primary_conninfo: `host=127.0.0.1 port=${port} user=${DataDirectory.username}`, ...settings },
    async ({ account, directory }) => {
      const session = await primary.session()
      await session.query("select pg_backup_start('standby', true)::text")
      copyDirectory(join(primary.folder, "postgres"), directory)
      const [end] = await session.query<{ readonly labelfile: string }>("select labelfile from pg_backup_stop(false)")
      await session.close()
      writeFileSync(join(directory, "backup_label"), end!.labelfile)
      writeFileSync(join(directory, "standby.signal"), "")
      mkdirSync(join(directory, "pg_wal"), { recursive: true, mode: 0o700 })
      if (Option.isSome(account)) giveTo(directory, account.value)
    }
  )
}
