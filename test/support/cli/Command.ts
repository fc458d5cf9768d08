import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { compileCache } from "../Process.ts"

const launcher = fileURLToPath(new URL("../../../bin/waypost.mjs", import.meta.url))

interface Result {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Starts the command line as users do; `result` holds its output and exit code once it has exited. */
export const start = (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {},
  input = ""
): { readonly process: ChildProcess; readonly result: Promise<Result> } => {
  const child = spawn(process.execPath, [launcher, ...args], {
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      LOG_LEVEL: "warn",
      NODE_COMPILE_CACHE: compileCache,
      ...env
    },
    stdio: ["pipe", "pipe", "pipe"]
  })
  let out = ""
  let err = ""
  child.stdout.on("data", (chunk) => (out += String(chunk)))
  child.stderr.on("data", (chunk) => (err += String(chunk)))
  child.stdin.end(input)
  return { process: child, result: once(child, "close").then(([code]) => ({ code: code as number | null, out, err })) }
}

/** Runs the command line until it exits. */
export const waypost = (
  args: ReadonlyArray<string>,
  env: Readonly<Record<string, string>> = {},
  input = ""
): Promise<Result> => start(args, env, input).result
