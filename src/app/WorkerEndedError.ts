import { Schema } from "effect"

/** A worker has ended before it served; it has said why. */
export class WorkerEndedError extends Schema.TaggedError<WorkerEndedError>()("WorkerEndedError", {
  message: Schema.String
}) {}
