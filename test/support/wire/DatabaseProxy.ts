import { Context, Effect, Layer, Redacted } from "effect"
import { connect, createServer, type AddressInfo, type Socket } from "node:net"
import { Database, Sql } from "../../../src/sql/Sql.ts"
import * as Postgres from "../Postgres.ts"

/** A TCP proxy between the service and its database that a test can cut. */
export class DatabaseProxy extends Context.Service<
  DatabaseProxy,
  {
    /** Closes every connection and rejects new ones. */
    readonly cut: Effect.Effect<void>
    readonly restore: Effect.Effect<void>
  }
>()("waypost/test/DatabaseProxy") {}

const make = Effect.gen(function* () {
  const config = yield* Database
  const url = config.url === undefined ? undefined : new URL(Redacted.value(config.url))
  const open = new Set<Socket>()
  const track = (socket: Socket) => {
    open.add(socket)
    return socket.on("error", () => socket.destroy()).on("close", () => open.delete(socket))
  }
  const server = createServer((near) => {
    const far =
      url === undefined ? connect(config.path!) : connect(Number(url.port === "" ? 5432 : url.port), url.hostname)
    track(near).pipe(track(far)).pipe(near)
    near.on("close", () => far.destroy())
    far.on("close", () => near.destroy())
  })
  const listen = (port: number) =>
    Effect.promise(() => new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve)))
  yield* listen(0)
  const { port } = server.address() as AddressInfo
  const cut = Effect.promise(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        for (const socket of open) socket.destroy()
      })
  )
  yield* Effect.addFinalizer(() => cut)
  const { path: _, ...rest } = config
  const near = url === undefined ? { ...rest, host: "127.0.0.1", port } : { ...rest, url: through(url, port) }
  return Context.make(DatabaseProxy, { cut, restore: listen(port) }).pipe(Context.add(Database, near))
})

const through = (url: URL, port: number) => {
  const changed = new URL(url)
  changed.hostname = "127.0.0.1"
  changed.port = String(port)
  return Redacted.make(changed.href)
}

/** The pools of the service on a database of its own, behind such a proxy; needs settings. */
export const sql = Sql.layer.pipe(Layer.provideMerge(Layer.effectContext(make).pipe(Layer.provide(Postgres.database))))
