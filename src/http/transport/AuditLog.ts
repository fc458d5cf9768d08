import { Cause, Context, Effect, Exit } from "effect"
import { HttpRouter } from "effect/http"
import { CurrentApiKey } from "../../api/Authorization.ts"
import type { Written } from "../../domain/write/Written.ts"
import { mayHaveCommitted } from "../../sql/SqlErrors.ts"

/** The operation that a request calls, as `group.endpoint`. */
export const CurrentOperation = Context.Reference<string>("waypost/http/transport/AuditLog/CurrentOperation", {
  defaultValue: () => "none"
})

/** The client closed the connection, the time limit passed or the connection to the database broke. */
const isUnknown = (cause: Cause.Cause<unknown>) =>
  Cause.hasInterrupts(cause) || cause.reasons.some((reason) => reason._tag === "Die" && mayHaveCommitted(reason.defect))

/**
 * Logs a write in one line: the operation, the record and the key; the request id is in every line. A write whose outcome
 * is unknown is logged as such. The values are not logged, because a log is kept longer and read by more people than a
 * record.
 */
export const audited = <W extends Written, E, R>(
  write: Effect.Effect<W, E, R>
): Effect.Effect<W, E, R | CurrentApiKey | HttpRouter.RouteContext> =>
  Effect.onExit(write, (exit) => {
    if (Exit.isSuccess(exit)) return log("Written", exit.value.uuid)
    if (!isUnknown(exit.cause)) return Effect.void
    return Effect.flatMap(HttpRouter.RouteContext, ({ params }) =>
      log("Perhaps written", params["uuid"]?.toLowerCase())
    )
  })

const log = Effect.fnUntraced(function* (message: string, record: string | undefined) {
  const { uuid: key } = yield* CurrentApiKey
  const operation = yield* CurrentOperation
  yield* Effect.annotateLogs(Effect.logInfo(message), { operation, record, key })
})
