import type { Slice } from "../../test/support/LoadClients.ts"
import type { Measurement, Side } from "./measure.ts"
import type { Name } from "../../test/support/Operations.ts"

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length / 2
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

interface Target {
  readonly against: "fastify" | "variant"
  readonly atLeast: number
  /** The number of rows it applies to; any if absent. */
  readonly size?: number
}

/** The targets of the performance design. */
const targets: Readonly<Record<Name, ReadonlyArray<Target>>> = {
  get: [
    { against: "fastify", atLeast: 1.15 },
    { against: "variant", atLeast: 1 }
  ],
  list: [{ against: "fastify", atLeast: 6, size: 100_000 }],
  filter: [{ against: "fastify", atLeast: 1.4, size: 100_000 }],
  patch: [{ against: "fastify", atLeast: 0.9 }],
  create: [{ against: "fastify", atLeast: 0.9 }]
}

const ratiosOf = ({ slices }: Measurement, side: Side) =>
  slices[side].map(({ perSecond }, round) => slices.waypost[round]!.perSecond / perSecond)

const rate = (slices: ReadonlyArray<Slice>) =>
  slices.length === 0 ? "-" : String(Math.round(median(slices.map(({ perSecond }) => perSecond))))

const latency = (slices: ReadonlyArray<Slice>) => {
  const of = (member: "p50" | "p99") => median(slices.map((slice) => slice[member])).toFixed(1)
  return slices.length === 0 ? "-" : `${of("p50")} / ${of("p99")}`
}

const cpu = (slices: ReadonlyArray<Slice>) =>
  slices.length === 0 ? "-" : median(slices.map(({ cpu }) => cpu)).toFixed(0)

const ratio = (measurement: Measurement, side: Side) => {
  const ratios = ratiosOf(measurement, side)
  return ratios.length === 0 ? "-" : median(ratios).toFixed(2)
}

const spread = (measurement: Measurement) => {
  const ratios = ratiosOf(measurement, "again")
  return `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`
}

export const verdict = (reached: boolean) => (reached ? "pass" : "**miss**")

const verdicts = (measurement: Measurement) => {
  const applicable = targets[measurement.operation].filter(
    ({ size }) => size === undefined || size === measurement.size
  )
  return applicable.length === 0
    ? "-"
    : applicable
        .map(({ against, atLeast }) => {
          const reached = median(ratiosOf(measurement, against)) >= atLeast
          return `>= ${atLeast}x ${against === "fastify" ? "Fastify" : "variant"}: ${verdict(reached)}`
        })
        .join(", ")
}

const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll(/\s*\n\s*/g, " ")

/** A Markdown table; cells are escaped. */
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.map(cell).join(" | ")} |`).join("\n")

const contestTable = (measurements: ReadonlyArray<Measurement>) =>
  table(
    [
      "operation",
      "rows",
      "Waypost req/s",
      "p50 / p99 ms",
      "CPU us",
      "Fastify req/s",
      "p50 / p99 ms",
      "CPU us",
      "variant req/s",
      "p50 / p99 ms",
      "CPU us",
      "Waypost / Fastify",
      "Waypost / variant",
      "Waypost / Waypost",
      "target"
    ],
    measurements.map((measurement) => [
      measurement.operation,
      String(measurement.size),
      ...(["waypost", "fastify", "variant"] as const).flatMap((side) => [
        rate(measurement.slices[side]),
        latency(measurement.slices[side]),
        cpu(measurement.slices[side])
      ]),
      ratio(measurement, "fastify"),
      ratio(measurement, "variant"),
      spread(measurement),
      verdicts(measurement)
    ])
  )

/** The cost of the stack alone, which bounds what Waypost can reach. */
const stackTable = (measurements: ReadonlyArray<Measurement>) =>
  table(
    ["operation", "rows", "stack req/s", "CPU us of Fastify", "of the stack", "of Waypost", "stack / Fastify"],
    measurements.map((measurement) => {
      const { operation, size, slices } = measurement
      const ratios = slices.bare.map(({ perSecond }, round) => perSecond / slices.fastify[round]!.perSecond)
      return [
        operation,
        String(size),
        rate(slices.bare),
        cpu(slices.fastify),
        cpu(slices.bare),
        cpu(slices.waypost),
        median(ratios).toFixed(2)
      ]
    })
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

const variantList = (measurements: ReadonlyArray<Measurement>) =>
  [...new Map(measurements.map(({ operation, variant }) => [operation, variant]))]
    .filter(([, variant]) => variant !== undefined)
    .map(([operation, variant]) => `${operation}: ${variant}`)
    .join("; ")

/** The whole report in Markdown. */
export const report = (measurements: ReadonlyArray<Measurement>, starts: Starts, conditions: string): string =>
  [
    "# Waypost against hand-written Fastify 5 with postgres.js",
    `${conditions} Rates and latencies are medians of the rounds, ratios medians of the ratios within a round. ` +
      "CPU us is the CPU time of the service's process per request. Waypost / Waypost is the same process measured " +
      "twice in each round: differences within its range are noise.",
    `Variant of Fastify: ${variantList(measurements)}.`,
    contestTable(measurements),
    "The stack is HttpApi, the schemas and the same statements, without the keys, permissions, limits, request ids, metrics, " +
      "log and errors of Waypost:",
    stackTable(measurements),
    ...growthTable(measurements),
    resourceTable(measurements, starts),
    measurements
      .filter(({ written }) => written !== undefined)
      .map(
        ({ operation, size, written }) => `${operation} at ${size}: the database confirms ${written} durable writes.`
      )
      .join(" ")
  ].join("\n\n")
