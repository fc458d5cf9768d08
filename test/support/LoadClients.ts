import autocannon, { type Client, type Result } from "autocannon"
import type { Operation } from "./Operations.ts"
import type { Service } from "./Services.ts"

/** The measurements of one service in one run. */
export interface Slice {
  readonly perSecond: number
  /** In milliseconds. Measured here because the histogram of autocannon has whole milliseconds only. */
  readonly p50: number
  readonly p99: number
  readonly responses: number
  /** CPU time of the service per request in microseconds, which depends little on other programs. */
  readonly cpu: number
  /** Peak resident memory in MB. */
  readonly memory: number
}

export interface Load {
  readonly connections: number
  readonly seconds: number
  readonly key: string
}

/**
 * Sends the requests of one operation to a service. Where possible they are built beforehand, so that the load generator
 * is cheap and costs the same for every service.
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
    throw new Error(
      `${service.name} ${operation.name}: ${statuses || "no unexpected status"}, ${outcome.errors} errors`
    )
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

/** Percentiles of latencies, in their unit. */
export const percentilesOf = (latencies: ReadonlyArray<number>) => {
  const sorted = Float64Array.from(latencies).toSorted()
  const percentile = (fraction: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))]!
  return { p50: percentile(0.5), p99: percentile(0.99), max: percentile(1) }
}
