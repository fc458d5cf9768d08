import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Deferred, Effect, Exit, Layer, Schedule, Stdio, Stream } from "effect"
import { HttpServer } from "effect/http"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { writeSync } from "node:fs"
import { createServer } from "node:http"
import { fileURLToPath } from "node:url"
import { processesOf, Settings } from "../settings/Config.ts"
import { PublicUrl } from "../settings/PublicUrl.ts"
import { ApiKeys as Repository } from "../repositories/keys/ApiKeys.ts"
import { Database, Sql } from "../sql/Sql.ts"
import { ApiKeys } from "../services/ApiKeys.ts"
import { WorkerEndedError } from "./WorkerEndedError.ts"
import * as Startup from "./Startup.ts"
import * as Stop from "./Stop.ts"

const entry = fileURLToPath(new URL("../worker.ts", import.meta.url))

/** Where a worker tells that it serves. */
const readyFd = 3

/** Told by a worker once it serves. */
export const ready = Layer.effectDiscard(Effect.sync(() => void writeSync(readyFd, "ready\n")))

/** In a worker, the database of the process that started it. */
export const database = Layer.unwrap(
  Effect.map(
    Effect.flatMap(Stdio.Stdio, ({ args }) => args),
    ([socket]) => Startup.databaseAt(socket)
  )
)

/** Ends in a worker when the process that started it has gone, however it went. */
export const abandoned = Effect.flatMap(Stdio.Stdio, ({ stdin }) => Effect.ignore(Stream.runDrain(stdin)))

/** The port of the settings, or a free one. It is asked for alone: shared, a stranger on it would go unnoticed. */
const takePort = Effect.gen(function* () {
  const { HOST: host, PORT: port } = yield* Settings
  const { address } = yield* Effect.provide(
    HttpServer.HttpServer,
    NodeHttpServer.layer(() => createServer(), { host, port })
  )
  return "port" in address ? address.port : port
})

/** A stop is a failed one when a worker did not end well. One that was not yet listening to SIGTERM ended by it. */
const judge = (child: ChildProcessSpawner.ChildProcessHandle) =>
  Effect.match(child.exitCode, {
    onFailure: ({ cause }) => String(cause).includes("SIGTERM"),
    onSuccess: (code) => code === 0
  }).pipe(
    Effect.map((well) => {
      if (!well) process.exitCode = 1
    })
  )

/** A worker, until it ends. */
const work = Effect.fnUntraced(function* (port: number, served: Deferred.Deferred<void, WorkerEndedError>) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const { path } = yield* Database
  const spawned = yield* Deferred.make<ChildProcessSpawner.ChildProcessHandle>()
  yield* Effect.addFinalizer((exit) =>
    Exit.hasInterrupts(exit) && Deferred.isDoneUnsafe(spawned)
      ? Effect.flatMap(Deferred.await(spawned), judge)
      : Effect.void
  )
  const child = yield* spawner.spawn(
    ChildProcess.make(process.execPath, [...process.execArgv, entry, ...(path === undefined ? [] : [path])], {
      env: { PORT: String(port) },
      extendEnv: true,
      stdin: { stream: Stream.never },
      stdout: "inherit",
      stderr: "inherit",
      additionalFds: { [`fd${readyFd}`]: { type: "output" } },
      killSignal: "SIGTERM",
      // It ends by itself before that.
      forceKillAfter: `${yield* Stop.afterDraining(Stop.workerSeconds)} seconds`
    })
  )
  yield* Deferred.succeed(spawned, child)
  yield* Effect.forkScoped(
    Stream.runForEach(child.getOutputFd(readyFd), () => Deferred.succeed(served, undefined)).pipe(Effect.ignore)
  )
  return yield* child.exitCode
}, Effect.scoped)

/** Another worker in the place of every one that ends. */
const keep = Effect.fnUntraced(
  function* (name: number, port: number, served: Deferred.Deferred<void, WorkerEndedError>) {
    const ended = yield* work(port, served).pipe(
      Effect.match({ onFailure: (error) => error.message, onSuccess: (code) => `exit code ${code}` })
    )
    const message = `Worker ${name} ended with ${ended}`
    if (!(yield* Deferred.isDone(served))) yield* Deferred.fail(served, new WorkerEndedError({ message }))
    yield* Effect.logError(`${message}; another one takes its place`)
  },
  Effect.repeat(Schedule.spaced("1 second"))
)

/** `WORKERS` processes that share the port. They end before this scope does, all at the same time. */
const start = Effect.gen(function* () {
  const processes = processesOf(yield* Settings)
  const port = yield* Effect.scoped(takePort)
  const workers = yield* Effect.forEach(
    Array.from({ length: processes }, (_, index) => index + 1),
    (name) => Effect.map(Deferred.make<void, WorkerEndedError>(), (served) => ({ name, served }))
  )
  yield* Effect.forkScoped(
    Effect.forEach(workers, ({ name, served }) => keep(name, port, served), { concurrency: "unbounded" })
  )
  yield* Effect.forEach(workers, ({ served }) => Deferred.await(served))
  // Needs the database only this once.
  yield* Effect.scoped(Layer.build(Startup.announce.pipe(Layer.provide(PublicUrl.layerOf(port)), Layer.provide(keys))))
})

const keys = ApiKeys.layer.pipe(Layer.provide(Repository.layer), Layer.provide(Sql.layer))

/** The workers; it is announced once all of them serve. */
export const layer = Layer.effectDiscard(start)
