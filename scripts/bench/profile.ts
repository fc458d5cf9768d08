import { mkdirSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { type Load, run } from "../../test/support/LoadClients.ts"
import type { Operation } from "../../test/support/Operations.ts"
import { type Settings, waypost } from "../../test/support/Services.ts"

interface CallFrame {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
}

interface CpuProfile {
  readonly nodes: ReadonlyArray<{
    readonly id: number
    readonly callFrame: CallFrame
    readonly children?: ReadonlyArray<number>
  }>
  readonly startTime: number
  readonly samples: ReadonlyArray<number>
  readonly timeDeltas: ReadonlyArray<number>
}

const ownSources = new URL("../../src/", import.meta.url).href

const groups: ReadonlyArray<readonly [pattern: RegExp, group: string]> = [
  [/node_modules\/effect\/dist\/http-api\//, "effect http-api"],
  [/node_modules\/effect\/dist\/http\//, "effect http"],
  [/node_modules\/effect\/dist\/(?:schema\/|Schema)/, "effect schema"],
  [/node_modules\/effect\/dist\/sql\//, "effect sql"],
  [/node_modules\/effect\//, "effect runtime and other"],
  [/node_modules\/@effect\/sql-pg\//, "@effect/sql-pg"],
  [/node_modules\/@effect\/platform-node/, "@effect/platform-node"],
  [/node_modules\//, "other packages"],
  [/^node:/, "node"]
]

const groupOf = ({ functionName, url }: CallFrame) => {
  if (url.startsWith(ownSources)) return "waypost src"
  if (functionName === "(garbage collector)") return "garbage collection"
  if (url === "") return functionName === "(idle)" ? "idle" : "native"
  return groups.find(([pattern]) => pattern.test(url))?.[1] ?? "evaluated code (schema compiler)"
}

const placeOf = ({ functionName, lineNumber, url }: CallFrame) => {
  const path = url.replace(ownSources, "src/").replace(/^.*node_modules\//, "")
  return `${functionName || "(anonymous)"}${url === "" ? "" : `  ${path}:${lineNumber + 1}`}`
}

const add = (sums: Map<string, number>, key: string, value: number) => sums.set(key, (sums.get(key) ?? 0) + value)

/** Self time by group and function, and total time of Waypost's functions, between two points in time. */
const summarise = ({ nodes, samples, startTime, timeDeltas }: CpuProfile, from: number, to: number) => {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ children = [], id }) => children.map((child) => [child, id] as const)))
  const byGroup = new Map<string, number>()
  const byFunction = new Map<string, number>()
  const below = new Map<string, number>()
  let total = 0
  let now = startTime
  samples.forEach((id, index) => {
    const spent = timeDeltas[index]!
    now += spent
    const frame = byId.get(id)!.callFrame
    if (now < from || now > to || groupOf(frame) === "idle") return
    total += spent
    add(byGroup, groupOf(frame), spent)
    add(byFunction, `${groupOf(frame)}: ${placeOf(frame)}`, spent)
    const own = new Set<string>()
    for (let node: number | undefined = id; node !== undefined; node = parents.get(node)) {
      const { callFrame } = byId.get(node)!
      if (groupOf(callFrame) === "waypost src") own.add(placeOf(callFrame))
    }
    for (const place of own) add(below, place, spent)
  })
  return { total, byGroup, byFunction, below }
}

const lines = (title: string, sums: ReadonlyMap<string, number>, total: number, responses: number, max: number) => {
  const sorted = [...sums].toSorted((left, right) => right[1] - left[1]).slice(0, max)
  const rows = sorted.map(
    ([name, spent]) => `| ${((100 * spent) / total).toFixed(1)} % | ${(spent / responses).toFixed(1)} | ${name} |`
  )
  return [`\n## ${title}\n`, "| share | us per request | |", "| --- | --- | --- |", ...rows].join("\n")
}

/** Runs Waypost under the CPU profiler of Node and reports the time spent after the start and the warm-up. */
export const profile = async (settings: Settings, operation: Operation, load: Load): Promise<string> => {
  const folder = join(settings.folder, "profile")
  mkdirSync(folder, { recursive: true })
  const flags = ["--cpu-prof", "--cpu-prof-interval", "250", `--cpu-prof-dir=${folder}`]
  const service = await waypost(settings, flags, "src/main.ts")
  // The profiler's clock is the monotonic one, in microseconds.
  const clock = () => Number(process.hrtime.bigint() / 1000n)
  await run(service, operation, load)
  const from = clock()
  const { perSecond, responses } = await run(service, operation, load)
  const to = clock()
  await service[Symbol.asyncDispose]()
  const file = readdirSync(folder).find((name) => name.endsWith(".cpuprofile"))
  if (file === undefined) throw new Error("Node wrote no profile")
  const cpuProfile = JSON.parse(readFileSync(join(folder, file), "utf8")) as CpuProfile
  const { below, byFunction, byGroup, total } = summarise(cpuProfile, from, to)
  const busy = `${Math.round((100 * total) / (to - from))} % of the time`
  return [
    `# Profile of ${operation.name}`,
    `\n${Math.round(perSecond)} req/s under the profiler; busy ${busy}, ${(total / responses).toFixed(0)} us per request`,
    lines("Self time by package", byGroup, total, responses, 20),
    lines("Self time by function", byFunction, total, responses, 40),
    lines("Total time of Waypost's functions", below, total, responses, 30)
  ].join("\n")
}
