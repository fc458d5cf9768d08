import autocannon, { type Client, type Result } from "autocannon"
import type { Operation } from "./Operations.ts"
import type { Service } from "./Services.ts"

/** What one service did in one slice of time. */
export interface Slice {
  readonly perSecond: number
  /** Milliseconds; the histogram of autocannon only knows whole ones. */
  readonly p50: number
  readonly p99: number
  readonly responses: number
  /** Microseconds of CPU time that the process of the service spent on a request; other programs do not change it much. */
  readonly cpu: number
  /** Resident memory at its highest, in MB. */
  readonly memory: number
}

export interface Load {
  readonly connections: number
  readonly seconds: number
  readonly key: string
}

/**
 * Puts one operation on one service for some seconds. Requests are made beforehand where they can be, so that the
 * generator costs little, and it costs the same whoever answers.
 */
export const run = async (service: Service, operation: Operation<string>, load: Load): Promise<Slice> => {
  const { connections, key, seconds } = load
  const latencies: Array<number> = []
  const unexpected = new Map<number, number>()
  let started = 0
  let ended = 0
  let memory = 0
  const next = operation.requests(connections)
  const cpuBefore = service.cpu()
  const watch = setInterval(() => (memory = Math.max(memory, service.memory())), 200)

  const outcome = await new Promise<Result>((resolve, reject) => {
    const headers = { authorization: key, "content-type": "application/json" }
    const instance = autocannon(
      {
        url: service.url,
        connections,
        duration: seconds,
        sampleInt: 50,
        headers: operation.method === "GET" ? { authorization: key } : headers,
        setupClient: (client: Client) => client.setRequests(next())
      },
      (error, result) => (error === null ? resolve(result) : reject(error))
    )
    instance.on("response", (_client: unknown, status: number, _bytes: number, milliseconds: number) => {
      if (status !== operation.status) unexpected.set(status, (unexpected.get(status) ?? 0) + 1)
      ended = performance.now()
      if (started === 0) started = ended
      latencies.push(milliseconds)
    })
  })
  const cpuTime = service.cpu() - cpuBefore
  clearInterval(watch)

  if (unexpected.size > 0 || outcome.errors > 0 || latencies.length < 2) {
    const statuses = [...unexpected].map(([status, count]) => `${count} x ${status}`).join(", ")
    throw new Error(`${service.name} ${operation.name}: ${statuses || "no wrong status"}, ${outcome.errors} errors`)
  }
  const { p50, p99 } = percentilesOf(latencies)
  return {
    perSecond: ((latencies.length - 1) / (ended - started)) * 1000,
    p50,
    p99,
    responses: latencies.length,
    cpu: cpuTime / latencies.length,
    memory
  }
}

/** How long answers took, in the unit they were given in. */
export const percentilesOf = (latencies: ReadonlyArray<number>) => {
  const sorted = Float64Array.from(latencies).toSorted()
  const percentile = (fraction: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))]!
  return { p50: percentile(0.5), p99: percentile(0.99), max: percentile(1) }
}
