import { type Context, Effect, Metric } from "effect"
import process from "node:process"

const boundaries = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20]

const within = <K, V>(map: Map<K, V>, key: K, make: () => V): V => {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}

interface Answer {
  readonly method: string
  readonly route: string
  readonly status: number
  readonly seconds: number
}

/**
 * Counts answers and their time. Histograms are kept by route, method and status, because a lookup by attributes costs
 * more than the update; in nested maps, because a single key would be built for every request.
 */
export const makeRecorder = () => {
  const durations = new Map<string, Map<string, Map<number, Metric.Histogram<number>>>>()
  const durationOf = ({ method, route, status }: Answer) => {
    const ofRoute = within(durations, route, () => new Map<string, Map<number, Metric.Histogram<number>>>())
    const ofMethod = within(ofRoute, method, () => new Map<number, Metric.Histogram<number>>())
    return within(ofMethod, status, () =>
      Metric.histogram("http_request_duration_seconds", {
        description: "Time from the arrival of a request to its answer",
        boundaries,
        attributes: { method, route, status: String(status) }
      })
    )
  }
  return (context: Context.Context<never>, answer: Answer): void =>
    durationOf(answer).updateUnsafe(answer.seconds, context)
}

const gauges = {
  // Several processes may share the port: this identifies the one that answered.
  process: Metric.gauge("process_info", {
    description: "The process that answered",
    attributes: { pid: String(process.pid) }
  }),
  residentMemory: Metric.gauge("process_resident_memory_bytes", { description: "Resident memory" }),
  heapUsed: Metric.gauge("nodejs_heap_size_used_bytes", { description: "Heap in use" }),
  cpu: Metric.gauge("process_cpu_seconds_total", { description: "CPU time spent, user and system" }),
  uptime: Metric.gauge("process_uptime_seconds", { description: "Time since the process started" }),
  inFlight: Metric.gauge("http_requests_in_flight", { description: "Requests being answered" })
}

/** Updates the gauges of the process. */
export const observe = (context: Context.Context<never>, inFlight: number): void => {
  const { heapUsed, rss } = process.memoryUsage()
  const { system, user } = process.cpuUsage()
  gauges.process.updateUnsafe(1, context)
  gauges.residentMemory.updateUnsafe(rss, context)
  gauges.heapUsed.updateUnsafe(heapUsed, context)
  gauges.cpu.updateUnsafe((system + user) / 1e6, context)
  gauges.uptime.updateUnsafe(process.uptime(), context)
  gauges.inFlight.updateUnsafe(inFlight, context)
}

const deprecatedRequests = Metric.counter("waypost_deprecated_requests_total", {
  description: "Requests of deprecated operations, by operation and key",
  incremental: true
})

/** How many keys of an operation are counted by themselves; the others are counted together, as `other`. */
const maxKeys = 1000

/** Counts the requests of deprecated operations. */
export const makeDeprecatedCounter = () => {
  const keysOf = new Map<string, Set<string>>()
  return (operation: string, key: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      const keys = within(keysOf, operation, () => new Set<string>())
      if (keys.size < maxKeys) keys.add(key)
      const attributes = { operation, key: keys.has(key) ? key : "other" }
      return Metric.update(Metric.withAttributes(deprecatedRequests, attributes), 1)
    })
}
