import autocannon, { type Client, type Options, type Request, type Result } from "autocannon"
import { readdirSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { percentilesOf } from "../LoadClients.ts"
import { memoryOf } from "../Services.ts"

/** The responses to requests on many concurrent connections. */
export interface Outcome {
  readonly statuses: ReadonlyMap<number, number>
  /** Connections that broke, were closed early or timed out. */
  readonly broken: number
  /** The distinct bodies of error responses. */
  readonly errorBodies: ReadonlySet<string>
  /** Error responses without `Retry-After`. */
  readonly withoutRetryAfter: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** Seconds from the start to the last success. */
  readonly lastSuccess: number
}

export interface Load extends Pick<Options, "url" | "connections" | "headers" | "overallRate"> {
  /** The load ends after these seconds or this number of responses. */
  readonly until: { readonly seconds: number } | { readonly requests: number }
  /** The requests that each connection repeats. */
  readonly requests: (connection: number) => ReadonlyArray<Request>
}

const has = (headers: ReadonlyArray<string>, name: string) =>
  headers.some((header, index) => index % 2 === 0 && header.toLowerCase() === name)

/** Puts load on a service and records every response. */
export const fire = async ({ requests, until, ...options }: Load): Promise<Outcome> => {
  const statuses = new Map<number, number>()
  const errorBodies = new Set<string>()
  const latencies: Array<number> = []
  let withoutRetryAfter = 0
  let reconnected = 0
  let connection = 0
  let lastSuccess = 0
  const began = performance.now()
  const setupClient = (client: Client) => {
    client.setRequests(requests(connection++))
    let status = 0
    let text = ""
    let connected: object | undefined
    client.on("headers", (head) => {
      status = head.statusCode
      text = ""
      if (status >= 400 && !has(head.headers, "retry-after")) withoutRetryAfter++
    })
    client.on("body", (chunk) => {
      if (status >= 400) text += chunk.toString("utf8")
    })
    client.on("response", (_status, _bytes, milliseconds) => {
      if (status >= 400) errorBodies.add(text)
      else lastSuccess = (performance.now() - began) / 1000
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      latencies.push(milliseconds)
      // The generator silently reconnects when a connection is closed.
      if (connected !== undefined && connected !== client.conn) reconnected++
      connected = client.conn
    })
  }
  const amount = "requests" in until ? { amount: until.requests } : { duration: until.seconds }
  const { errors } = await new Promise<Result>((resolve, reject) => {
    autocannon({ ...options, ...amount, setupClient }, (error, result) =>
      error === null ? resolve(result) : reject(error)
    )
  })
  return {
    statuses,
    broken: errors + reconnected,
    errorBodies,
    withoutRetryAfter,
    lastSuccess,
    ...percentilesOf(latencies)
  }
}

/** Open descriptors of a process. */
export const descriptorsOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length

/** Resident memory of a process in MB before, during (the peak) and after `work`. */
export const withMemory = async <A>(pid: number, work: () => Promise<A>) => {
  const before = memoryOf(pid)
  let peak = before
  const timer = setInterval(() => (peak = Math.max(peak, memoryOf(pid))), 50)
  try {
    const result = await work()
    return { result, before, peak: Math.max(peak, memoryOf(pid)), after: memoryOf(pid) }
  } finally {
    clearInterval(timer)
  }
}

/** Sends one GET after the other until stopped; returns the latencies in milliseconds. */
export const probe = (url: string, headers: Readonly<Record<string, string>>, pause = 10) => {
  const latencies: Array<number> = []
  const statuses = new Map<number, number>()
  const stopping = new AbortController()
  const running = (async () => {
    while (!stopping.signal.aborted) {
      const began = performance.now()
      const response = await fetch(url, { headers })
      await response.arrayBuffer()
      latencies.push(performance.now() - began)
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1)
      await sleep(pause)
    }
  })()
  return async () => {
    stopping.abort()
    await running
    return { ...percentilesOf(latencies), count: latencies.length, statuses }
  }
}
