import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { Settings } from "../../settings/Config.ts"
import { Database } from "../Sql.ts"
import * as Pools from "./Pools.ts"

/** The limits on time of sessions of the service. Behind a pooler the role has them, and a transaction can only lift them itself. */
const timeLimits = ["statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"]

/** A client whose transactions have no limit on time, also where the role has some. */
const unlimited = (client: PgClient.PgClient): PgClient.PgClient => {
  const { withTransaction } = client
  // A query would take the snapshot before the transaction has its isolation level.
  const lift = Effect.forEach(timeLimits, (limit) => client`set local ${client.literal(limit)} = 0`, { discard: true })
  return Object.assign(client, {
    withTransaction: <A, E, R>(effect: Effect.Effect<A, E, R>) => withTransaction(Effect.andThen(lift, effect))
  })
}

/**
 * A single connection for maintenance, whose transactions have no time limit. It may be idle for hours, so keep-alive packets
 * prevent firewalls and proxies from dropping it.
 */
export const maintenanceClient = Layer.unwrap(
  Effect.gen(function* () {
    const { DATABASE_PREPARE: prepare } = yield* Settings
    const database = yield* Database
    const client = PgClient.make({
      ...database,
      prepare,
      maxConnections: 1,
      maxMessageSize: Pools.maxMessageSize,
      ...Pools.connectTimeout(database),
      keepAlive: "1 minute"
    })
    return PgClient.layerFrom(Effect.map(client, unlimited))
  })
)
