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
  /** How long a client would take for all bytes that wait for it at the lowest rate, in milliseconds. */
  readonly whole: number
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
  /** Bytes that waited then. */
  readonly waiting: number
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
export const resetSlowReaders = (server: Server, { average, minRate, stall, whole }: ReadLimits) => {
  const interval = Math.min(average, stall) / checksPerLimit
  const maxStalled = Math.ceil(stall / interval)
  const averagedOver = Math.ceil(average / interval)
  const minBytes = (minRate * average) / 1000
  const connections = new Map<Connection, Progress | undefined>()

  /** The progress of a client that is fast enough; `undefined` if it is not. */
  const advance = (before: Progress, taken: number, waiting: number): Progress | undefined => {
    const stalled = taken === before.last ? before.stalled + 1 : 0
    if (stalled >= maxStalled) return undefined
    const next = { ...before, checks: before.checks + 1, last: taken, stalled }
    if (next.checks < averagedOver) return next
    const due = Math.max(minBytes, (before.waiting * average) / whole)
    return taken - before.from < due ? undefined : { ...next, from: taken, waiting, checks: 0 }
  }

  const check = (connection: Connection, progress: Progress | undefined) => {
    const { _handle: handle, writableLength: waiting } = connection
    const taken = waiting === 0 || handle === undefined || handle === null ? undefined : takenOf(handle)
    if (taken === undefined) connections.set(connection, undefined)
    else {
      const next =
        progress === undefined
          ? { from: taken, waiting, checks: 0, last: taken, stalled: 0 }
          : advance(progress, taken, waiting)
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
