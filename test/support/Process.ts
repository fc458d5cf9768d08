import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { type AddressInfo, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { startFlags } from "../../scripts/bench/services.ts"

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url))

/** The service as a process of its own, started as `npm start` starts it. */
export interface Service {
  readonly process: ChildProcess
  readonly url: string
  /** Everything it has printed so far. */
  readonly output: () => string
  /** Its exit code, once it has ended. */
  readonly exited: Promise<number | null>
  /** Milliseconds from the start of the process to the line that says it serves. */
  readonly startMillis: number
}

/** A data folder that a database server can reach when the tests run as root. */
export const dataFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "waypost-process-"))
  chmodSync(folder, 0o755)
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

const base = { PATH: process.env["PATH"], HOME: process.env["HOME"], TMPDIR: tmpdir(), PORT: "0", LOG_FORMAT: "json" }

/** A port nobody listens on. */
export const freePort = async () => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}

/** The service, writing to a file that is open. */
export const spawnWith = (env: Readonly<Record<string, string>>, file: number) =>
  spawn(process.execPath, [...startFlags, main], { env: { ...base, ...env }, stdio: ["ignore", file, file] })

/** Runs the service to its end; for starts that fail. */
export const run = async (env: Readonly<Record<string, string>>) => {
  const child = spawn(process.execPath, [...startFlags, main], {
    env: { ...base, ...env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let output = ""
  child.stdout.on("data", (chunk) => (output += String(chunk)))
  child.stderr.on("data", (chunk) => (output += String(chunk)))
  const [code] = await once(child, "close")
  return { code: code as number | null, output }
}

/** Starts the service, `under` a program that runs it if one is given, and waits until it says where it serves. */
export const start = async (
  env: Readonly<Record<string, string>>,
  under: ReadonlyArray<string> = []
): Promise<Service> => {
  const began = performance.now()
  const words = [...under, process.execPath, ...startFlags, main]
  const child = spawn(words[0]!, words.slice(1), {
    env: { ...base, ...env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  let output = ""
  const exited = once(child, "exit").then(([code]) => code as number | null)
  const url = await new Promise<string>((resolve, reject) => {
    const read = (chunk: unknown) => {
      output += String(chunk)
      const serving = /Waypost serves (http:\/\/[^"\s]+)/.exec(output)
      if (serving !== null) resolve(serving[1]!)
    }
    child.stdout.on("data", read)
    child.stderr.on("data", read)
    void exited.then((code) => reject(new Error(`The service ended with ${code}:\n${output}`)))
  })
  return { process: child, url, output: () => output, exited, startMillis: performance.now() - began }
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

/** Waits for what takes a moment. */
export const until = async (what: string, holds: () => boolean | Promise<boolean>, seconds = 20) => {
  const deadline = performance.now() + seconds * 1000
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`Not within ${seconds} seconds: ${what}`)
    await sleep(50)
  }
}
