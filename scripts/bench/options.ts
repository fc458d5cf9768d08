import { parseArgs } from "node:util"
import { type Name, names } from "./operations.ts"

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
  --rounds 5            how often each service has its turn
  --seconds 2           how long a turn is
  --connections 32      how many clients ask at once
  --pool 10             connections to PostgreSQL, for each service
  --only get,list       which of ${names.join(", ")}
  --profile get         shows where Waypost spends its time in one operation, and measures nothing else`

const refuse = (message: string): never => {
  process.stderr.write(`${message}\n\n${usage}\n`)
  return process.exit(2)
}

const number = (text: string, most: number) => {
  const value = Number(text)
  return Number.isInteger(value) && value >= 1 && value <= most
    ? value
    : refuse(`"${text}" is not a whole number from 1 to ${most}`)
}

const name = (text: string) => names.find((name) => name === text) ?? refuse(`"${text}" is not an operation`)

const definition = {
  sizes: { type: "string", default: "1000,100000" },
  rounds: { type: "string", default: "5" },
  seconds: { type: "string", default: "2" },
  connections: { type: "string", default: "32" },
  pool: { type: "string", default: "10" },
  only: { type: "string", default: names.join(",") },
  profile: { type: "string" }
} as const

const parse = () => {
  try {
    return parseArgs({ options: definition }).values
  } catch (error) {
    return refuse((error as Error).message)
  }
}

export const options = (): Options => {
  const values = parse()
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
