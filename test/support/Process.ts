import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { startFlags } from "./Services.ts"
import { own } from "./Children.ts"

export { freePort } from "./Services.ts"
export { until } from "./Until.ts"

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

/** Where the processes of all tests keep the code they have compiled, so that only the first of them compiles it. */
export const compileCache = join(tmpdir(), "waypost-test-compile-cache")

/** How long a start may take, in milliseconds. */
const mostStart = 60_000

/** The service as a process of its own, started as `npm start` starts it; disposing of it stops it. */
export interface Service extends AsyncDisposable {
  readonly process: ChildProcess
  readonly url: string
  /** Everything it has printed so far. */
  readonly output: () => string
  /** Its exit code, once it has ended. */
  readonly exited: Promise<number | null>
  /** SIGTERM, and SIGKILL when that does not end it in time; its exit code. */
  readonly stop: () => Promise<number | null>
  /** Milliseconds from the start of the process to the line that says it serves. */
  readonly startMillis: number
}

/** A data folder that a database server can reach when the tests run as root. */
export const dataFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "waypost-process-"))
  chmodSync(folder, 0o755)
  // The PostgreSQL of a service that was killed needs a moment to leave it.
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 6, retryDelay: 200 }) }
}

const base = {
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
  TMPDIR: tmpdir(),
  PORT: "0",
  LOG_FORMAT: "json",
  NODE_COMPILE_CACHE: compileCache
}

/** Starts a program; however this process ends, the other does not stay behind. */
const launch = (words: ReadonlyArray<string>, env: Readonly<Record<string, string>>, isGroup = false) => {
  const child = spawn(words[0]!, words.slice(1), {
    env: { ...base, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: isGroup
  })
  let output = ""
  child.stdout.on("data", (chunk) => (output += String(chunk)))
  child.stderr.on("data", (chunk) => (output += String(chunk)))
  return { child, output: () => output, ...own(child, isGroup) }
}

const command = [process.execPath, ...startFlags, main]

/** The service, writing to a file that is open. */
export const spawnWith = (env: Readonly<Record<string, string>>, file: number) => {
  const child = spawn(process.execPath, command.slice(1), { env: { ...base, ...env }, stdio: ["ignore", file, file] })
  own(child)
  return child
}

/** Runs the service to its end; for starts that fail. */
export const run = async (env: Readonly<Record<string, string>>) => {
  const { child, output, signal } = launch(command, env)
  const late = setTimeout(() => signal("SIGKILL"), mostStart)
  const [code] = await once(child, "close").finally(() => clearTimeout(late))
  return { code: code as number | null, output: output() }
}

/** Starts the service, `under` a program that runs it if one is given, and waits until it says where it serves. */
export const start = async (
  env: Readonly<Record<string, string>>,
  under: ReadonlyArray<string> = []
): Promise<Service> => {
  const began = performance.now()
  // Whatever runs it may not pass on what ends it, so both are told.
  const { child, exited, output, signal, stop } = launch([...under, ...command], env, under.length > 0)
  const url = await new Promise<string>((resolve, reject) => {
    const late = setTimeout(() => {
      signal("SIGKILL")
      reject(new Error(`The service did not start within ${mostStart / 1000} s:\n${output()}`))
    }, mostStart)
    const read = () => {
      const serving = /Waypost serves (http:\/\/[^"\s]+)/.exec(output())
      if (serving === null) return
      clearTimeout(late)
      resolve(serving[1]!)
    }
    child.stdout.on("data", read)
    child.stderr.on("data", read)
    exited
      .then((code) => reject(new Error(`The service ended with ${code}:\n${output()}`)), reject)
      .finally(() => clearTimeout(late))
  })
  const startMillis = performance.now() - began
  return {
    process: child,
    url,
    output,
    exited,
    stop,
    startMillis,
    [Symbol.asyncDispose]: async () => void (await stop())
  }
}

/** The key the service printed at its first start. */
export const firstKey = (service: Service): string => /wp_[0-9A-Za-z]{22}_[0-9A-Za-z]{49}/.exec(service.output())![0]

/** The processes that serve for this one, when WORKERS is not 1; its PostgreSQL is a shell. */
export const workersOf = ({ process: { pid } }: Service) => childrenOf(pid!, "worker.ts")

/** Processes that this one has started, with this word in their command line. */
export const childrenOf = (pid: number, word: string): ReadonlyArray<number> =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .split(" ")
    .map(Number)
    .filter((child) => child > 0 && readFileSync(`/proc/${child}/cmdline`, "utf8").includes(word))

/** The process id of the embedded PostgreSQL in this data folder. */
export const postmasterOf = (folder: string) =>
  Number.parseInt(readFileSync(join(folder, "postgres/postmaster.pid"), "utf8"), 10)

export const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
