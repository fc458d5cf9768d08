import { Schema } from "effect"

/** Its message is written for the operator: what is wrong, and what to do about it. */
export class EmbeddedPostgresError extends Schema.TaggedError<EmbeddedPostgresError>()("EmbeddedPostgresError", {
  message: Schema.String
}) {}
