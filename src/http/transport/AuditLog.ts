import { Cause, Context, Effect, Exit } from "effect"
import { HttpRouter } from "effect/http"
import { CurrentApiKey } from "../../api/Authorization.ts"
import type { Written } from "../../domain/write/Written.ts"
import { mayHaveCommitted } from "../../sql/SqlErrors.ts"

/** The operation that a request calls, as `group.endpoint`. */
export const CurrentOperation = Context.Reference<string>("waypost/http/transport/AuditLog/CurrentOperation", {
  defaultValue: () => "none"
})

/** The id of the current request. */
export const CurrentRequestId = Context.Reference<string>("waypost/http/transport/AuditLog/CurrentRequestId", {
  defaultValue: () => ""
})

/** The client closed the connection, the time limit passed or the connection to the database broke. */
const isUnknown = (cause: Cause.Cause<unknown>) =>
  Cause.hasInterrupts(cause) || cause.reasons.some((reason) => reason._tag === "Die" && mayHaveCommitted(reason.defect))

/**
 * Logs each record of a write in one line: the operation, what it did, the record and the key; the request id is in every
 * line. A write whose outcome is unknown is logged as such. The values are not logged, because a log is kept longer and
 * read by more people than a record.
 */
export const audited = <W extends Written, E, R>(
  write: Effect.Effect<W, E, R>
): Effect.Effect<W, E, R | CurrentApiKey | HttpRouter.RouteContext> =>
  Effect.onExit(write, (exit) => {
    if (Exit.isSuccess(exit)) {
      const { also = [] } = exit.value
      return Effect.forEach([exit.value, ...also], logWritten, { discard: true })
    }
    if (!isUnknown(exit.cause)) return Effect.void
    return Effect.flatMap(HttpRouter.RouteContext, ({ params }) =>
      log("Perhaps written", { record: params["uuid"]?.toLowerCase() })
    )
  })

const logWritten = ({ action, changed, uuid: record }: Written) =>
  log(changed ? "Written" : "Unchanged", { action, record })

const log = Effect.fnUntraced(function* (message: string, annotations: Readonly<Record<string, string | undefined>>) {
  const { uuid: key } = yield* CurrentApiKey
  const operation = yield* CurrentOperation
  yield* Effect.annotateLogs(Effect.logInfo(message), { operation, ...annotations, key })
})
