import { type ChildProcess, execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { inject } from "vitest"
import { startFlags } from "./Services.ts"
import { own } from "./Children.ts"

export { freePort } from "./Services.ts"
export { until } from "./Until.ts"

const main = fileURLToPath(new URL("../../bin/service.mjs", import.meta.url))

/** Where the processes of all tests keep the code they have compiled, so that only the first of them compiles it. */
export const compileCache = join(tmpdir(), "waypost-test-compile-cache")

/** The limit of a start, in milliseconds: a busy machine needs minutes for one with a new database. */
const maxStart = 240_000

/** The service as a separate process, started like `npm start`; disposing of it stops it. */
export interface Service extends AsyncDisposable {
  readonly process: ChildProcess
  readonly url: string
  /** Its output so far. */
  readonly output: () => string
  /** Its exit code, once it has ended. */
  readonly exited: Promise<number | null>
  /** Sends SIGTERM, then SIGKILL when it does not exit in time; returns the exit code. */
  readonly stop: () => Promise<number | null>
  /** Milliseconds from the start of the process to the line that reports its URL. */
  readonly startMillis: number
}

/** An empty data folder that a database server can reach when the tests run as root. */
export const dataFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "waypost-process-"))
  chmodSync(folder, 0o755)
  // After a kill of the service, its PostgreSQL needs a moment to stop using the folder.
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true, maxRetries: 6, retryDelay: 200 }) }
}

/** Whether the tests have a data directory with a migrated database. */
export const hasMigratedDatabase = () => inject("postgres").directory !== undefined

/** Copies a data directory with a migrated database, if the tests have one, to a path that does not exist. */
export const copyDatabase = (dataDir: string) => {
  const { directory } = inject("postgres")
  if (directory !== undefined) execFileSync("cp", ["-a", directory, dataDir])
}

/** A data folder with a migrated database without rows: a start on it needs half the time of one on an empty folder. */
export const migratedFolder = () => {
  const created = dataFolder()
  copyDatabase(join(created.folder, "postgres"))
  return created
}

const base = {
  PATH: process.env["PATH"],
  HOME: process.env["HOME"],
  TMPDIR: tmpdir(),
  PORT: "0",
  LOG_FORMAT: "json",
  NODE_COMPILE_CACHE: compileCache
}

/** Starts a program that ends with this process, however that ends. */
const launch = (
  words: ReadonlyArray<string>,
  env: Readonly<Record<string, string>>,
  { cwd = tmpdir(), isGroup = false }: { readonly cwd?: string; readonly isGroup?: boolean } = {}
) => {
  const child = spawn(words[0]!, words.slice(1), {
    // Not the folder of the sources, where a developer can have a file .env.
    cwd,
    env: { ...base, ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: isGroup
  })
  let output = ""
  child.stdout.on("data", (chunk) => (output += String(chunk)))
  child.stderr.on("data", (chunk) => (output += String(chunk)))
  return { child, output: () => output, ...own(child, isGroup) }
}

const commandOf = (program: string) => [process.execPath, ...startFlags, program]
const command = commandOf(main)

/** Starts the service with its output in an open file. */
export const spawnWith = (env: Readonly<Record<string, string>>, file: number) => {
  const child = spawn(process.execPath, command.slice(1), {
    cwd: tmpdir(),
    env: { ...base, ...env },
    stdio: ["ignore", file, file]
  })
  own(child)
  return child
}

/** Runs the service to its end; for starts that fail. */
export const run = async (env: Readonly<Record<string, string>>) => {
  const { child, output, signal } = launch(command, env)
  const late = setTimeout(() => signal("SIGKILL"), maxStart)
  const [code] = await once(child, "close").finally(() => clearTimeout(late))
  return { code: code as number | null, output: output() }
}

/**
 * Starts the service, optionally as the command of the program `under`, and waits until it reports its URL. Another version of it
 * starts with its own `main.ts`.
 */
export const start = async (
  env: Readonly<Record<string, string>>,
  under: ReadonlyArray<string> = [],
  { main: program = main, ...options }: { readonly cwd?: string; readonly main?: string } = {}
): Promise<Service> => {
  const began = performance.now()
  // The program that runs it may not forward signals, so the whole process group gets them.
  const { child, exited, output, signal, stop } = launch([...under, ...commandOf(program)], env, {
    ...options,
    isGroup: under.length > 0
  })
  const url = await new Promise<string>((resolve, reject) => {
    const late = setTimeout(() => {
      signal("SIGKILL")
      reject(new Error(`The service did not start within ${maxStart / 1000} s:\n${output()}`))
    }, maxStart)
    const read = () => {
      const serving = /Waypost serves (https?:\/\/[^"\s]+)/.exec(output())
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

/** The worker processes, when WORKERS is not 1. */
export const workersOf = ({ process: { pid } }: Service) => childrenOf(pid!, "/worker.")

/** Child processes with this word in their command line. */
export const childrenOf = (pid: number, word: string): ReadonlyArray<number> =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
    .split(" ")
    .map(Number)
    .filter((child) => child > 0 && commandLineOf(child).includes(word))

/** The command line of a process; empty when it has ended. */
const commandLineOf = (pid: number) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8")
  } catch {
    return ""
  }
}

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
