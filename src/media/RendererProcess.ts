import { type Cause, Deferred, Effect, FileSystem, Path, Queue, Ref, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { quickProgramOf } from "../settings/Installation.ts"
import { Answer, Job } from "./renderer/Protocol.ts"
import * as RendererSandbox from "./RendererSandbox.ts"

/** The process could not be started, has ended or sent an invalid response. */
export class RendererEndedError extends Schema.TaggedError<RendererEndedError>()("RendererEndedError", {
  message: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {}

/** A process that decodes one job at a time. After an interrupted job it has to be ended. */
export interface RendererProcess {
  /** The folder of its images, removed with the process. */
  readonly folder: string
  readonly sandbox: RendererSandbox.RendererSandbox
  readonly ask: (job: Job) => Effect.Effect<Answer, RendererEndedError>
  readonly isRunning: Effect.Effect<boolean>
}

/** The program that decodes. */
export const main = () => quickProgramOf("media/renderer/main")

// In KiB, of the data segment. Node reserves half of it at its start; the other half is for the decoders, whose
// allocations fail beyond it.
const memoryLimit = 1200 * 1024

// The shell ends all processes even if a decoder hangs or this process is killed: the kernel closes the pipe that its
// watching half reads. It limits the memory, which Node cannot do for native code, and it reaps children, which a
// container without an init process does not.
const guard =
  'limit=$1 folder=$2; shift 2; ulimit -c 0; ulimit -d "$limit"; exec 4<&0; "$@" <&4 3<&- 4<&- & renderer=$!; ' +
  '{ read -r _ <&3; kill -KILL $renderer; rm -rf "$folder"; } </dev/null >/dev/null 2>&1 4<&- & watch=$!; ' +
  "exec 3<&- 4<&- </dev/null; wait $renderer; status=$?; kill $watch; wait $watch; exit $status"

const command = (
  { folder, outer }: Effect.Success<ReturnType<typeof RendererSandbox.makeFolder>>,
  { program, sandbox, searchPath, spawns }: StartOptions & { readonly spawns: boolean },
  options: ChildProcess.CommandOptions
) => {
  const memory = "--max-old-space-size=96"
  const user = sandbox.user === undefined ? [] : [String(sandbox.user)]
  const node = [process.execPath, memory, ...RendererSandbox.flags(folder, program, { spawns }), program, ...user]
  const env = { PATH: searchPath, TMPDIR: folder }
  const settings = { ...options, cwd: folder, env, killSignal: "SIGKILL" } as const
  const words = [...sandbox.withoutNetwork, ...node]
  return process.platform === "win32"
    ? ChildProcess.make(process.execPath, node.slice(1), settings)
    : ChildProcess.make("/bin/sh", ["-c", guard, "waypost-renderer", String(memoryLimit), outer, ...words], settings)
}

export interface StartOptions {
  /** Where it looks for ffmpeg. */
  readonly searchPath: string
  readonly sandbox: RendererSandbox.RendererSandbox
  /** The program, which reads jobs and writes answers. */
  readonly program: string
}

/** Whether one of the folders has ffmpeg, the only program that a decoder starts. */
export const hasFfmpeg = Effect.fnUntraced(function* (searchPath: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const name = process.platform === "win32" ? "ffmpeg.exe" : "ffmpeg"
  const found = yield* Effect.filter(searchPath.split(path.sep === "\\" ? ";" : ":"), (folder) =>
    Effect.orElseSucceed(fs.exists(path.join(folder, name)), () => false)
  )
  return found.length > 0
})

/** How long a process may take to start, on a machine with much other work. */
const maxStart = "20 seconds"

/** Starts a process that ends with the scope, or with this process, and waits until it takes jobs. */
export const start = Effect.fnUntraced(
  function* (options: StartOptions) {
    const { sandbox, searchPath } = options
    const folders = yield* RendererSandbox.makeFolder(sandbox)
    const spawns = yield* hasFfmpeg(searchPath)
    const jobs = yield* Queue.make<string, Cause.Done>()
    const answers = yield* Queue.make<string>()
    const giveUp = yield* Deferred.make<void>()
    const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
    const child = yield* spawner.spawn(
      command(
        folders,
        { ...options, spawns },
        {
          stdin: { stream: Stream.encodeText(Stream.fromQueue(jobs)) },
          additionalFds: { fd3: { type: "input", stream: Stream.drain(Stream.fromEffect(Deferred.await(giveUp))) } }
        }
      )
    )
    const words = yield* Ref.make("")
    const ended = child.exitCode.pipe(
      Effect.match({ onFailure: (error) => error.message, onSuccess: (code) => `the exit code ${code}` }),
      Effect.zipWith(
        Ref.get(words),
        (end, words) => new RendererEndedError({ message: `It ended with ${end}. ${words}` })
      ),
      Effect.flip
    )
    // Valid responses are short; a longer line would only fill the memory.
    yield* Stream.limitBytes(child.stdout, "1 MiB", () => Stream.empty).pipe(
      Stream.decodeText,
      Stream.splitLines,
      Stream.runForEach((line) => Queue.offer(answers, line)),
      Effect.forkScoped
    )
    yield* child.stderr.pipe(
      Stream.decodeText,
      Stream.runForEach((text) => Ref.update(words, (words) => (words + text).slice(-2000))),
      Effect.forkScoped
    )
    // A responsive process ends itself and its ffmpeg, the guard ends an unresponsive one, and the spawner ends the rest.
    const exit = Effect.timeoutOption(Effect.interruptible(Effect.exit(child.exitCode)), "1 second")
    yield* Effect.addFinalizer(() =>
      Effect.all([Queue.end(jobs), exit, Deferred.succeed(giveUp, undefined), exit], { discard: true })
    )
    const nextLine = Effect.raceFirst(Queue.take(answers), ended)
    // The start of a process is no part of the time limit of a file.
    yield* Effect.timeoutOrElse(nextLine, {
      duration: maxStart,
      orElse: () => Effect.fail(new RendererEndedError({ message: "It did not start in time" }))
    })
    const ask = Effect.fnUntraced(function* (job: Job) {
      yield* Queue.offer(jobs, `${yield* Effect.orDie(Schema.encodeEffect(Job)(job))}\n`)
      const line = yield* nextLine
      return yield* Schema.decodeEffect(Answer)(line).pipe(
        Effect.mapError((cause) => new RendererEndedError({ message: "Its answer cannot be read", cause }))
      )
    })
    return {
      folder: folders.folder,
      sandbox,
      ask,
      isRunning: Effect.orElseSucceed(child.isRunning, () => false)
    } satisfies RendererProcess
  },
  Effect.catchTag("PlatformError", (cause) =>
    Effect.fail(new RendererEndedError({ message: "It could not be started", cause }))
  )
)
