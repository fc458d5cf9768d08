import { Effect } from "effect"

/** A new value for `Idempotency-Key`. Pages without TLS have no `crypto.randomUUID`. */
export const idempotencyKey: Effect.Effect<string> = Effect.sync(() =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("")
)
