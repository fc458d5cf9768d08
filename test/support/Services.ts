import { spawn } from "node:child_process"
import { randomInt } from "node:crypto"
import { once } from "node:events"
import { openSync, readFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import manifest from "../../package.json" with { type: "json" }
import { own } from "./Children.ts"
import type { Database } from "./Databases.ts"

/** A running HTTP service. */
export interface Service extends AsyncDisposable {
  readonly name: string
  readonly url: string
  readonly pid: number
  /** From the start of the process to its first response, in milliseconds. */
  readonly startTime: number
  /** Resident memory now, in MB. */
  memory(): number
  /** CPU time spent so far, in microseconds. */
  cpu(): number
}

/** The settings of every service. */
export interface Settings {
  readonly database: Database
  readonly key: string
  readonly pool: number
  /** Where the output of the services goes. */
  readonly folder: string
  /** Other settings of Waypost. */
  readonly environment?: Readonly<Record<string, string>>
}

const root = fileURLToPath(new URL("../..", import.meta.url))

/** A free port, below those that systems choose for connections and for servers that ask for any: none of these takes it. */
export const freePort = async (): Promise<number> => {
  const port = randomInt(20_000, 32_768)
  const server = createServer().listen(port, "127.0.0.1")
  const isFree = await once(server, "listening").then(
    () => true,
    () => false
  )
  if (!isFree) return freePort()
  server.close()
  await once(server, "close")
  return port
}

interface Launch {
  readonly name: string
  readonly arguments: ReadonlyArray<string>
  readonly environment: (port: number) => Readonly<Record<string, string>>
}

/** A file of the process in `/proc`; empty outside Linux. */
const processFile = (pid: number, name: string) => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8")
  } catch {
    return ""
  }
}

/** Resident memory of a process now, in MB. */
export const memoryOf = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(processFile(pid, "status"))?.[1] ?? 0) / 1024

/** CPU time of a process so far, in microseconds. User and system time are in hundredths of a second; the process name before them may contain spaces. */
export const cpuOf = (pid: number) => {
  const fields = processFile(pid, "stat")
    .replace(/^.*\) /s, "")
    .split(" ")
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 10_000
}

const launch = async (
  settings: Pick<Settings, "folder" | "key">,
  { arguments: args, environment, name }: Launch
): Promise<Service> => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const logFile = join(settings.folder, `${name.replaceAll(/\W+/g, "-")}.log`)
  const output = openSync(logFile, "a")
  const began = performance.now()
  const child = spawn(process.execPath, args, {
    cwd: root,
    // The service does not inherit settings from the environment.
    env: { PATH: process.env["PATH"], NODE_ENV: "production", ...environment(port) },
    stdio: ["ignore", output, output]
  })
  const { stop } = own(child)
  const answers = () =>
    fetch(`${url}/v1/locations?limit=1`, { headers: { authorization: settings.key } }).then(
      async (response) => {
        await response.arrayBuffer()
        return response.status === 200
      },
      () => false
    )
  while (!(await answers())) {
    if (child.exitCode !== null || performance.now() - began > 30_000) {
      await stop()
      throw new Error(`${name} does not answer; its output:\n${readFileSync(logFile, "utf8").slice(-2000)}`)
    }
    await sleep(5)
  }
  const startTime = performance.now() - began
  const pid = child.pid!
  return {
    name,
    url,
    pid,
    startTime,
    memory: () => memoryOf(pid),
    cpu: () => cpuOf(pid),
    [Symbol.asyncDispose]: async () => void (await stop())
  }
}

/** The Node flags of `npm start`. */
export const startFlags = manifest.scripts.start.split(" ").filter((word) => word.startsWith("--"))

/** The data folder may have no database in it. */
interface OwnSettings extends Omit<Settings, "database"> {
  readonly database: Pick<Database, "folder">
}

const withOurSettings = (settings: OwnSettings, name: string, args: ReadonlyArray<string>): Promise<Service> =>
  launch(settings, {
    name,
    arguments: [...startFlags, ...args],
    environment: (port) => ({
      PORT: String(port),
      DATA_DIR: settings.database.folder,
      DATABASE_POOL_SIZE: String(settings.pool),
      BOOTSTRAP_API_KEY: settings.key,
      ...settings.environment
    })
  })

/** Waypost, started like `npm start`; `flags` are additional Node flags, and `program` is what Node runs instead. */
export const waypost = (
  settings: OwnSettings,
  flags: ReadonlyArray<string> = [],
  program = "bin/service.mjs"
): Promise<Service> => withOurSettings(settings, "Waypost", [...flags, program])

/** The stack of Waypost alone: see `scripts/bench/bare.ts`. */
export const bare = (settings: Settings): Promise<Service> =>
  withOurSettings(settings, "Effect alone", ["scripts/bench/bare.ts"])

/** The service written by hand with Fastify; equipped, with what a service in production has around its routes. */
export const fastify = (settings: Settings, { isEquipped }: { readonly isEquipped: boolean }): Promise<Service> =>
  launch(settings, {
    name: isEquipped ? "Fastify equipped" : "Fastify",
    arguments: ["scripts/bench/fastify/main.ts"],
    environment: (port) => ({
      BENCH_PORT: String(port),
      BENCH_SOCKET: settings.database.socket,
      BENCH_USER: settings.database.username,
      BENCH_POOL: String(settings.pool),
      ...(isEquipped ? { BENCH_EQUIPPED: "1" } : {})
    })
  })
