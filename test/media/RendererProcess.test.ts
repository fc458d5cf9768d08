import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Fiber, type Scope } from "effect"
import { spawn } from "node:child_process"
import { existsSync } from "node:fs"
import { RenderFailedError, Renderer } from "../../src/media/Renderer.ts"
import { own } from "../support/Children.ts"
import { endless, endlessDrawing, noise, pdf, quarters } from "../support/MediaFixtures.ts"
import { cpuMillis } from "../support/CpuTime.ts"
import { compileCache } from "../support/Process.ts"
import { atBest, eventually } from "../support/Until.ts"
import { assertImages, decoders, every, file, isAlive, limitedRenderer, render, rendererLayer } from "./Rendering.ts"

type Services = Effect.Services<ReturnType<typeof render>> | Scope.Scope

const test = <E>(
  title: string,
  options: Parameters<typeof rendererLayer>[0],
  effect: Effect.Effect<void, E, Services>
) => it.live(title, () => effect.pipe(Effect.scoped, Effect.provide(rendererLayer(options))))

/** Waits for the decoder process of this process or of `owner`. */
const running = (owner = process.pid) =>
  Effect.map(
    eventually(
      "No decoder process is running",
      Effect.sync(() => decoders(owner).length > 0),
      (holds) => holds
    ),
    () => decoders(owner)[0]!
  )

const works = Effect.flatMap(render(quarters(64, 48).png(), "image/png", every), ({ images }) =>
  assertImages(images, every)
)

/** Waits until the decoder with this folder has its file, and is at work on it. */
const atWork = Effect.fnUntraced(function* (folder: string) {
  yield* eventually(
    "The decoder has no file",
    Effect.sync(() => existsSync(`${folder}/files/source`)),
    (holds) => holds
  )
  yield* Effect.sleep("100 millis")
})

/** Waits until a process has ended, and its parent has noticed. */
const ended = (pid: number) =>
  eventually(
    `The process ${pid} has ended`,
    Effect.sync(() => isAlive(pid)),
    (alive) => !alive
  )

/** Starts a job that does not end by itself. */
const hanging = Effect.gen(function* () {
  yield* works
  const { folder, pid } = yield* running()
  const fiber = yield* Effect.forkScoped(Effect.flip(render(endlessDrawing, "image/svg+xml")))
  yield* atWork(folder)
  return { fiber, folder, pid }
})

/** Starts a service of this niceness that renders one file. */
const owner = (path: string, type: string, niceness = 0) =>
  spawn("nice", ["-n", String(niceness), process.execPath, `${import.meta.dirname}/owner.ts`, path, type], {
    env: { ...process.env, NODE_COMPILE_CACHE: compileCache },
    stdio: "ignore"
  })

layer(rendererLayer(), { excludeTestServices: true })("decoder process of several files", (it) => {
  it.effect("the decoder process is reused for the next file", () =>
    Effect.gen(function* () {
      yield* works
      const { pid } = yield* running()
      yield* works
      assert.deepStrictEqual(
        decoders().map((decoder) => decoder.pid),
        [pid]
      )
    })
  )

  it.effect("a decoder killed during a job fails that file, and the next file succeeds", () =>
    Effect.gen(function* () {
      const { fiber, pid } = yield* hanging
      process.kill(pid, "SIGKILL")
      const error = yield* Fiber.join(fiber)
      assert.instanceOf(error, RenderFailedError)
      assert.strictEqual(error.fault, "endedProcess")
      yield* works
      assert.notStrictEqual((yield* running()).pid, pid)
    })
  )

  it.effect("a decoder killed between two files is replaced without an error", () =>
    Effect.gen(function* () {
      yield* works
      const { pid, guard } = yield* running()
      process.kill(pid, "SIGKILL")
      // Once the shell around it has ended too, this process has the event or gets it next.
      yield* ended(guard)
      yield* Effect.sleep("50 millis")
      yield* works
    })
  )

  it.effect("an interrupted job kills its decoder", () =>
    Effect.gen(function* () {
      const { fiber, pid } = yield* hanging
      yield* Fiber.interrupt(fiber)
      yield* ended(pid)
      yield* works
    })
  )

  it.effect("rendering takes less than 100 ms of the processor time of the service", () =>
    Effect.gen(function* () {
      const photo = yield* Effect.promise(() => noise(2000, 1500).jpeg().toBuffer())
      const page = pdf({ drawing: "0 0 600 400 re f\n".repeat(1000) })
      yield* works
      const measure = Effect.gen(function* () {
        const before = cpuMillis()
        // Each of them takes the decoder more than that.
        yield* render(photo, "image/jpeg")
        yield* render(page, "application/pdf")
        assert.isBelow(cpuMillis() - before, 100)
      })
      yield* atBest(measure)
    })
  )
})

describe("decoder process", () => {
  test(
    "a decoder that cannot start, and a file that cannot be read, are no faults of the file",
    {},
    Effect.gen(function* () {
      const renderer = yield* Renderer
      const faultOf = Effect.fnUntraced(function* (path: string) {
        const error = yield* Effect.flip(renderer.render({ path, mimeType: "image/png" }, every))
        assert.instanceOf(error, RenderFailedError)
        return error.fault
      })
      const folder = process.env["TMPDIR"]
      process.env["TMPDIR"] = "/nonexistent"
      const restored = Effect.sync(() => {
        if (folder === undefined) delete process.env["TMPDIR"]
        else process.env["TMPDIR"] = folder
      })
      assert.isUndefined(yield* Effect.ensuring(faultOf("/nonexistent"), restored))
      assert.isUndefined(yield* faultOf("/nonexistent"))
    })
  )

  for (const { bytes, title, type } of endless)
    it.live(`a decoder that exceeds the time limit on ${title} is killed, and waiting files are rendered`, () =>
      Effect.gen(function* () {
        yield* works
        const { pid } = yield* running()
        const late = yield* Effect.forkScoped(Effect.flip(render(bytes, type)))
        const waiting = yield* Effect.forkScoped(works)
        const error = yield* Fiber.join(late)
        assert.instanceOf(error, RenderFailedError)
        assert.include(error.message, "too long")
        assert.strictEqual(error.fault, "tookTooLong")
        yield* ended(pid)
        yield* Fiber.join(waiting)
        // Pictures have more time than drawings and pages, and on a very busy machine can exceed it too.
      }).pipe(Effect.scoped, Effect.provide(limitedRenderer), Effect.retry({ times: 3 }))
    )

  test(
    "a decoder is replaced after its maximum number of files",
    { jobs: 2 },
    Effect.gen(function* () {
      yield* works
      const { pid } = yield* running()
      yield* works
      yield* ended(pid)
      yield* works
      assert.notStrictEqual((yield* running()).pid, pid)
    })
  )

  test(
    "a decoder exits when it is idle, and the next file starts another one",
    { idle: "1 second" },
    Effect.gen(function* () {
      // It is looked for while it works, because it does not stay for long afterwards.
      const [{ pid }] = yield* Effect.all([running(), works], { concurrency: 2 })
      yield* ended(pid)
      assert.deepStrictEqual(decoders(), [])
      yield* works
    })
  )

  test(
    "the decoder does not inherit the environment of the service",
    {},
    Effect.gen(function* () {
      process.env["BOOTSTRAP_API_KEY"] = "a-secret-of-the-service"
      yield* Effect.addFinalizer(() => Effect.sync(() => delete process.env["BOOTSTRAP_API_KEY"]))
      yield* works
      const { pid } = yield* running()
      const environment = yield* Effect.promise(async () => {
        const ps = spawn("ps", ["eww", "-o", "args=", "-p", String(pid)])
        return (await ps.stdout.toArray()).join("")
      })
      assert.include(environment, "PATH=")
      assert.notInclude(environment, "a-secret")
      assert.notInclude(environment, "HOME=")
    })
  )

  test(
    "a service that runs at a low priority renders files",
    {},
    Effect.gen(function* () {
      const service = owner(yield* file(quarters(64, 48).png()), "image/png", 10)
      assert.strictEqual(yield* Effect.promise(() => own(service).exited), 0)
    })
  )

  it.live("no decoder process and no file remain when the service stops", () =>
    Effect.gen(function* () {
      const { folder, pid } = yield* Effect.provide(Effect.scoped(hanging), rendererLayer())
      assert.include(folder, "waypost-media-")
      yield* ended(pid)
      assert.isFalse(existsSync(folder))
    })
  )

  for (const { bytes, title, type } of endless)
    test(
      `no decoder process and no file remain when the service is killed while rendering ${title}`,
      {},
      Effect.gen(function* () {
        const service = owner(yield* file(bytes), type)
        const { exited } = own(service)
        const { folder, pid } = yield* running(service.pid)
        yield* atWork(folder)
        assert.isTrue(isAlive(pid))
        assert.isTrue(existsSync(folder))
        service.kill("SIGKILL")
        yield* Effect.promise(() => exited)
        yield* ended(pid)
        yield* eventually(
          "The folder still exists",
          Effect.sync(() => !existsSync(folder)),
          (holds) => holds
        )
      })
    )
})
