import { Context, Effect, Layer } from "effect"
import { bytesBefore, type WalPosition } from "../../domain/query/WalPosition.ts"
import type { Replica } from "./ReplicaReads.ts"
import { Replicas } from "./Replicas.ts"

/** How many keys have a position of their own. Those whose position is unknown keep it beyond that. */
const maxKeys = 10_000

/**
 * Reads that show what their key wrote. A replica answers only if it has replayed the last write of the key in this process, and
 * the position that the request names, which may be of a write in another process.
 */
export class OwnWrites extends Context.Service<
  OwnWrites,
  {
    /** Whether there are replicas. */
    readonly hasReplicas: boolean
    /** The replica that answers a read of a key, with its position; the primary answers if there is none. */
    readonly replicaFor: (
      key: string,
      position: WalPosition | undefined
    ) => { readonly replica: Replica; readonly position: bigint } | undefined
    /** Notes a write of a key that was committed, and returns its position, unless the database cannot say it. */
    readonly note: (key: string) => Effect.Effect<WalPosition | undefined>
  }
>()("waypost/sql/connections/OwnWrites") {
  static readonly layer = Layer.effect(
    OwnWrites,
    Effect.gen(function* () {
      const replicas = yield* Replicas
      const positions = new Map<string, bigint>()
      /** What keys without a position of their own read at least. */
      let floor = 0n
      const atLeast = (key: string) => positions.get(key) ?? floor
      /** Positions of writes that end together can arrive in another order, if several connections ask for them. */
      const keep = (key: string, position: bigint) => {
        const kept = atLeast(key)
        if (kept !== unknown && position < kept) return
        if (positions.size >= maxKeys) {
          for (const [other, known] of positions) {
            if (known === unknown) continue
            if (known > floor) floor = known
            positions.delete(other)
          }
        }
        positions.set(key, position)
      }
      return OwnWrites.of({
        hasReplicas: replicas.exist,
        replicaFor: (key, position) => {
          const own = atLeast(key)
          const named = position === undefined ? 0n : bytesBefore(position)
          return replicas.choose(named > own ? named : own)
        },
        note: (key) =>
          replicas.position.pipe(
            Effect.tap((position) => Effect.sync(() => keep(key, bytesBefore(position)))),
            // Where the write is in the log is unknown: no replica answers this key until its next write.
            Effect.catchCause(() =>
              Effect.as(
                Effect.sync(() => keep(key, unknown)),
                undefined
              )
            )
          )
      })
    })
  )
}

/** Beyond every position. */
const unknown = 1n << 64n
