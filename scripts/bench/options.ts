import { commandLine } from "./command-line.ts"
import { type Name, names } from "../../test/support/Operations.ts"

export interface Options {
  readonly sizes: ReadonlyArray<number>
  readonly rounds: number
  readonly seconds: number
  readonly connections: number
  readonly pool: number
  readonly only: ReadonlyArray<Name>
  readonly profile: Name | undefined
}

const usage = `npm run bench -- [options]

  --sizes 1000,100000   rows in the table
  --rounds 5            runs of each service
  --seconds 2           duration of a run
  --connections 32      concurrent clients
  --pool 10             connections to PostgreSQL, for each service
  --only get,list       operations out of ${names.join(", ")}
  --profile get         prints a CPU profile of one operation of Waypost instead of the comparison`

const { number, oneOf, values: read } = commandLine(usage)
const name = oneOf(names)

const definition = {
  sizes: { type: "string", default: "1000,100000" },
  rounds: { type: "string", default: "5" },
  seconds: { type: "string", default: "2" },
  connections: { type: "string", default: "32" },
  pool: { type: "string", default: "10" },
  only: { type: "string", default: names.join(",") },
  profile: { type: "string" }
} as const

export const options = (): Options => {
  const values = read(definition)
  return {
    sizes: values.sizes.split(",").map((size) => number(size, 10_000_000)),
    rounds: number(values.rounds, 100),
    seconds: number(values.seconds, 60),
    connections: number(values.connections, 500),
    pool: number(values.pool, 80),
    only: values.only.split(",").map(name),
    profile: values.profile === undefined ? undefined : name(values.profile)
  }
}
