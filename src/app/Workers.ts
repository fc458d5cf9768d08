import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Deferred, Effect, Exit, Layer, Schedule, Stdio, Stream } from "effect"
import { HttpServer } from "effect/http"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { writeSync } from "node:fs"
import { createServer } from "node:http"
import { programOf } from "../settings/Installation.ts"
import { processesOf, Settings } from "../settings/Config.ts"
import { PublicUrl } from "../settings/PublicUrl.ts"
import { ApiKeys as Repository } from "../repositories/keys/ApiKeys.ts"
import { Database, Sql } from "../sql/Sql.ts"
import { ApiKeys } from "../services/ApiKeys.ts"
import { WorkerEndedError } from "./WorkerEndedError.ts"
import * as StandardOutput from "./StandardOutput.ts"
import * as Startup from "./Startup.ts"
import * as Stop from "./Stop.ts"

const entry = programOf("worker")

/** The file descriptor on which a worker reports that it serves. */
const readyFd = 3

/** Reports to the supervisor that this worker serves. */
export const ready = Layer.effectDiscard(Effect.sync(() => void writeSync(readyFd, "ready\n")))

/** The database of a worker: that of the supervisor. */
export const database = Layer.unwrap(
  Effect.map(
    Effect.flatMap(Stdio.Stdio, ({ args }) => args),
    ([socket]) => Startup.databaseAt(socket)
  )
)

/** Completes in a worker when the supervisor ends, even by SIGKILL. */
export const supervisorEnded = Effect.flatMap(Stdio.Stdio, ({ stdin }) => Effect.ignore(Stream.runDrain(stdin)))

/**
 * The configured port, or a free one. Opened exclusively first: with SO_REUSEPORT another program on the same port would
 * go unnoticed.
 */
const reservePort = Effect.gen(function* () {
  const { HOST: host, PORT: port } = yield* Settings
  const { address } = yield* Effect.provide(
    HttpServer.HttpServer,
    // A connection that it accepts would keep it from closing.
    NodeHttpServer.layer(() => createServer().on("connection", (socket) => socket.destroy()), { host, port })
  )
  return "port" in address ? address.port : port
})

/** Exits with 1 when a worker failed to stop. A worker without its SIGTERM handler yet is ended by the signal itself. */
const recordExit = (child: ChildProcessSpawner.ChildProcessHandle) =>
  Effect.match(child.exitCode, {
    onFailure: ({ cause }) => String(cause).includes("SIGTERM"),
    onSuccess: (code) => code === 0
  }).pipe(
    Effect.map((succeeded) => {
      if (!succeeded) process.exitCode = 1
    })
  )

/** Prints the output of a worker in whole lines. Processes that write to one pipe would tear the lines of each other. */
const print = (output: ChildProcessSpawner.ChildProcessHandle["stdout"]) => {
  const write = StandardOutput.lineWriter(process.stdout)
  return output.pipe(
    Stream.decodeText,
    Stream.splitLines,
    Stream.mapArray((lines) => [`${lines.join("\n")}\n`]),
    Stream.runForEach((lines) => Effect.sync(() => write(lines))),
    Effect.ignore
  )
}

/** Runs a worker and returns its exit code. */
const runWorker = Effect.fnUntraced(function* (port: number, served: Deferred.Deferred<void, WorkerEndedError>) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const { path } = yield* Database
  const spawned = yield* Deferred.make<ChildProcessSpawner.ChildProcessHandle>()
  const printed = yield* Deferred.make<void>()
  yield* Effect.addFinalizer(
    Effect.fnUntraced(function* (exit) {
      if (!Deferred.isDoneUnsafe(spawned)) return
      if (Exit.hasInterrupts(exit)) yield* recordExit(yield* Deferred.await(spawned))
      // Its last lines can arrive after its end.
      yield* Effect.timeoutOption(Effect.interruptible(Deferred.await(printed)), "1 second")
    })
  )
  const child = yield* spawner.spawn(
    ChildProcess.make(process.execPath, [...process.execArgv, entry, ...(path === undefined ? [] : [path])], {
      env: { PORT: String(port) },
      extendEnv: true,
      stdin: { stream: Stream.never },
      stdout: process.stdout.isTTY ? "inherit" : "pipe",
      stderr: "inherit",
      additionalFds: { [`fd${readyFd}`]: { type: "output" } },
      killSignal: "SIGTERM",
      // The worker exits by itself before that.
      forceKillAfter: `${yield* Stop.afterDraining(Stop.workerSeconds)} seconds`
    })
  )
  yield* Deferred.succeed(spawned, child)
  yield* Effect.forkDetach(Effect.ensuring(print(child.stdout), Deferred.succeed(printed, undefined)))
  yield* Effect.forkScoped(
    Stream.runForEach(child.getOutputFd(readyFd), () => Deferred.succeed(served, undefined)).pipe(Effect.ignore)
  )
  return yield* child.exitCode
}, Effect.scoped)

/** Runs a worker, and a new one a second after each end. */
const keepRunning = Effect.fnUntraced(
  function* (name: number, port: number, served: Deferred.Deferred<void, WorkerEndedError>) {
    const ended = yield* runWorker(port, served).pipe(
      Effect.match({ onFailure: (error) => error.message, onSuccess: (code) => `exit code ${code}` })
    )
    const message = `Worker ${name} ended with ${ended}`
    if (!(yield* Deferred.isDone(served))) yield* Deferred.fail(served, new WorkerEndedError({ message }))
    yield* Effect.logError(`${message}; starting another one`)
  },
  Effect.repeat(Schedule.spaced("1 second"))
)

/** `WORKERS` processes that share the port; closing the scope stops them concurrently. */
const start = Effect.gen(function* () {
  const processes = processesOf(yield* Settings)
  const port = yield* Effect.scoped(reservePort)
  const workers = yield* Effect.forEach(
    Array.from({ length: processes }, (_, index) => index + 1),
    (name) => Effect.map(Deferred.make<void, WorkerEndedError>(), (served) => ({ name, served }))
  )
  yield* Effect.forkScoped(
    Effect.forEach(workers, ({ name, served }) => keepRunning(name, port, served), { concurrency: "unbounded" })
  )
  yield* Effect.forEach(workers, ({ served }) => Deferred.await(served))
  // The supervisor needs its own database connection only for the first key.
  yield* Effect.scoped(Layer.build(Startup.announce.pipe(Layer.provide(PublicUrl.layerOf(port)), Layer.provide(keys))))
})

const keys = ApiKeys.layer.pipe(Layer.provide(Repository.layer), Layer.provide(Sql.layer))

/** The workers; announced once all of them serve. */
export const layer = Layer.effectDiscard(start)
