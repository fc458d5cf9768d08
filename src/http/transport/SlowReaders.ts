import type { Server } from "node:http"
import type { Socket } from "node:net"

/** Limits on clients that do not take the bytes that wait for them. */
export interface ReadLimits {
  /** How long a client may take nothing, in milliseconds. */
  readonly stall: number
  /** What a client must take on average, in bytes per second. */
  readonly minRate: number
  /** Over which the rate is averaged, in milliseconds. */
  readonly average: number
}

/** Node's handle of a connection: the bytes that it was given, and those that the kernel has not accepted yet. */
interface Handle {
  readonly bytesWritten: number
  readonly writeQueueSize: number
}

type Connection = Socket & { readonly _handle?: Handle | null }

const takenOf = ({ bytesWritten, writeQueueSize }: Handle) => bytesWritten - writeQueueSize

/** What a client has taken while bytes wait for it, at checks. */
interface Progress {
  /** Bytes at the beginning of the average. */
  readonly from: number
  /** Checks since then. */
  readonly checks: number
  /** Bytes at the last check. */
  readonly last: number
  /** Checks without any progress. */
  readonly stalled: number
}

const checksPerLimit = 6

/**
 * Resets the connections of slow readers of a server. One timer checks all connections; answers cost nothing. Time is
 * counted in checks, so that a process that was suspended does not blame its clients.
 */
export const resetSlowReaders = (server: Server, { average, minRate, stall }: ReadLimits) => {
  const interval = Math.min(average, stall) / checksPerLimit
  const maxStalled = Math.ceil(stall / interval)
  const averagedOver = Math.ceil(average / interval)
  const minBytes = (minRate * average) / 1000
  const connections = new Map<Connection, Progress | undefined>()

  /** The progress of a client that is fast enough; `undefined` if it is not. */
  const advance = ({ checks, from, last, stalled }: Progress, taken: number): Progress | undefined => {
    const next = { from, checks: checks + 1, last: taken, stalled: taken === last ? stalled + 1 : 0 }
    if (next.stalled >= maxStalled) return undefined
    if (next.checks < averagedOver) return next
    return taken - from < minBytes ? undefined : { ...next, from: taken, checks: 0 }
  }

  const check = (connection: Connection, progress: Progress | undefined) => {
    const { _handle: handle, writableLength: waiting } = connection
    const taken = waiting === 0 || handle === undefined || handle === null ? undefined : takenOf(handle)
    if (taken === undefined) connections.set(connection, undefined)
    else {
      const next =
        progress === undefined ? { from: taken, checks: 0, last: taken, stalled: 0 } : advance(progress, taken)
      if (next === undefined) connection.resetAndDestroy()
      else connections.set(connection, next)
    }
  }

  server.on("connection", (connection: Connection) => {
    connections.set(connection, undefined)
    connection.once("close", () => connections.delete(connection))
  })
  const timer = setInterval(() => connections.forEach((progress, connection) => check(connection, progress)), interval)
  timer.unref()
  server.once("close", () => clearInterval(timer))
}
