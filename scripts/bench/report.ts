import type { Creation } from "./bulk.ts"
import { type Measured, type Measurement, type Side, sides } from "./measure.ts"
import type { Name } from "../../test/support/Operations.ts"

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length / 2
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

interface Target {
  readonly against: "fastify" | "equipped"
  readonly atLeast: number
  /** The number of rows it applies to; any if absent. */
  readonly size?: number
}

/** Writes have no targets: their ratio is that of the stack. */
const targets: Readonly<Partial<Record<Name, Target>>> = {
  get: { against: "equipped", atLeast: 1 },
  list: { against: "fastify", atLeast: 14, size: 100_000 },
  filter: { against: "equipped", atLeast: 1.2, size: 100_000 }
}

const ratiosOf = ({ slices }: Measurement, side: Side) =>
  slices[side].map(({ perSecond }, round) => slices.waypost[round]!.perSecond / perSecond)

const medianOf = (slices: ReadonlyArray<Measured>, member: keyof Measured) =>
  median(slices.map((slice) => slice[member]))

const ratio = (measurement: Measurement, side: Side) => {
  const ratios = ratiosOf(measurement, side)
  return `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`
}

export const verdict = (reached: boolean) => (reached ? "pass" : "**miss**")

const verdictOf = (measurement: Measurement) => {
  const target = targets[measurement.operation]
  if (target === undefined || (target.size ?? measurement.size) !== measurement.size) return "-"
  const { against, atLeast } = target
  return `>= ${atLeast}x ${against}: ${verdict(median(ratiosOf(measurement, against)) >= atLeast)}`
}

const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, " ")

/** A Markdown table; cells are escaped. */
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.map(cell).join(" | ")} |`).join("\n")

const names: Readonly<Record<Side, string>> = {
  waypost: "Waypost",
  fastify: "Fastify",
  equipped: "Fastify equipped",
  bare: "the stack",
  again: "Waypost again"
}

const contestTable = (measurements: ReadonlyArray<Measurement>) =>
  table(
    ["operation", "rows", "Waypost / Fastify", "/ Fastify equipped", "/ the stack", "/ Waypost again", "target"],
    measurements.map((measurement) => [
      measurement.operation,
      String(measurement.size),
      ...(["fastify", "equipped", "bare", "again"] as const).map((side) => ratio(measurement, side)),
      verdictOf(measurement)
    ])
  )

const workTable = (measurements: ReadonlyArray<Measurement>) =>
  table(
    ["operation", "rows", "service", "req/s", "p50 / p99 ms", "CPU us", "PostgreSQL us", "WAL records", "HOT"],
    measurements.flatMap(({ operation, size, slices, work }) =>
      sides.map((side) => {
        const own = slices[side]
        const { hot, walRecords } = work[side] ?? {}
        return [
          operation,
          String(size),
          names[side],
          medianOf(own, "perSecond").toFixed(0),
          `${medianOf(own, "p50").toFixed(1)} / ${medianOf(own, "p99").toFixed(1)}`,
          medianOf(own, "cpu").toFixed(0),
          medianOf(own, "databaseCpu").toFixed(0),
          walRecords?.toFixed(1) ?? "-",
          hot === undefined || operation !== "patch" ? "-" : `${(hot * 100).toFixed(0)} %`
        ]
      })
    )
  )

/** How the latency of a read grows with the table. */
const growthTable = (measurements: ReadonlyArray<Measurement>) => {
  const rows = (["get", "list"] as const).flatMap((name) => {
    const own = measurements.filter(({ operation }) => operation === name).toSorted((one, two) => one.size - two.size)
    const first = own[0]
    const last = own.at(-1)
    if (first === undefined || last === undefined || first === last) return []
    const p50 = ({ slices }: Measurement) => median([...slices.waypost, ...slices.again].map((slice) => slice.p50))
    const growth = p50(last) / p50(first)
    return [[name, String(first.size), String(last.size), growth.toFixed(2), `<= 1.3: ${verdict(growth <= 1.3)}`]]
  })
  return rows.length === 0 ? [] : [table(["operation", "from rows", "to rows", "p50 grows by", "target"], rows)]
}

const creationTable = (creations: ReadonlyArray<Creation>) =>
  table(
    ["creating locations", "rows", "locations a second", "of one at a time", "CPU us", "PostgreSQL us"],
    creations.map(({ cpu, databaseCpu, name, rates, ratios, size }) => [
      name,
      String(size),
      median(rates).toFixed(0),
      `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`,
      median(cpu).toFixed(0),
      median(databaseCpu).toFixed(0)
    ])
  )

export interface Starts {
  readonly running: number
  readonly withPostgres: number
  readonly fastify: number
}

const resourceTable = (measurements: ReadonlyArray<Measurement>, starts: Starts) => {
  const memory = (...sides: ReadonlyArray<Side>) =>
    Math.max(
      ...measurements.flatMap(({ slices }) => sides.flatMap((side) => slices[side].map((slice) => slice.memory)))
    )
  const own = memory("waypost", "again")
  const ms = (value: number) => `${Math.round(value)} ms`
  return table(
    ["", "Waypost", "Fastify", "target"],
    [
      ["start to first response", ms(starts.running), ms(starts.fastify), `<= 2 s: ${verdict(starts.running <= 2000)}`],
      ["the same, including the start of PostgreSQL", ms(starts.withPostgres), "-", "-"],
      [
        "highest RSS under load",
        `${Math.round(own)} MB`,
        `${Math.round(memory("fastify"))} MB`,
        `<= 350 MB: ${verdict(own <= 350)}`
      ]
    ]
  )
}

/** The whole report in Markdown. */
export const report = (
  measurements: ReadonlyArray<Measurement>,
  creations: ReadonlyArray<Creation>,
  starts: Starts,
  conditions: string
): string =>
  [
    "# Waypost against hand-written Fastify 5 with postgres.js",
    `${conditions} Rates and latencies are medians of the rounds, ratios medians of the ratios within a round with the least and the ` +
      "most. Waypost again is the same process measured twice in each round: differences within its range are noise.",
    "Equipped, Fastify has entity tags, request ids, a line of log per write, limits on time and requests in flight, metrics and the " +
      "warning about similar identifiers. The stack is HttpApi, the schemas and the statements of Waypost, without its keys, permissions, " +
      "limits, request ids, metrics, log and errors.",
    contestTable(measurements),
    "CPU is that of the service and of PostgreSQL per request. WAL records are per write, and HOT is the part of the updates that wrote no " +
      "index, both of the warm-up.",
    workTable(measurements),
    ...(creations.length === 0 ? [] : [creationTable(creations)]),
    ...growthTable(measurements),
    resourceTable(measurements, starts)
  ].join("\n\n")
