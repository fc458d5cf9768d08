import { Context } from "effect"

/** The operation that a request calls, as `group.endpoint`. */
export const CurrentOperation = Context.Reference<string>("waypost/http/transport/CurrentRequest/CurrentOperation", {
  defaultValue: () => "none"
})

/** The id of the current request. */
export const CurrentRequestId = Context.Reference<string>("waypost/http/transport/CurrentRequest/CurrentRequestId", {
  defaultValue: () => ""
})
