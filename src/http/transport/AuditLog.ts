import { Cause, type Context, Effect, Exit } from "effect"
import { HttpRouter } from "effect/http"
import { CurrentApiKey } from "../../api/Authorization.ts"
import { CurrentTransaction } from "../../domain/write/SurroundingTransaction.ts"
import type { Written } from "../../domain/write/Written.ts"
import { mayHaveCommitted } from "../../sql/SqlErrors.ts"
import { CurrentOperation } from "./CurrentRequest.ts"

/** The outcome of a write is unknown: the client closed the connection, the time limit passed or the connection to the database broke. */
export const isUnknown = (cause: Cause.Cause<unknown>) =>
  Cause.hasInterrupts(cause) || cause.reasons.some((reason) => reason._tag === "Die" && mayHaveCommitted(reason.defect))

/** Logs a write whose outcome is unknown as such. */
export const noteUncertain = <A, E, R>(
  write: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R | CurrentApiKey | HttpRouter.RouteContext> =>
  Effect.onExit(write, (exit) =>
    Exit.isSuccess(exit) || !isUnknown(exit.cause)
      ? Effect.void
      : Effect.flatMap(HttpRouter.RouteContext, ({ params }) =>
          log("Perhaps written", { record: params["uuid"]?.toLowerCase() })
        )
  )

/** Logs a write with its result; one within a surrounding transaction when that is committed, one of unknown outcome as such. */
const logged = <A, E, R>(
  write: Effect.Effect<A, E, R>,
  logResult: (written: A) => Effect.Effect<void, never, CurrentApiKey>
): Effect.Effect<A, E, R | CurrentApiKey | HttpRouter.RouteContext> =>
  Effect.flatMap(CurrentTransaction, (surrounding) => {
    if (surrounding === undefined) return noteUncertain(Effect.tap(write, logResult))
    return Effect.tap(write, (written) =>
      Effect.contextWith((context: Context.Context<CurrentApiKey>) =>
        Effect.sync(() => surrounding.afterCommit.push(Effect.provideContext(logResult(written), context)))
      )
    )
  })

/**
 * Logs each record of a write in one line: the operation, what it did, the record and the key; the request id is in every
 * line. The values are not logged, because a log is kept longer and read by more people than a record.
 */
export const audited = <W extends Written, E, R>(write: Effect.Effect<W, E, R>) => logged(write, logAll)

/** Logs a bulk request that wrote something in one line, with its counts: the change log has each of the records. */
export const auditedBulk = <A, E, R>(
  write: Effect.Effect<A, E, R>,
  countsOf: (written: A) => Readonly<Record<string, string>> | undefined
) =>
  logged(write, (written) => {
    const counts = countsOf(written)
    return counts === undefined ? Effect.void : log("Written in bulk", counts)
  })

const logAll = (written: Written) => {
  const { also = [] } = written
  return Effect.forEach([written, ...also], logWritten, { discard: true })
}

const logWritten = ({ action, changed, uuid: record }: Written) =>
  log(changed ? "Written" : "Unchanged", { action, record })

const log = Effect.fnUntraced(function* (message: string, annotations: Readonly<Record<string, string | undefined>>) {
  const { uuid: key } = yield* CurrentApiKey
  const operation = yield* CurrentOperation
  yield* Effect.annotateLogs(Effect.logInfo(message), { operation, ...annotations, key })
})
