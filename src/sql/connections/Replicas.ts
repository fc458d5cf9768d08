import type { PgClient } from "@effect/sql-pg"
import { type Cause, Context, Effect, Exit, Layer, Metric, Redacted, Request, RequestResolver, Schedule } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlClient, SqlError } from "effect/sql"
import type { Duplex } from "node:stream"
import { bytesBefore, type WalPosition } from "../../domain/query/WalPosition.ts"
import { Settings } from "../../settings/Config.ts"
import { Sql } from "../Sql.ts"
import { mayHaveCommitted } from "../SqlErrors.ts"
import * as Pools from "./Pools.ts"
import * as PositionHistory from "./PositionHistory.ts"
import type { Replica } from "./ReplicaReads.ts"

/** How often the servers are asked for their positions. */
const interval = "250 millis"

/**
 * Ticks measure for how long a server is silent. A process that was suspended runs its timers before it reads the answers that
 * have arrived; any suspension is one tick.
 */
const tickMillis = 200

/** How many ticks a replica may take to answer. */
const maxAnswerTicks = 3

/** After how many ticks without a position the primary counts as silent. */
const maxSilentTicks = 5

/** Where a replica stands, as of the last time it was asked. */
interface Standing {
  readonly position: bigint
  readonly lagSeconds: number
  /** Why it answers no reads. */
  readonly leftOut: string | undefined
}

/** Why a replica answers no reads while its lag is not known. */
const uncompared = "was not compared with the primary yet"

interface Member extends Replica {
  readonly name: string
  standing: Standing
}

interface Answer {
  readonly isStandby: boolean
  readonly position: WalPosition | null
  readonly system: string
}

/** What the metrics say about a replica. */
export const gaugesOf = (replica: string) => ({
  up: Metric.gauge("waypost_replica_up", {
    description: "Whether the replica answers reads",
    attributes: { replica }
  }),
  lag: Metric.gauge("waypost_replica_lag_seconds", {
    description: "For how long the primary has been ahead of the replica",
    attributes: { replica }
  })
})

const nameOf = (url: Redacted.Redacted) => {
  const { host } = new URL(Redacted.value(url))
  return host
}

/** Asks for a position that every commit so far is before. Writes that end at the same time share a statement. */
class PrimaryPosition extends Request.TaggedClass("PrimaryPosition")<{}, WalPosition, SqlError.SqlError> {}

const positionsOf = (lookups: SqlClient.SqlClient) =>
  RequestResolver.make<PrimaryPosition>((entries) =>
    Effect.flatMap(
      Effect.exit(lookups<{ readonly position: WalPosition }>`select pg_current_wal_insert_lsn()::text as position`),
      (exit) =>
        Effect.forEach(
          entries,
          (entry) =>
            Request.complete(
              entry,
              Exit.map(exit, ([row]) => row!.position)
            ),
          {
            discard: true
          }
        )
    )
  )

/**
 * The streaming replicas that answer reads. A replica that does not answer, lags for more than `REPLICA_MAX_LAG_SECONDS`, was
 * promoted or belongs to another database is left out within a second. Statements in flight end if it does not answer.
 */
export class Replicas extends Context.Service<
  Replicas,
  {
    /** Whether there are any. */
    readonly exist: boolean
    /** The next replica that has replayed the log up to a position, with the position that it has reached. */
    readonly choose: (atLeast: bigint) => { readonly replica: Replica; readonly position: bigint } | undefined
    /** A position that every commit so far is before. */
    readonly position: Effect.Effect<WalPosition, SqlError.SqlError>
  }
>()("waypost/sql/connections/Replicas") {
  static readonly layer = Layer.effect(
    Replicas,
    Effect.gen(function* () {
      const { DATABASE_POOL_SIZE: size, DATABASE_REPLICA_URLS: urls, REPLICA_MAX_LAG_SECONDS: maxLag } = yield* Settings
      const { lookups, spares } = yield* Sql
      const history = PositionHistory.make((maxLag + 5) * 1000)
      const context = yield* Effect.context()

      const join = Effect.fnUntraced(function* (url: Redacted.Redacted) {
        const name = nameOf(url)
        const sockets = new Set<Duplex>()
        const opened = (socket: Duplex) => {
          sockets.add(socket)
          socket.once("close", () => sockets.delete(socket))
        }
        const endAll = () => {
          for (const socket of sockets) socket.destroy(new Error(`The replica ${name} does not answer`))
        }
        const connect = yield* Pools.connector({ url } satisfies PgClient.PgClientConfig, opened)
        const watcher = yield* connect(1, { multiplex: true })
        const gauges = gaugesOf(name)
        const member: Member = {
          name,
          pools: yield* Pools.make(connect, size),
          standing: { position: 0n, lagSeconds: 0, leftOut: uncompared },
          failed: (error) =>
            mayHaveCommitted(error) ? stand(() => ({ ...member.standing, leftOut: "ended a connection" })) : Effect.void
        }
        const stand = (change: () => Standing, ...causes: ReadonlyArray<Cause.Cause<unknown>>) =>
          Effect.suspend(() => {
            const before = member.standing.leftOut
            const next = change()
            member.standing = next
            gauges.up.updateUnsafe(next.leftOut === undefined ? 1 : 0, context)
            gauges.lag.updateUnsafe(next.lagSeconds, context)
            if (before === next.leftOut) return Effect.void
            return next.leftOut === undefined
              ? Effect.logInfo(`The replica ${name} answers reads`)
              : Effect.logWarning(`The replica ${name} answers no reads: it ${next.leftOut}`, ...causes)
          })
        const standingOf = ({ isStandby, position, system }: Answer): Standing => {
          const reached = bytesBefore(position ?? "0/0")
          const lagSeconds = history.lagOf(reached) / 1000
          const known = history.system()
          const leftOut = !isStandby
            ? "was promoted"
            : known !== undefined && known !== system
              ? "belongs to another database"
              : lagSeconds > maxLag
                ? `lags for more than ${maxLag} s`
                : history.isKnown(reached)
                  ? undefined
                  : uncompared
          return { position: reached, lagSeconds, leftOut }
        }
        const ask = watcher<Answer>`
          select pg_is_in_recovery() as "isStandby", pg_last_wal_replay_lsn()::text as position,
            (select system_identifier::text from pg_control_system()) as system`
        const watch = Effect.suspend(() => {
          // Neither a frozen server nor a lost network ends a statement; without its connection it fails. A server that answers
          // does so to its statements too, also when it is promoted: then there may be no primary that would.
          let ticks = 0
          const timer = setInterval(() => {
            if (++ticks === maxAnswerTicks) endAll()
          }, tickMillis)
          return Effect.matchCauseEffect(ask, {
            onSuccess: ([answer]) => stand(() => standingOf(answer!)),
            onFailure: (cause) =>
              stand(() => {
                endAll()
                return { ...member.standing, leftOut: "does not answer" }
              }, cause)
          }).pipe(Effect.ensuring(Effect.sync(() => clearInterval(timer))))
        })
        yield* Effect.forkScoped(Effect.repeat(watch, Schedule.spaced(interval)))
        return member
      })

      const members = yield* Effect.forEach(urls, join)

      let silentTicks = 0
      const sample = lookups<{ readonly position: WalPosition; readonly system: string }>`
        select pg_current_wal_lsn()::text as position,
          (select system_identifier::text from pg_control_system()) as system`.pipe(
        Effect.map(([row]) => {
          silentTicks = 0
          history.add({ at: performance.now(), position: bytesBefore(row!.position) }, row!.system)
        }),
        // While no primary answers, the replicas do.
        Effect.ignoreCause
      )
      const tick = Effect.sync(() => silentTicks++)
      if (members.length > 0) {
        yield* Effect.forkScoped(Effect.repeat(sample, Schedule.spaced(interval)))
        yield* Effect.forkScoped(Effect.repeat(tick, Schedule.spaced(tickMillis)))
      }

      let turn = 0
      const choose = (atLeast: bigint) => {
        const able = members.filter(({ standing }) => standing.leftOut === undefined && standing.position >= atLeast)
        if (able.length === 0) return undefined
        const replica = able[turn++ % able.length]!
        return { replica, position: replica.standing.position }
      }
      const whenLost = () => choose(0n)?.replica
      spares.current = {
        whenLost,
        whenSilent: () => (silentTicks > maxSilentTicks ? whenLost() : undefined)
      }
      const resolver = positionsOf(lookups)
      return Replicas.of({
        exist: members.length > 0,
        choose,
        position: Effect.request(new PrimaryPosition(), resolver)
      })
    })
  ).pipe(Layer.provide(Reactivity.layer))
}
