import { Context } from "effect"
import { randomUUID } from "node:crypto"

/** The operation that a request calls, as `group.endpoint`. */
export const CurrentOperation = Context.Reference<string>("waypost/http/transport/CurrentRequest/CurrentOperation", {
  defaultValue: () => "none"
})

/** The id of the current request. */
export const CurrentRequestId = Context.Reference<string>("waypost/http/transport/CurrentRequest/CurrentRequestId", {
  defaultValue: () => ""
})

/** The id of a request with this header. The client may choose it, if it is safe in a header and in a log line. */
export const requestIdOf = (given: string | ReadonlyArray<string> | undefined): string =>
  typeof given === "string" && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID()
