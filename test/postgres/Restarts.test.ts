import { assert, describe } from "@effect/vitest"
import { Effect, FileSystem, Logger, Option, Path, References, Schedule } from "effect"
import { readFileSync } from "node:fs"
import * as EmbeddedPostgres from "../../src/postgres/EmbeddedPostgres.ts"
import * as SocketDirectory from "../../src/postgres/SocketDirectory.ts"
import { eventually } from "../support/Until.ts"
import { assertKept, awaitEnd, isAlive, query, session, test, usedPath, write } from "./Servers.ts"

/** Runs an effect with the lines it logs. */
const logged = <A, E, R>(use: (lines: ReadonlyArray<{ level: string; text: string }>) => Effect.Effect<A, E, R>) => {
  const lines: Array<{ level: string; text: string }> = []
  const collect = Logger.make(({ logLevel, message }) => void lines.push({ level: logLevel, text: String(message) }))
  return use(lines).pipe(
    Effect.provide(Logger.layer([collect])),
    Effect.provideService(References.MinimumLogLevel, "Debug")
  )
}

const keptAgain = (server: EmbeddedPostgres.Server) =>
  assertKept(server).pipe(Effect.retry(Schedule.spaced("50 millis")), Effect.timeout("4 minutes"))

/** The shell that supervises the server. */
const guardOf = ({ pid }: EmbeddedPostgres.Server) =>
  Number(
    readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ")[1]
  )

describe.concurrent("restarts of the embedded PostgreSQL", () => {
  test(
    "a killed server is restarted on the same socket, and the restart is logged",
    logged(
      Effect.fnUntraced(function* (lines) {
        const dataDir = yield* usedPath
        const errors = () => lines.filter(({ level }) => level === "Error").map(({ text }) => text)
        yield* session(
          dataDir,
          Effect.fnUntraced(function* (server) {
            yield* write(server)
            for (let kills = 1; kills <= 2; kills++) {
              const other = yield* EmbeddedPostgres.start({ dataDir })
              process.kill(other.pid, "SIGKILL")
              yield* awaitEnd(other.pid)
              yield* keptAgain(server)
              assert.strictEqual(errors().length, kills)
              assert.include(errors()[kills - 1], "while it was in use")
            }
          })
        )
        yield* session(dataDir, assertKept)
      })
    )
  )

  test(
    "a restart is retried with growing pauses while the shared memory is in use, and logged after some seconds",
    logged(
      Effect.fnUntraced(function* (lines) {
        const dataDir = yield* usedPath
        const count = (text: string) => lines.filter((line) => line.text.includes(text)).length
        yield* session(
          dataDir,
          Effect.fnUntraced(function* (server) {
            yield* write(server)
            const [orphan] = yield* query<{ pid: number }>(
              server,
              "select pid from pg_stat_activity where backend_type = 'checkpointer'"
            )
            yield* Effect.addFinalizer(() => Effect.ignore(Effect.try(() => process.kill(orphan!.pid, "SIGKILL"))))
            process.kill(orphan!.pid, "SIGSTOP")
            process.kill(server.pid, "SIGKILL")
            yield* eventually(
              "a start fails",
              Effect.sync(() => count("pre-existing shared memory block")),
              (fails) => fails > 0
            )
            yield* Effect.sleep("3 seconds")
            assert.isAtMost(count("pre-existing shared memory block"), 8)
            yield* eventually(
              "that is logged",
              Effect.sync(() => count("another process uses that directory")),
              (lines) => lines === 1
            )
            process.kill(orphan!.pid, "SIGKILL")
            yield* keptAgain(server)
            assert.strictEqual(count("while it was in use"), 1)
            assert.strictEqual(count("another process uses that directory"), 1)
          })
        )
      })
    )
  )

  test(
    "a server is restarted when its guard was killed, too",
    Effect.gen(function* () {
      const dataDir = yield* usedPath
      yield* session(
        dataDir,
        Effect.fnUntraced(function* (server) {
          yield* write(server)
          process.kill(guardOf(server), "SIGKILL")
          process.kill(server.pid, "SIGKILL")
          yield* awaitEnd(server.pid)
          yield* keptAgain(server)
        })
      )
    })
  )

  test(
    "a server whose guard was killed is replaced by a guarded one",
    Effect.gen(function* () {
      const dataDir = yield* usedPath
      const second = yield* session(
        dataDir,
        Effect.fnUntraced(function* (server) {
          yield* write(server)
          process.kill(guardOf(server), "SIGKILL")
          yield* awaitEnd(server.pid)
          yield* keptAgain(server)
          return yield* EmbeddedPostgres.start({ dataDir })
        })
      )
      assert.isFalse(yield* isAlive(second.pid))
    })
  )
})

test(
  "an existing socket directory is used only when this account owns it and others cannot access it",
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
    const at = (name: string) => path.join(folder, name)
    const outcome = (name: string) => Effect.isSuccess(SocketDirectory.again(at(name), Option.none()))
    yield* fs.makeDirectory(at("closed"), { mode: 0o700 })
    yield* fs.makeDirectory(at("open"))
    yield* fs.chmod(at("open"), 0o755)
    yield* fs.symlink(at("closed"), at("link"))
    yield* fs.writeFileString(at("file"), "")
    yield* fs.chmod(at("file"), 0o700)
    const outcomes = yield* Effect.all(["new", "closed", "open", "link", "file"].map(outcome))
    assert.deepStrictEqual(outcomes, [true, true, false, false, false])
    assert.strictEqual((yield* fs.stat(at("new"))).mode & 0o777, 0o700)
    if (process.getuid?.() !== 0) return
    yield* fs.chown(at("closed"), 12_345, 12_345)
    assert.isFalse(yield* outcome("closed"))
  })
)
