import { NodeServices } from "@effect/platform-node"
import { ConfigProvider, Console, Effect, Layer, Sink, Stdio, Stream } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { tmpdir } from "node:os"
import { fileURLToPath } from "node:url"
import { format } from "node:util"
import { run } from "../../../src/cli/Run.ts"
import { own } from "../Children.ts"
import { compileCache } from "../Process.ts"

/** The program that users run. */
export const launcher = fileURLToPath(new URL("../../../bin/waypost.mjs", import.meta.url))

interface Result {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/**
 * Starts the command line as users do, in a process of its own; `result` holds its output and exit code once it has exited. A
 * number as input is the descriptor of a file.
 */
export const start = (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {},
  input: string | Uint8Array | number = "",
  cwd = tmpdir()
): { readonly process: ChildProcess; readonly result: Promise<Result> } => {
  const child = spawn(process.execPath, [launcher, ...args], {
    cwd,
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      LOG_LEVEL: "warn",
      NODE_COMPILE_CACHE: compileCache,
      ...env
    },
    stdio: [typeof input === "number" ? input : "pipe", "pipe", "pipe"]
  })
  own(child)
  let out = ""
  let err = ""
  child.stdout!.on("data", (chunk) => (out += String(chunk)))
  child.stderr!.on("data", (chunk) => (err += String(chunk)))
  if (typeof input !== "number") child.stdin!.end(input)
  return { process: child, result: once(child, "close").then(([code]) => ({ code: code as number | null, out, err })) }
}

/** Runs the command line in this process, with nothing of its environment, until it returns its exit code. */
export const waypost = async (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {},
  input: string | Uint8Array = ""
): Promise<Result> => {
  let out = ""
  let err = ""
  const toOut = (text: string) => void (out += text)
  const toErr = (text: string) => void (err += text)
  const line =
    (write: (text: string) => void) =>
    (...values: ReadonlyArray<unknown>) =>
      write(`${format(...values)}\n`)
  const sink = (write: (text: string) => void) => () => {
    const decoder = new TextDecoder()
    return Sink.forEach((chunk: string | Uint8Array) =>
      Effect.sync(() => write(typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true })))
    )
  }
  const stdio = Stdio.layerTest({
    args: Effect.succeed(args),
    stdin: Stream.make(typeof input === "string" ? new TextEncoder().encode(input) : input),
    stdout: sink(toOut),
    stderr: sink(toErr)
  })
  const captured: Console.Console = {
    ...console,
    log: line(toOut),
    info: line(toOut),
    warn: line(toErr),
    error: line(toErr)
  }
  const code = await run(args).pipe(
    Effect.provideService(Console.Console, captured),
    Effect.provide(Layer.mergeAll(NodeServices.layer, stdio, ConfigProvider.layer(ConfigProvider.fromEnv({ env })))),
    Effect.runPromise
  )
  return { code, out, err }
}
