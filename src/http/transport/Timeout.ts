import { Context, Effect, Fiber } from "effect"
import type { HttpServerResponse } from "effect/http"
import type { ReadLimits } from "../streams/SlowReaders.ts"

/** The default limits on time, in milliseconds. */
export const TimeLimits = Context.Reference<{
  /** In which a body arrives. */
  readonly body: number
  /** In which a response is made. */
  readonly answer: number
  /** Over which the rate of a slow body, such as the part of an upload, is averaged. */
  readonly bodyRate: number
  /** Between the comments of a stream, which keep proxies from closing it. */
  readonly comment: number
  /** In which a client takes an answer. */
  readonly read: ReadLimits
}>("waypost/http/transport/Timeout/TimeLimits", {
  defaultValue: () => ({
    body: 15_000,
    answer: 20_000,
    bodyRate: 60_000,
    comment: 15_000,
    read: { stall: 30_000, minRate: 1024, average: 60_000, whole: 1_800_000 }
  })
})

/** What answers a request. */
type App = Effect.Effect<HttpServerResponse.HttpServerResponse, unknown>

/** How long interrupted work may take to end before the response is sent without it. */
const graceMillis = 100

const interrupted = Effect.interrupt

/** Runs when the slow body of the current request has arrived. */
export const BodyArrived = Context.Reference<() => void>("waypost/http/transport/Timeout/BodyArrived", {
  defaultValue: () => () => undefined
})

interface TimeLimit {
  readonly millis: number
  /** The time from the moment when a slow body has arrived, if it has one of its own. */
  readonly afterBodyMillis: number | undefined
  /** Runs before the response is sent, with the context of the work. */
  readonly onAnswer: (context: Context.Context<never>) => void
  /** Runs when the work has ended, which can be after the response. */
  readonly onEnd: () => void
}

/**
 * The response of the app within a time. Work that waits for a database which does not answer cannot be interrupted at
 * once: so the app has a fiber of its own, the response does not wait for it, and it counts as in flight until it has
 * ended. Timers cost a fifth of a race.
 */
export const withTimeout = (
  app: App,
  context: Context.Context<never>,
  { afterBodyMillis, millis, onAnswer, onEnd }: TimeLimit
): App =>
  Effect.callback<HttpServerResponse.HttpServerResponse, unknown>((resume) => {
    const noting = Effect.withFiber<void>(({ context }) => {
      onAnswer(context)
      return Effect.void
    })
    let isEnding = false
    const interrupt = () => {
      isEnding = true
      fiber.interruptUnsafe()
      timer = setTimeout(() => {
        onAnswer(fiber.context)
        resume(interrupted)
      }, graceMillis)
    }
    let timer = setTimeout(interrupt, millis)
    const bodyArrived = () => {
      if (isEnding) return
      clearTimeout(timer)
      timer = setTimeout(interrupt, afterBodyMillis)
    }
    const known = afterBodyMillis === undefined ? context : Context.add(context, BodyArrived, bodyArrived)
    const fiber = Effect.runForkWith(known)(Effect.onExit(app, () => noting))
    fiber.addObserver((exit) => {
      isEnding = true
      clearTimeout(timer)
      onEnd()
      resume(exit)
    })
    // A client that hangs up cancels its query.
    return Effect.andThen(
      Effect.sync(() => fiber.interruptUnsafe()),
      Effect.timeoutOption(Fiber.await(fiber), graceMillis)
    )
    // A global middleware runs uninterruptibly.
  }).pipe(Effect.interruptible)
