import type { Sql } from "postgres"
import { type Load, run, type Slice } from "../../test/support/LoadClients.ts"
import type { Name, Operation } from "../../test/support/Operations.ts"
import type { Service } from "../../test/support/Services.ts"
import { reallyWritten, writesOf } from "./verification.ts"

export const sides = ["waypost", "fastify", "variant", "bare", "again"] as const
export type Side = (typeof sides)[number]

/** The slices of one operation at one size: those with the same index ran one after the other. */
export interface Measurement {
  readonly size: number
  readonly operation: Name
  readonly variant: string | undefined
  readonly slices: Readonly<Record<Side, ReadonlyArray<Slice>>>
  /** The number of writes that the database reports. */
  readonly written: number | undefined
}

export interface Contest {
  readonly size: number
  readonly services: Readonly<Record<Side, Service>>
  readonly sql: Sql
  readonly rounds: number
  readonly load: Load
}

const counted = { patch: "updates", create: "rows" } as const

/** V8 needs some seconds to optimise a code path, and longer for Effect than for Fastify. */
const warmUp = (load: Load) => ({ ...load, seconds: Math.max(3, load.seconds) })

/** Measures every side in every round. Each round starts with another side, so that a busy minute affects all of them. */
export const measure = async (contest: Contest, operation: Operation): Promise<Measurement> => {
  const { load, rounds, services, size, sql } = contest
  const present = sides.filter((side) => side !== "variant" || operation.variant !== undefined)
  const slices: Record<Side, Array<Slice>> = { waypost: [], fastify: [], variant: [], bare: [], again: [] }
  const before = await writesOf(sql)
  let responses = 0
  for (const side of present) {
    if (side !== "again") responses += (await run(services[side], operation, warmUp(load))).responses
  }
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < present.length; turn++) {
      const side = present[(round + turn) % present.length]!
      const slice = await run(services[side], operation, load)
      responses += slice.responses
      slices[side].push(slice)
    }
    process.stderr.write(`${size} rows, ${operation.name}: round ${round + 1} of ${rounds}\n`)
  }
  const { name } = operation
  const written =
    name === "patch" || name === "create" ? await reallyWritten(sql, counted[name], before, responses) : undefined
  return { size, operation: operation.name, variant: operation.variant, slices, written }
}
