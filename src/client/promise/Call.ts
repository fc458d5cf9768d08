import { Effect, Result, Semaphore } from "effect"
import { clientError, type WaypostError } from "./Errors.ts"

/** What every operation takes as its last argument. */
export interface CallOptions {
  /** Aborts the call. */
  readonly signal?: AbortSignal | undefined
  /** Writes only if the record still has this entity tag. An `undefined` is an error: the read that has the tag may have failed. */
  readonly ifMatch?: string
  /**
   * Identifies the write for a day: a repetition gets the answer of the first one. A POST, a DELETE and a write with `ifMatch`
   * have a random one unless given, so that they are repeated safely while the service cannot be reached.
   */
  readonly idempotencyKey?: string | undefined
}

/** A response of the service. */
export interface Answered<A> {
  readonly data: A
  readonly etag: string | undefined
  /** What is unusual about a write that succeeded, such as members that were not restored. */
  readonly warning?: string | undefined
}

/** What a call resulted in: `data`, or `error`. */
export type Outcome<A, E> =
  | (Answered<A> & { readonly error?: undefined })
  | { readonly data?: undefined; readonly error: E; readonly etag?: undefined; readonly warning?: undefined }

/** The code that made a call, for the stack of its error: the frames of the runtime that executes it help no reader. */
export interface CallSite {
  readonly stack: string
}

/** The frames of the caller of the method that calls this function. */
export const callSite = (): CallSite => {
  const lines = new Error("call").stack?.split("\n") ?? []
  return { stack: lines.slice(lines[0]?.startsWith("Error") === true ? 3 : 2).join("\n") }
}

const withStack = (error: WaypostError, { stack }: CallSite): WaypostError => {
  error.stack = `${error._tag}: ${error.message}\n${stack}`
  return error
}

const aborted = (cause: unknown): WaypostError =>
  clientError({ _tag: "AbortedError", message: "The call was aborted" }, { cause })

/** Runs an effect of the client; the promise rejects only for a defect, such as an error of a callback. */
const run = <A>(
  effect: Effect.Effect<A, WaypostError>,
  site: CallSite,
  signal?: AbortSignal
): Promise<Result.Result<A, WaypostError>> => {
  const failed = (cause: unknown) => Result.fail(withStack(aborted(cause), site))
  // An effect runs until it waits before its signal is read: it would send a request, or return a record read earlier.
  if (signal?.aborted === true) return Promise.resolve(failed(signal.reason))
  return Effect.runPromise(Effect.result(effect), signal === undefined ? {} : { signal }).then(
    Result.mapError((error) => withStack(error, site)),
    (cause: unknown) => (signal?.aborted === true ? failed(signal.reason) : Promise.reject(cause as Error))
  )
}

const unwrap = <A>(result: Result.Result<A, WaypostError>): Promise<A> =>
  Result.isSuccess(result) ? Promise.resolve(result.success) : Promise.reject(result.failure)

/** Like `run`; the promise rejects with the error. */
export const runOrReject = <A>(effect: Effect.Effect<A, WaypostError>, site: CallSite, signal?: AbortSignal) =>
  run(effect, site, signal).then(unwrap)

/**
 * The `next` of an iterator. Several at a time run one after the other, as those of an async generator do: together they would
 * each read the page after the last one, and return its records once for each. Those behind one that fails are at the end.
 */
export const nextOf = <A>(
  step: Effect.Effect<IteratorResult<A, undefined>, WaypostError>,
  site: CallSite,
  signal: AbortSignal | undefined
) => {
  const turn = Semaphore.makeUnsafe(1)
  let failures = 0
  const noted = Effect.onError(step, () => Effect.sync(() => (failures += 1)))
  return () => {
    const before = failures
    const next = Effect.suspend(() =>
      failures === before ? noted : Effect.succeed({ done: true, value: undefined } as const)
    )
    return runOrReject(turn.withPermit(next), site, signal)
  }
}

/** A running call: a promise of its data, which rejects with a `WaypostError`. */
export class Call<A, E> extends Promise<A> {
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  readonly #outcome: Promise<Outcome<A, E>>

  constructor(outcome: Promise<Outcome<A, E>>) {
    super((resolve, reject) => {
      outcome.then(
        (settled) => (settled.error === undefined ? resolve(settled.data as A) : reject(settled.error as Error)),
        reject
      )
    })
    this.#outcome = outcome
  }

  /** The data or the error, without a rejection: `const { data, error } = await call.result()`. */
  result(): Promise<Outcome<A, E>> {
    // The error is returned, so that its rejection is not unhandled.
    this.catch(() => undefined)
    return this.#outcome
  }
}

/** Starts a call. */
export const start = (
  effect: Effect.Effect<Answered<unknown>, WaypostError>,
  site: CallSite,
  signal?: AbortSignal
): Call<unknown, WaypostError> =>
  new Call(
    run(effect, site, signal).then(
      Result.match({
        onSuccess: (answered): Outcome<unknown, WaypostError> => answered,
        onFailure: (error): Outcome<unknown, WaypostError> => ({ error })
      })
    )
  )
