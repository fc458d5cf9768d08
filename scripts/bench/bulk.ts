import assert from "node:assert/strict"
import { run } from "../../test/support/LoadClients.ts"
import { newLocation, type Operation } from "../../test/support/Operations.ts"
import { databaseCpu } from "./database.ts"
import type { Contest, Side } from "./measure.ts"

/** How fast one way of creating locations is, a value for each round. */
export interface Creation {
  readonly size: number
  readonly name: string
  /** Locations a second. */
  readonly rates: ReadonlyArray<number>
  /** Of the rate of Waypost one at a time, in the same round. */
  readonly ratios: ReadonlyArray<number>
  /** CPU time of the service and of PostgreSQL for a location in microseconds. */
  readonly cpu: ReadonlyArray<number>
  readonly databaseCpu: ReadonlyArray<number>
}

/** Locations in a request. */
const many = 100

/** Fewer than the requests with many records that a key may have in flight. */
const connections = 2

let round = 0

/** Requests that create many locations each. */
const creating = (
  name: string,
  { path, status }: { readonly path: string; readonly status: number },
  bodyOf: (locations: ReadonlyArray<object>) => unknown
): Operation<string> => ({
  name,
  method: "POST",
  status,
  requests: () => {
    const own = ++round
    let number = 0
    const body = () =>
      JSON.stringify(
        bodyOf(Array.from({ length: many }, () => newLocation(`${name}-${process.pid}-${own}-${number++}`)))
      )
    return () => [{ method: "POST", path, setupRequest: (request) => ({ ...request, body: body() }) }]
  }
})

const bulk = creating("bulk", { path: "/v1/locations/bulk", status: 200 }, (locations) => ({
  operations: locations.map((data) => ({ op: "create", data }))
}))

const array = creating("array", { path: "/v1/locations/array", status: 201 }, (locations) => locations)

/** Compares bulk requests with single ones, and with an array that another service inserts one by one. */
export const createMany = async (
  { load, rounds, services, size, sql }: Contest,
  one: Operation
): Promise<ReadonlyArray<Creation>> => {
  const ways: ReadonlyArray<{
    readonly name: string
    readonly side: Side
    readonly operation: Operation<string>
    readonly each: number
  }> = [
    { name: "Waypost, one at a time", side: "waypost", operation: one, each: 1 },
    { name: `Waypost, bulk of ${many}`, side: "waypost", operation: bulk, each: many },
    { name: `Fastify, array of ${many}`, side: "fastify", operation: array, each: many }
  ]
  const rowsOf = async () =>
    (await sql<[{ readonly rows: number }]>`select count(*)::int as rows from locations`)[0].rows
  const slices = ways.map(() => new Array<{ rate: number; cpu: number; databaseCpu: number }>())
  // The first round warms up.
  for (let round = 0; round <= rounds; round++) {
    for (let turn = 0; turn < ways.length; turn++) {
      const index = (round + turn) % ways.length
      const { each, operation, side } = ways[index]!
      const [before, spent] = [await rowsOf(), await databaseCpu(sql)]
      const slice = await run(services[side], operation, each === 1 ? load : { ...load, connections })
      const database = await spent()
      assert.ok((await rowsOf()) - before >= slice.responses * each, `${operation.name} created too few locations`)
      if (round === 0) continue
      slices[index]!.push({
        rate: slice.perSecond * each,
        cpu: slice.cpu / each,
        databaseCpu: database / slice.responses / each
      })
    }
    process.stderr.write(`${size} rows, many at once: round ${round} of ${rounds}\n`)
  }
  return ways.map(({ name }, index) => ({
    size,
    name,
    rates: slices[index]!.map(({ rate }) => rate),
    ratios: slices[index]!.map(({ rate }, round) => rate / slices[0]![round]!.rate),
    cpu: slices[index]!.map(({ cpu }) => cpu),
    databaseCpu: slices[index]!.map(({ databaseCpu }) => databaseCpu)
  }))
}
