import type { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { connect, type NetConnectOpts, type Socket } from "node:net"
import { Duplex } from "node:stream"
import { manyRecordsSeconds } from "../../domain/write/ManyRecords.ts"

/** How the sockets of a pool behave. */
interface Behaviour {
  /**
   * Sends everything written within one turn of the event loop in one system call. The statements of many requests share
   * the connections of the pipelined pool, and a call for each of them would cost a fifth of a read.
   */
  readonly batched: boolean
  /** For how many milliseconds a statement may run. */
  readonly statementMillis: number
}

type Write = (...args: ReadonlyArray<unknown>) => boolean

/** Runs a function before every write. */
const beforeWrites = (socket: Socket, run: () => void) => {
  const write = socket.write.bind(socket) as Write
  socket.write = (...args: ReadonlyArray<unknown>) => {
    run()
    return write(...args)
  }
}

const batch = (socket: Socket) => {
  let corked = false
  const flush = () => {
    corked = false
    socket.uncork()
  }
  beforeWrites(socket, () => {
    if (corked) return
    corked = true
    socket.cork()
    setImmediate(flush)
  })
}

/** Longer than any other statement may run, so that a busy database is never mistaken for one that hangs. */
const silenceSeconds = (statementMillis: number) => Math.ceil(statementMillis / 1000) + 3

/** Longer than the statements within `patiently` may run. */
const longSilenceSeconds = manyRecordsSeconds + 5

/** How many effects run within `patiently`. */
let patient = 0

/**
 * Runs statements of a write that alters many records. While they run, no connection of the pools without pipelining is closed for
 * its silence before; those with the reads of all keys are.
 */
export const patiently = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    Effect.sync(() => patient++),
    () => effect,
    () => Effect.sync(() => patient--)
  )

/**
 * Closes a connection whose server sends nothing after a request: it is frozen, or its machine or network failed. TCP
 * detects that after a quarter of an hour or never, and neither a commit nor a statement that shares its connection can
 * be interrupted. A timer counts the seconds, because a clock would include time in which this process was suspended.
 */
const watch = (socket: Socket, { batched, statementMillis }: Behaviour) => {
  const usualSeconds = silenceSeconds(statementMillis)
  let readBefore: number | undefined
  let silent = 0
  beforeWrites(socket, () => {
    if (readBefore === socket.bytesRead) return
    readBefore = socket.bytesRead
    silent = 0
  })
  const isSilent = () => readBefore === socket.bytesRead
  const timer = setInterval(() => {
    const seconds = patient > 0 && !batched ? longSilenceSeconds : usualSeconds
    if (!isSilent() || silent++ < seconds) return
    // Data that has already arrived is read before this runs.
    setImmediate(() => {
      if (isSilent()) socket.destroy(new Error(`The database has not answered for ${seconds} seconds`))
    })
  }, 1000)
  socket.once("close", () => clearInterval(timer))
}

/** The address that the client would connect to. */
const addressOf = ({ host, path, port, url: given }: PgClient.PgClientConfig): NetConnectOpts => {
  if (path !== undefined) return { path }
  const url = given === undefined ? undefined : new URL(Redacted.value(given))
  const name = host ?? url?.searchParams.get("host") ?? decodeURIComponent(url?.hostname ?? "")
  const number = port ?? Number(url?.searchParams.get("port") ?? (url?.port || 5432))
  return name.startsWith("/")
    ? { path: `${name}/.s.PGSQL.${number}` }
    : { host: name.replace(/^\[|\]$/g, "") || "localhost", port: number, noDelay: true, keepAlive: true }
}

const isSecured = ({ url }: PgClient.PgClientConfig) =>
  url !== undefined && !["disable", null].includes(new URL(Redacted.value(url)).searchParams.get("sslmode"))

/** Makes the connections of a pool; the client itself adds TLS. */
export const streamOf = (database: PgClient.PgClientConfig, behaviour: Behaviour): (() => Duplex) => {
  const address = addressOf(database)
  const secured = isSecured(database)
  return () => {
    const socket = connect(address)
    watch(socket, behaviour)
    if (behaviour.batched) batch(socket)
    // TLS on a raw socket bypasses `write`, which `watch` and `batch` replace; to any other stream it writes.
    return secured ? Duplex.from({ readable: socket, writable: socket }) : socket
  }
}
