import { NodeServices } from "@effect/platform-node"
import { afterAll, assert, beforeAll, describe } from "@effect/vitest"
import { Effect, Exit, Fiber, FileSystem, Logger, Path, Schedule } from "effect"
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import * as EmbeddedPostgres from "../../src/postgres/EmbeddedPostgres.ts"
import { compileCache, copyDatabase, dataFolder } from "../support/Process.ts"
import { eventually } from "../support/Until.ts"
import {
  test,
  isRoot,
  emptyPath,
  usedPath,
  query,
  write,
  assertKept,
  show,
  session,
  isAlive,
  awaitEnd,
  child,
  otherProcess
} from "./Servers.ts"

/** Writes a stale pid file, as a crash leaves it, that names a process as the server. */
const leavePidFile = Effect.fnUntraced(function* (dataDir: string, pid: number, state: string) {
  const fs = yield* FileSystem.FileSystem
  const file = `${dataDir}/postmaster.pid`
  yield* fs.writeFileString(file, `${pid}\n${dataDir}\n1700000000\n5432\n/tmp/waypost-gone\n\n 5432001 0\n${state}\n`)
  const { gid, uid } = process.getuid === undefined ? { gid: 0, uid: 0 } : yield* ownerOf(dataDir)
  yield* fs.chown(file, uid, gid)
})

const ownerOf = Effect.fnUntraced(function* (dataDir: string) {
  const fs = yield* FileSystem.FileSystem
  const { gid, uid } = yield* fs.stat(dataDir)
  return { gid: yield* Effect.fromOption(gid), uid: yield* Effect.fromOption(uid) }
})

/** The folder of a data directory with a row, for all tests that begin with one. */
const written = dataFolder()

/** Three starts at once on an empty path, a query, and what the last stop leaves. */
const firstStarts = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const dataDir = yield* emptyPath
  const start = EmbeddedPostgres.start({ dataDir })
  const begun = yield* Effect.gen(function* () {
    const servers = yield* Effect.all([start, start, start], { concurrency: "unbounded" })
    const server = servers.find(({ attached }) => !attached)!
    const { mode } = yield* fs.stat(path.dirname(server.socket))
    return { servers, server, mode, rows: yield* query(server, "select 1 as one") }
  }).pipe(Effect.scoped)
  return {
    ...begun,
    names: yield* fs.readDirectory(path.dirname(dataDir)),
    hasSocket: yield* fs.exists(path.dirname(begun.server.socket)),
    isRunning: yield* isAlive(begun.server.pid)
  }
}).pipe(Effect.scoped)
let first: Effect.Success<typeof firstStarts>

beforeAll(async () => {
  const dataDir = join(written.folder, "postgres")
  copyDatabase(dataDir)
  const [found] = await Effect.runPromise(
    Effect.all([firstStarts, session(dataDir, write)], { concurrency: "unbounded" }).pipe(
      Effect.provide(NodeServices.layer)
    )
  )
  first = found
})
afterAll(written.remove)

/** A path with the data directory of a server that has written a row and stopped. */
const writtenPath = Effect.tap(emptyPath, (dataDir) =>
  Effect.sync(() => execFileSync("cp", ["-a", join(written.folder, "postgres"), dataDir]))
)

describe.concurrent("EmbeddedPostgres", () => {
  test(
    "starts on an empty path, serves queries, and leaves no process or socket behind",
    Effect.gen(function* () {
      const { hasSocket, isRunning, mode, names, rows } = first
      assert.deepStrictEqual(rows, [{ one: 1 }])
      assert.strictEqual(mode & 0o777, 0o700)
      assert.deepStrictEqual([hasSocket, isRunning], [false, false])
      assert.deepStrictEqual(names, ["postgres"])
    })
  )

  test(
    "keeps written rows across a restart",
    Effect.flatMap(writtenPath, (dataDir) => session(dataDir, assertKept))
  )

  test(
    "is durable and listens on a socket only, and accepts settings for the rest",
    Effect.gen(function* () {
      const dataDir = yield* usedPath
      yield* session(
        dataDir,
        Effect.fnUntraced(function* (server) {
          assert.deepStrictEqual(
            yield* Effect.all(["fsync", "max_connections", "shared_buffers"].map((name) => show(server, name))),
            ["on", "200", "128MB"]
          )
        })
      )
      const settings = { max_connections: "17", fsync: "off", listen_addresses: "*" }
      const server = yield* EmbeddedPostgres.start({ dataDir, settings })
      assert.deepStrictEqual(
        yield* Effect.all(["fsync", "max_connections", "listen_addresses"].map((name) => show(server, name))),
        ["off", "17", ""]
      )
    })
  )

  test(
    "attaches a second process to the running server, which keeps running when that process stops",
    Effect.gen(function* () {
      const dataDir = yield* usedPath
      const server = yield* EmbeddedPostgres.start({ dataDir })
      const other = yield* otherProcess(dataDir)
      assert.deepStrictEqual(other.server, { ...server, attached: true })
      other.kill("SIGTERM")
      yield* other.ended
      assert.deepStrictEqual(yield* query(server, "select 1 as one"), [{ one: 1 }])
    })
  )

  test(
    "two processes that start concurrently on an empty path share one server",
    Effect.gen(function* () {
      const dataDir = yield* emptyPath
      const [one, two] = yield* Effect.all([otherProcess(dataDir), otherProcess(dataDir)], { concurrency: "unbounded" })
      assert.strictEqual(one.server.pid, two.server.pid)
      assert.sameMembers([one.server.attached, two.server.attached], [true, false])
    })
  )

  test(
    "concurrent starts in one process share one server",
    Effect.sync(() => {
      const { servers } = first
      assert.strictEqual(new Set(servers.map(({ pid }) => pid)).size, 1)
      assert.sameMembers(
        servers.map(({ attached }) => attached),
        [true, true, false]
      )
    })
  )

  test(
    "stops the server when its owner is killed, and starts again",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const dataDir = yield* usedPath
      const owner = yield* otherProcess(dataDir)
      yield* write(owner.server)
      owner.kill("SIGKILL")
      yield* awaitEnd(owner.server.pid)
      yield* session(dataDir, assertKept)
      assert.isFalse(yield* fs.exists(path.dirname(owner.server.socket)))
    })
  )

  test(
    "waits for a server that is still stopping, and starts its own",
    Effect.gen(function* () {
      const dataDir = yield* usedPath
      const owner = yield* otherProcess(dataDir)
      yield* write(owner.server)
      owner.kill("SIGKILL")
      const server = yield* Effect.retry(
        EmbeddedPostgres.start({ dataDir }).pipe(
          Effect.filterOrFail(
            ({ attached }) => !attached,
            () => "The server is still running" as const
          )
        ),
        { schedule: Schedule.spaced("5 millis") }
      )
      assert.notStrictEqual(server.pid, owner.server.pid)
      yield* assertKept(server)
    })
  )

  test(
    "recovers at once from a killed server whose backends are still ending",
    Effect.gen(function* () {
      const dataDir = yield* usedPath
      const owner = yield* otherProcess(dataDir)
      yield* write(owner.server)
      process.kill(owner.server.pid, "SIGKILL")
      owner.kill("SIGKILL")
      yield* awaitEnd(owner.server.pid)
      yield* session(dataDir, assertKept)
    })
  )

  for (const state of ["ready", "starting", "stopping", ""]) {
    test(
      `recovers from a pid file in state "${state}" that names an unrelated live process`,
      Effect.gen(function* () {
        const dataDir = yield* writtenPath
        // Run as the account of the server, otherwise PostgreSQL itself would detect the stale file.
        const identity = yield* ownerOf(dataDir)
        const unrelated = yield* child(() => spawn("sleep", ["3600"], { ...identity, stdio: "ignore" }))
        yield* leavePidFile(dataDir, unrelated.pid!, state)
        yield* session(dataDir, assertKept)
        assert.isTrue(yield* isAlive(unrelated.pid!))
      })
    )
  }

  test(
    "recovers from a pid file that names a dead process",
    Effect.gen(function* () {
      const dataDir = yield* writtenPath
      const dead = yield* child(() => spawn("true", { stdio: "ignore" }))
      yield* Effect.promise(() => once(dead, "exit"))
      yield* leavePidFile(dataDir, dead.pid!, "ready")
      yield* session(dataDir, assertKept)
    })
  )

  test(
    "recovers from an empty pid file",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const dataDir = yield* writtenPath
      yield* fs.writeFileString(`${dataDir}/postmaster.pid`, "")
      yield* session(dataDir, assertKept)
    })
  )

  test(
    "ignores the Ctrl-C that its owner receives, and stops when the owner has drained",
    Effect.gen(function* () {
      const dataDir = yield* usedPath
      const owner = yield* otherProcess(dataDir, "drains")
      process.kill(-owner.pid, "SIGINT")
      yield* Effect.sleep("500 millis")
      assert.deepStrictEqual(yield* query(owner.server, "select 1 as one"), [{ one: 1 }])
      owner.kill("SIGUSR2")
      yield* owner.ended
      yield* awaitEnd(owner.server.pid)
    })
  )

  test(
    "removes the leftovers of an interrupted or killed first start",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const dataDir = yield* emptyPath
      const names = Effect.orElseSucceed(fs.readDirectory(path.dirname(dataDir)), () => [])
      const initialising = Effect.repeat(names, {
        until: (names) => names.length > 0,
        schedule: Schedule.spaced("5 millis")
      })
      const starting = yield* Effect.forkChild(Effect.scoped(EmbeddedPostgres.start({ dataDir })))
      yield* initialising
      yield* Fiber.interrupt(starting)
      assert.deepStrictEqual(yield* names, [])
      const killed = yield* child(() =>
        spawn(process.execPath, [`${import.meta.dirname}/owner.ts`, dataDir], {
          env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
          stdio: "ignore"
        })
      )
      yield* initialising
      killed.kill("SIGKILL")
      yield* awaitEnd(killed.pid!)
      // What the killed one began may write for a while.
      yield* eventually(
        "a start leaves nothing but the database",
        Effect.andThen(
          session(dataDir, () => Effect.void),
          names
        ),
        (left) => left.join() === "postgres"
      )
    })
  )

  test(
    "rejects a database of another major version and names both versions",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const dataDir = yield* usedPath
      yield* fs.writeFileString(`${dataDir}/PG_VERSION`, "17\n")
      const error = yield* Effect.flip(Effect.scoped(EmbeddedPostgres.start({ dataDir })))
      assert.include(error.message, "PostgreSQL 17")
      assert.include(error.message, "PostgreSQL 18")
      assert.include(error.message, "DATABASE_URL")
    })
  )

  test(
    "rejects a directory with other files and leaves it unchanged",
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const dataDir = yield* emptyPath
      yield* fs.makeDirectory(dataDir)
      yield* fs.writeFileString(`${dataDir}/thesis.txt`, "precious")
      const error = yield* Effect.flip(Effect.scoped(EmbeddedPostgres.start({ dataDir })))
      assert.include(error.message, "holds other files")
      assert.deepStrictEqual(yield* fs.readDirectory(dataDir), ["thesis.txt"])
    })
  )

  test(
    "reports the error of the operating system when the directory cannot be made",
    Effect.gen(function* () {
      const dataDir = "/dev/null/data/postgres"
      const error = yield* Effect.flip(EmbeddedPostgres.start({ dataDir }))
      assert.include(error.message, `PostgreSQL could not be started on ${dataDir}: ENOTDIR: not a directory, `)
    })
  )

  test(
    "reports the error of PostgreSQL when it does not start",
    Effect.gen(function* () {
      const dataDir = yield* usedPath
      const exit = yield* Effect.exit(
        Effect.scoped(EmbeddedPostgres.start({ dataDir, settings: { shared_buffers: "plenty" } }))
      )
      assert.isTrue(Exit.isFailure(exit))
      assert.include(JSON.stringify(exit), "shared_buffers")
    })
  )

  if (isRoot) {
    test(
      "stores the database in /var/lib/waypost when its account cannot reach the data folder of root, and warns at each start",
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const path = yield* Path.Path
        const warnings: Array<string> = []
        const collect = Logger.make(
          ({ logLevel, message }) => void (logLevel === "Warn" && warnings.push(String(message)))
        )
        const logging = Effect.provide(Logger.layer([collect]))
        const dataDir = yield* emptyPath
        yield* fs.chmod(path.dirname(dataDir), 0o700)
        const moved = yield* session(
          dataDir,
          Effect.fnUntraced(function* (server) {
            yield* write(server)
            return (yield* show(server, "data_directory")) ?? ""
          })
        ).pipe(logging)
        yield* Effect.addFinalizer(() => Effect.ignore(fs.remove(moved, { recursive: true })))
        assert.match(moved, /^\/var\/lib\/waypost\/postgres-[0-9a-f]{12}$/)
        yield* session(dataDir, assertKept).pipe(logging)
        // Opening the folder later must not create a second, empty database.
        yield* fs.chmod(path.dirname(dataDir), 0o755)
        yield* session(dataDir, assertKept).pipe(logging)
        const warning = `The database is in ${moved} and not in ${dataDir}, `
        assert.deepStrictEqual(
          warnings.map((line) => line.slice(0, warning.length)),
          [warning, warning, warning]
        )
      })
    )
  }
})
