import { Schema } from "effect"

/** A worker ended before it served; it has printed the reason itself. */
export class WorkerEndedError extends Schema.TaggedError<WorkerEndedError>()("WorkerEndedError", {
  message: Schema.String
}) {}
