import type { Name } from "../../../test/support/Operations.ts"

/** What a request takes of processors, in microseconds. */
export interface Cost {
  readonly service: number
  readonly database: number
}

export type Costs = Readonly<Record<Name, Cost>>

/** The part that each operation has of all requests. */
export type Mix = Readonly<Partial<Record<Name, number>>>

export interface Installation {
  readonly nodes: number
  readonly replicas: number
  /** Processors of each node; a node uses little more than one. */
  readonly node: number
  /** Processors of the primary, and of each replica. */
  readonly database: number
  /** Processors that a node uses without requests. */
  readonly idle: number
}

/** Writes are made on the primary; the replicas share the reads where there are some. */
const writes: ReadonlySet<Name> = new Set(["patch", "create"])

const sum = (costs: Costs, mix: Mix, part: (cost: Cost, name: Name) => number) =>
  Object.entries(mix).reduce((total, [name, share]) => total + share * part(costs[name as Name], name as Name), 0)

/** Requests a second that nodes and databases can answer, each for itself. The lesser one is the rate of the installation. */
export const rates = (costs: Costs, mix: Mix, { database, idle, node, nodes, replicas }: Installation) => {
  const service = sum(costs, mix, (cost) => cost.service)
  const read = sum(costs, mix, (cost, name) => (writes.has(name) ? 0 : cost.database))
  const written = sum(costs, mix, (cost, name) => (writes.has(name) ? cost.database : 0))
  const processors = database * 1e6
  return {
    service: (nodes * (node - idle) * 1e6) / service,
    database:
      replicas === 0 ? processors / (read + written) : Math.min(processors / written, (replicas * processors) / read)
  }
}
