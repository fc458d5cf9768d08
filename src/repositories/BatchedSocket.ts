import type { PgClient } from "@effect/sql-pg"
import { Option, Redacted } from "effect"
import { connect, type NetConnectOpts, type Socket } from "node:net"

/**
 * A socket that sends what is written within one turn of the event loop in one system call. The statements of many
 * requests share the connections of the bounded pool, and a call for each of them cost a fifth of a read.
 */
const batched = (options: NetConnectOpts): Socket => {
  const socket = connect(options)
  const write = socket.write.bind(socket) as (...args: ReadonlyArray<unknown>) => boolean
  let corked = false
  const flush = () => {
    corked = false
    socket.uncork()
  }
  socket.write = (...args: ReadonlyArray<unknown>) => {
    if (!corked) {
      corked = true
      socket.cork()
      setImmediate(flush)
    }
    return write(...args)
  }
  return socket
}

/** Where a database listens, if it is reached without TLS: over TLS the client makes the socket itself. */
const addressOf = ({ path, url }: PgClient.PgClientConfig): Option.Option<NetConnectOpts> => {
  if (path !== undefined) return Option.some({ path })
  if (url === undefined) return Option.none()
  const { hostname, port, searchParams } = new URL(Redacted.value(url))
  const secured = ["sslmode", "ssl", "host"].some((name) => searchParams.has(name))
  if (secured || hostname === "") return Option.none()
  return Option.some({
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port || 5432),
    noDelay: true,
    keepAlive: true
  })
}

/** The `stream` option of a pool whose statements are sent in batches, where that can be had. */
export const streamOf = (database: PgClient.PgClientConfig): Pick<PgClient.PgClientConfig, "stream"> =>
  Option.match(addressOf(database), {
    onNone: () => ({}),
    onSome: (options) => ({ stream: () => batched(options) })
  })
