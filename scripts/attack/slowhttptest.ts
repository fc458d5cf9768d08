import { readFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { memoryOf } from "../../test/support/Services.ts"
import { probe } from "../../test/support/proofs/Load.ts"
import type { Tool } from "./tool.ts"
import { runTool } from "../../test/support/Programs.ts"
import type { Target } from "./target.ts"

interface Attack {
  readonly name: string
  readonly args: (key: string) => ReadonlyArray<string>
  readonly path: (target: Target) => string
}

const read = () => ["-X", "-w", "10", "-y", "20", "-n", "1", "-z", "32", "-k", "3"]

/** The tool has no option for headers but writes the content type verbatim; without a key a body is rejected unread. */
const json = (key: string) => ["-t", "POST", "-f", `application/json\r\nAuthorization: ${key}`]

const attacks: ReadonlyArray<Attack> = [
  { name: "slow headers", args: () => ["-H", "-i", "2"], path: () => "/v1/locations" },
  { name: "slow bodies", args: (key) => ["-B", "-i", "2", ...json(key)], path: () => "/v1/locations" },
  { name: "slow parts", args: () => ["-B", "-i", "2", "-t", "PUT", "-s", "1000"], path: ({ part }) => part },
  { name: "slow readers of the documentation", args: read, path: () => "/docs" },
  { name: "slow readers of the contract", args: read, path: () => "/v1/openapi.json" }
]

const clients = 300
const seconds = 15
/** The maximum p99 of other clients, in milliseconds. */
const patience = 200
/** The maximum memory growth, in MB. */
const memory = 100

const attack = async (target: Target, { args, name, path }: Attack, index: number) => {
  const { folder, key, pid, url, uuids } = target
  const before = memoryOf(pid)
  const stop = probe(`${url}/v1/locations/${uuids.location}`, { authorization: key })
  const prefix = join(folder, `slowhttptest-${index}`)
  const shape = ["-c", String(clients), "-r", "100", "-l", String(seconds), "-p", "5", "-g", "-o", prefix]
  const { late } = await runTool(
    "slowhttptest",
    [...args(key), ...shape, "-u", `${url}${path(target)}`],
    folder,
    seconds * 3
  )
  const growth = memoryOf(pid) - before
  const others = await stop()
  // Seconds, and how many connections were closed, pending, open; the last is 0 while its own probe got no answer.
  const table = readFileSync(`${prefix}.csv`, "utf8").trim().split("\n").slice(1)
  const unanswered = table.filter((line) => line.split(",")[4] === "0" && line.split(",")[0] !== "0").length
  const most = Math.max(...table.map((line) => Number(line.split(",")[3])))
  const [p99, max] = [Math.round(others.p99), Math.round(others.max)]
  // Wait for open connections to end before the next run.
  await sleep(2000)
  return {
    figures: `${name} p99 ${p99} max ${max} ms of ${others.count} +${Math.round(growth)} MB`,
    findings: [
      ...(late ? ["did not end"] : []),
      ...(p99 < patience ? [] : [`p99 of other clients is ${p99} ms`]),
      ...([...others.statuses.keys()].every((status) => status === 200) ? [] : ["others get no 200"]),
      ...(unanswered === 0 ? [] : [`no response to its own probe in ${unanswered} of ${table.length} s`]),
      ...(most < clients / 3 ? [`only ${most} connections were made`] : []),
      ...(growth < memory ? [] : [`memory grows by ${Math.round(growth)} MB`])
    ].map((finding) => `${name}: ${finding}`)
  }
}

/** Clients that send or read slowly to exhaust connections. */
export const slowhttptest: Tool = {
  name: "slowhttptest",
  needs: { command: "slowhttptest", package: "slowhttptest" },
  readsOnly: true,
  run: async (target) => {
    const results = []
    for (const [index, each] of attacks.entries()) results.push(await attack(target, each, index))
    return {
      at: `${clients} clients that send headers, bodies or parts slowly, or read slowly, for ${seconds} s each`,
      figures: `other clients: ${results.map(({ figures }) => figures).join(", ")}`,
      findings: results.flatMap(({ findings }) => findings)
    }
  }
}
