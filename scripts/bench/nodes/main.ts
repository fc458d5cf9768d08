import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { format } from "../../../src/domain/keys/ApiKeySecret.ts"
import * as Database from "../../../test/support/Databases.ts"
import { type Load, run, type Slice } from "../../../test/support/LoadClients.ts"
import { make, type Name, type Operation } from "../../../test/support/Operations.ts"
import { type Service, type Settings, waypost } from "../../../test/support/Services.ts"
import { commandLine } from "../command-line.ts"
import { databaseCpu } from "../database.ts"
import { warmUp } from "../measure.ts"
import { median, table } from "../report.ts"
import { untilAssessed } from "../scale/assessed.ts"
import { limit } from "./group.ts"
import { replicated, share as databaseShare } from "./replicas.ts"
import { type Cost, type Costs, type Mix, rates } from "./model.ts"

// Measures what requests take of the processors of the service and of PostgreSQL, predicts the rate of installations from that, and
// compares the prediction with nodes that have a part of a processor each.
const { number, values } = commandLine(`npm run bench:nodes -- [options]

  --size 100000    rows in the table
  --rounds 3       runs of each operation
  --seconds 4      duration of a run
  --connections 32 concurrent clients`)
const text = { type: "string" } as const
const asked = values({ size: text, rounds: text, seconds: text, connections: text })
const size = number(asked.size ?? "100000", 10_000_000)
const rounds = number(asked.rounds ?? "3", 100)
const seconds = number(asked.seconds ?? "4", 60)
const connections = number(asked.connections ?? "32", 500)

const measured = ["get", "list", "patch", "create"] as const satisfies ReadonlyArray<Name>
/** Of a brand whose shops read: four fifths are reads of a record. */
const mix: Mix = { get: 0.8, list: 0.15, patch: 0.04, create: 0.01 }
/** Of a node whose costs are not measured. */
const warmUpRequests = 4_000
const database = 4
const predicted = { nodes: [1, 2, 4, 16], replicas: [0, 1, 3] }
/** Nodes, and the part of a processor that each of them has. */
const shares = [
  [1, 0.5],
  [1, 0.25],
  [2, 0.25],
  [4, 0.125]
] as const

const say = (text: string) => process.stderr.write(`${text}\n`)
const folder = mkdtempSync(join(tmpdir(), "waypost-nodes-"))
// PostgreSQL does not run as root; another user has to reach the folder.
chmodSync(folder, 0o755)
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1))
process.once("exit", () => rmSync(folder, { recursive: true, force: true }))

const key = format(crypto.getRandomValues(new Uint8Array(16)), crypto.getRandomValues(new Uint8Array(32))).key
const load: Load = { connections, seconds, key }

/** The cost of an operation: medians of the rounds. */
const costOf = async (service: Service, operation: Operation, { sql }: Database.Database): Promise<Cost> => {
  await warmUp(service, operation, load)
  const slices: Array<Slice & { readonly database: number }> = []
  for (let round = 0; round < rounds; round++) {
    const spent = await databaseCpu(sql)
    const slice = await run(service, operation, load)
    slices.push({ ...slice, database: (await spent()) / slice.responses })
  }
  const cost = {
    service: median(slices.map(({ cpu }) => cpu)),
    database: median(slices.map(({ database }) => database))
  }
  say(`${operation.name}: service ${cost.service.toFixed(0)} us, PostgreSQL ${cost.database.toFixed(0)} us`)
  return cost
}

/** Processors that a service uses without requests. */
const idleOf = async (service: Service) => {
  await sleep(5000)
  const before = service.cpu()
  await sleep(10_000)
  return (service.cpu() - before) / 10e6
}

/** The rate of several nodes together, of which each has an operation of its own: no two of them write the same rows. */
const together = async (services: ReadonlyArray<Service>, operations: ReadonlyArray<Operation>) => {
  const each = { ...load, connections: Math.ceil(connections / services.length) }
  const slices = await Promise.all(services.map((service, node) => run(service, operations[node]!, each)))
  return slices.reduce((sum, { perSecond }) => sum + perSecond, 0)
}

const measure = async () => {
  await using keep = new AsyncDisposableStack()
  const server = keep.use(await Database.start(folder))
  const settings: Settings = { database: server, key, pool: 10, folder }
  const nodes = [keep.use(await waypost(settings))]
  await Database.seed(server.sql, size)
  await untilAssessed({ size, sql: server.sql }, say)
  const rows = { uuids: await Database.uuids(server.sql, 4096), brands: await Database.brands(server.sql, size) }
  const operations = make(rows)
  const most = Math.max(...shares.map(([count]) => count))
  const patches = Array.from({ length: most }, (_, node) => {
    const uuids = rows.uuids.filter((_uuid, index) => index % most === node)
    return make({ ...rows, uuids }).patch
  })
  const costs = {} as Record<Name, Cost>
  for (const name of measured) costs[name] = await costOf(nodes[0]!, operations[name], server)
  const idle = await idleOf(nodes[0]!)
  say(`a node without requests uses ${idle.toFixed(3)} of a processor`)
  while (nodes.length < most) {
    const node = keep.use(await waypost(settings))
    for (const name of measured) await warmUp(node, operations[name], load, warmUpRequests)
    nodes.push(node)
  }
  const checks: Array<ReadonlyArray<string>> = []
  for (const [count, share] of shares) {
    using limits = new DisposableStack()
    const used = nodes.slice(0, count)
    for (const { pid } of used) limits.use(limit(pid, share))
    for (const name of measured) {
      const own = used.map((_, node) => (name === "patch" ? patches[node]! : operations[name]))
      const rounded: Array<number> = []
      for (let round = 0; round < rounds; round++) rounded.push(await together(used, own))
      const { service } = rates(costs, { [name]: 1 }, { nodes: count, node: share, idle, replicas: 0, database })
      const rate = median(rounded)
      checks.push([`${count} x ${share}`, name, service.toFixed(0), rate.toFixed(0), (rate / service).toFixed(2)])
      say(checks.at(-1)!.join("  "))
    }
  }
  return { costs: costs as Costs, idle, checks }
}

const { checks, costs, idle } = await measure()
const lists = await replicated({ costs, idle, size, rounds, load, folder, say })
const predictions = predicted.replicas.flatMap((replicas) =>
  predicted.nodes.map((nodes) => {
    const rate = rates(costs, mix, { nodes, replicas, node: 1, database, idle })
    return [
      String(nodes),
      String(replicas),
      ...[rate.service, rate.database, Math.min(rate.service, rate.database)].map((value) => value.toFixed(0))
    ]
  })
)
console.log(
  [
    `# What nodes and replicas answer, by the cost of a request (${size} rows)`,
    table(
      ["operation", "service us", "PostgreSQL us"],
      measured.map((name) => [name, costs[name].service.toFixed(0), costs[name].database.toFixed(0)])
    ),
    `A node without requests uses ${idle.toFixed(3)} of a processor.`,
    `Requests a second, ${Object.entries(mix)
      .map(([name, share]) => `${(share * 100).toFixed(0)} % ${name}`)
      .join(", ")}; a node has one processor, each database ${database}:`,
    table(["nodes", "replicas", "the nodes", "the databases", "the installation"], predictions),
    "Nodes that have a part of a processor each:",
    table(["nodes x processors", "operation", "predicted", "measured", "ratio"], checks),
    `Lists of one node, whose databases have ${databaseShare} of a processor each:`,
    table(["replicas", "predicted", "measured", "ratio"], lists)
  ].join("\n\n")
)
