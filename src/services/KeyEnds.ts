import { Context, Effect, Latch, Layer, type Scope } from "effect"
import { type ApiKeyId, UnauthorizedError } from "../domain/keys/ApiKey.ts"
import { ApiKeys } from "../repositories/keys/ApiKeys.ts"

type OnEnd = (error: UnauthorizedError) => void

/**
 * Watches for the end of the keys of requests that last: one statement a second for all of them, and none while there are
 * none.
 */
export class KeyEnds extends Context.Service<
  KeyEnds,
  {
    /** Calls `onEnd` within 2 s after the key was revoked or has expired. */
    readonly watch: (uuid: ApiKeyId, onEnd: OnEnd) => Effect.Effect<void, never, Scope.Scope>
  }
>()("waypost/services/KeyEnds") {
  static readonly layer = Layer.effect(
    KeyEnds,
    Effect.gen(function* () {
      const keys = yield* ApiKeys
      const watched = new Map<ApiKeyId, Set<OnEnd>>()
      const hasKeys = yield* Latch.make(false)

      const check = Effect.suspend(() => keys.ended([...watched.keys()])).pipe(
        Effect.map((ended) => {
          for (const { reason, uuid } of ended) {
            for (const onEnd of watched.get(uuid) ?? []) onEnd(UnauthorizedError.of(reason))
          }
        }),
        Effect.catchCause((cause) => Effect.logWarning("Could not look up the keys of streams", cause)),
        Effect.andThen(Effect.sleep("1 second"))
      )
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(hasKeys.await, check)))

      const add = (uuid: ApiKeyId, onEnd: OnEnd) => {
        const listeners = watched.get(uuid) ?? new Set()
        watched.set(uuid, listeners.add(onEnd))
        hasKeys.openUnsafe()
      }
      const remove = (uuid: ApiKeyId, onEnd: OnEnd) => {
        const listeners = watched.get(uuid)
        listeners?.delete(onEnd)
        if (listeners?.size === 0) watched.delete(uuid)
        if (watched.size === 0) hasKeys.closeUnsafe()
      }
      return KeyEnds.of({
        watch: (uuid, onEnd) =>
          Effect.acquireRelease(
            Effect.sync(() => add(uuid, onEnd)),
            () => Effect.sync(() => remove(uuid, onEnd))
          )
      })
    })
  )
}
