import { Context, Effect, Fiber, MutableRef } from "effect"
import type { HttpRouter, HttpServerResponse } from "effect/http"

/** How long the body of a request may take to arrive, and an answer to be made, in milliseconds; parts are exempt. */
export const TimeLimits = Context.Reference<{ readonly body: number; readonly answer: number }>(
  "waypost/http/TimeLimits",
  { defaultValue: () => ({ body: 15_000, answer: 20_000 }) }
)

/** What answers a request. */
export type App = Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, HttpRouter.GlobalProvided>

/** How long work may take to let go once it was interrupted, before the answer goes out without it. */
const graceMillis = 100

const interrupted = Effect.interrupt

/**
 * The answer of the app within a time, in milliseconds. The app has a fiber of its own, because work that hangs on a
 * database which does not answer cannot be interrupted at once; what is left of it ends by itself and counts as in
 * flight until then. Timers, and not a race, which would cost five times as much.
 */
export const withTimeout = (app: App, context: Context.Context<never>, millis: number, ended: () => void): App =>
  Effect.callback<HttpServerResponse.HttpServerResponse, unknown>((resume) => {
    const fiber = Effect.runForkWith(context as Context.Context<HttpRouter.GlobalProvided>)(app)
    const interrupt = () => {
      fiber.interruptUnsafe()
      timer = setTimeout(() => resume(interrupted), graceMillis)
    }
    let timer = setTimeout(interrupt, millis)
    fiber.addObserver((exit) => {
      clearTimeout(timer)
      ended()
      resume(exit)
    })
    // A client that hangs up stops its query.
    return Effect.andThen(
      Effect.sync(() => fiber.interruptUnsafe()),
      Effect.timeoutOption(Fiber.await(fiber), graceMillis)
    )
    // A global middleware runs uninterruptibly.
  }).pipe(Effect.interruptible)

/**
 * How long a refusal of what is too much waits, in milliseconds: clients that ask again at once would otherwise take the
 * processor from the requests that are being answered. Only so many wait; above that a refusal is cheaper than its place.
 */
const refusalMillis = 100
const maxWaitingRefusals = 2048

/** The refusal, after a moment. `waiting` counts those that wait. */
export const delayRejection = <A>(waiting: MutableRef.MutableRef<number>, refuse: () => A): Effect.Effect<A> => {
  if (MutableRef.get(waiting) >= maxWaitingRefusals) return Effect.sync(refuse)
  MutableRef.increment(waiting)
  return Effect.map(Effect.sleep(refusalMillis), () => {
    MutableRef.decrement(waiting)
    return refuse()
  })
}
