import { NodeServices } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Effect, FileSystem, Path, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import * as EmbeddedPostgres from "../../src/postgres/EmbeddedPostgres.ts"
import { compileCache, copyDatabase } from "../support/Process.ts"
import { eventually } from "../support/Until.ts"

type Services = FileSystem.FileSystem | Path.Path | Scope.Scope

export const test = <E>(title: string, effect: Effect.Effect<void, E, Services>) =>
  it.live(title, () => effect.pipe(Effect.scoped, Effect.provide(NodeServices.layer)))

export const isRoot = process.getuid?.() === 0

/** A path that does not exist yet, in a folder that the account of PostgreSQL can reach. */
export const emptyPath = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* fs.makeTempDirectoryScoped({ prefix: "waypost-test-" })
  yield* fs.chmod(folder, 0o755)
  return path.join(yield* fs.realPath(folder), "postgres")
})

/** A path with the data directory of a server that has stopped. */
export const usedPath = Effect.tap(emptyPath, (dataDir) => Effect.sync(() => copyDatabase(dataDir)))

export const query = <A extends object>({ database, socket, username }: EmbeddedPostgres.Server, statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<A>(statement)).pipe(
    Effect.provide(PgClient.layer({ path: socket, username, database }))
  )

export const write = (server: EmbeddedPostgres.Server) =>
  query(server, "create table if not exists note as select 'kept' as text")

export const assertKept = Effect.fnUntraced(function* (server: EmbeddedPostgres.Server) {
  assert.deepStrictEqual(yield* query<{ text: string }>(server, "select text from note"), [{ text: "kept" }])
})

export const show = (server: EmbeddedPostgres.Server, setting: string) =>
  Effect.map(query<Record<string, string>>(server, `show ${setting}`), ([row]) => row?.[setting])

/** Starts, uses and stops a server. */
export const session = <A, E, R>(dataDir: string, use: (server: EmbeddedPostgres.Server) => Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.flatMap(EmbeddedPostgres.start({ dataDir }), use))

export const isAlive = (pid: number) =>
  Effect.try({ try: () => process.kill(pid, 0), catch: () => "gone" as const }).pipe(Effect.orElseSucceed(() => false))

export const awaitEnd = (pid: number) => eventually(`process ${pid} ends`, isAlive(pid), (alive) => !alive)

export const child = (start: () => ChildProcess) =>
  Effect.acquireRelease(Effect.sync(start), (child) => Effect.sync(() => child.kill("SIGKILL")))

/** A process that starts or attaches to the server in the directory. It leads a process group, as in a terminal. */
export const otherProcess = Effect.fnUntraced(function* (dataDir: string, ...drains: ReadonlyArray<"drains">) {
  const owner = yield* child(() =>
    spawn(process.execPath, [`${import.meta.dirname}/owner.ts`, dataDir, ...drains], {
      detached: true,
      env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
      stdio: ["ignore", "pipe", "inherit"]
    })
  )
  const ended = once(owner, "exit")
  const [line] = yield* Effect.promise(() => once(owner.stdout!.setEncoding("utf8"), "data"))
  const server: EmbeddedPostgres.Server = JSON.parse(line)
  // Otherwise its shutdown would write into a folder that is being removed.
  yield* Effect.addFinalizer(() => {
    if (server.attached) return Effect.void
    owner.kill("SIGKILL")
    return Effect.ignore(awaitEnd(server.pid))
  })
  return { server, pid: owner.pid!, kill: owner.kill.bind(owner), ended: Effect.promise(() => ended) }
})
