import type { Sql } from "postgres"
import { type Load, run, type Slice } from "../../test/support/LoadClients.ts"
import type { Name, Operation } from "../../test/support/Operations.ts"
import type { Service } from "../../test/support/Services.ts"
import { databaseCpu, writesOf, writtenSince } from "./database.ts"
import { exactTotal } from "./verification.ts"

/** `again` is Waypost a second time. */
export const sides = ["waypost", "fastify", "equipped", "bare", "again"] as const
export type Side = (typeof sides)[number]

export interface Measured extends Slice {
  /** CPU time of PostgreSQL per request in microseconds. */
  readonly databaseCpu: number
}

/** What a write costs the database. */
export interface Work {
  readonly walRecords: number
  /** The part of the updates that wrote no index. */
  readonly hot: number
}

/** The slices of one operation at one size: those with the same index ran one after the other. */
export interface Measurement {
  readonly size: number
  readonly operation: Name
  readonly slices: Readonly<Record<Side, ReadonlyArray<Measured>>>
  /** Of each side, for writes. */
  readonly work: Readonly<Partial<Record<Side, Work>>>
}

export interface Contest {
  readonly size: number
  readonly services: Readonly<Record<Side, Service>>
  readonly sql: Sql
  readonly rounds: number
  readonly load: Load
}

const counted = { patch: "updates", create: "rows" } as const
const isWrite = (name: Name): name is keyof typeof counted => name in counted

/** V8 optimises a code path after some thousand requests, and later for Effect than for Fastify. */
const warmUpRequests = 20_000
const warmUpSeconds = 60

/** Sends requests until there are enough or a minute has passed, and returns how many. */
export const warmUp = async (service: Service, operation: Operation, load: Load, requests = warmUpRequests) => {
  const until = performance.now() + warmUpSeconds * 1000
  let responses = 0
  while (responses < requests && performance.now() < until) {
    responses += (await run(service, operation, { ...load, seconds: 3 })).responses
  }
  return responses
}

/** Measures every side in every round. Each round starts with another side, so that a busy minute affects all of them. */
export const measure = async (contest: Contest, operation: Operation): Promise<Measurement> => {
  const { load, rounds, services, size, sql } = contest
  const { name } = operation
  const slices: Record<Side, Array<Measured>> = { waypost: [], fastify: [], equipped: [], bare: [], again: [] }
  const work: Partial<Record<Side, Work>> = {}
  const say = (text: string) => process.stderr.write(`${size} rows, ${name}: ${text}\n`)
  for (const side of sides) {
    if (side === "again") continue
    const before = await writesOf(sql)
    const responses = await warmUp(services[side], operation, load)
    say(`${side} is warm after ${responses} requests`)
    if (!isWrite(name)) continue
    const written = await writtenSince(sql, counted[name], before, responses)
    work[side] = { walRecords: written.walRecords / responses, hot: written.hot / Math.max(1, written.updates) }
  }
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < sides.length; turn++) {
      const side = sides[(round + turn) % sides.length]!
      const spent = await databaseCpu(sql)
      const slice = await run(services[side], operation, load)
      slices[side].push({ ...slice, databaseCpu: (await spent()) / slice.responses })
    }
    say(`round ${round + 1} of ${rounds}`)
  }
  if (isWrite(name)) await exactTotal(sql)
  return { size, operation: name, slices, work }
}
