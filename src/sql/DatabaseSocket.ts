import type { PgClient } from "@effect/sql-pg"
import { Redacted } from "effect"
import { connect, type NetConnectOpts, type Socket } from "node:net"
import { Duplex } from "node:stream"

/** How the sockets of a pool behave. */
interface Behaviour {
  /**
   * Sends what is written within one turn of the event loop in one system call. The statements of many requests share
   * the connections of the bounded pool, and a call for each of them cost a fifth of a read.
   */
  readonly batched: boolean
}

type Write = (...args: ReadonlyArray<unknown>) => boolean

/** Has something done at every write. */
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

/** Longer than any statement may run, so that a database which still does its work is never taken for one that hangs. */
const silenceSeconds = 8

/**
 * Ends a connection whose server was asked something and then says nothing at all: one that is frozen, or whose machine
 * or line is gone without a word. TCP would notice after a quarter of an hour or never, and neither a commit nor a
 * statement that shares its connection can be interrupted. Seconds are counted, and not read off a clock, so that the
 * time in which this process did not run itself does not count.
 */
const watch = (socket: Socket) => {
  let asked: number | undefined
  let silent = 0
  beforeWrites(socket, () => {
    if (asked === socket.bytesRead) return
    asked = socket.bytesRead
    silent = 0
  })
  const isSilent = () => asked === socket.bytesRead
  const timer = setInterval(() => {
    if (!isSilent() || silent++ < silenceSeconds) return
    // What has arrived meanwhile is read before this runs.
    setImmediate(() => {
      if (isSilent()) socket.destroy(new Error(`The database has not answered for ${silenceSeconds} seconds`))
    })
  }, 1000)
  socket.once("close", () => clearInterval(timer))
}

/** Where the client would connect to by itself. */
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

/** How the connections of a pool are made; the client speaks TLS over them by itself. */
export const streamOf = (database: PgClient.PgClientConfig, { batched }: Behaviour): (() => Duplex) => {
  const address = addressOf(database)
  const secured = isSecured(database)
  return () => {
    const socket = connect(address)
    watch(socket)
    if (batched) batch(socket)
    // TLS takes a socket over below Node, where nobody sees what is written; to another stream it writes.
    return secured ? Duplex.from({ readable: socket, writable: socket }) : socket
  }
}
