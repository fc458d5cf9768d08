import { Schema } from "effect"
import { ApiError } from "../write/ApiError.ts"

/** The cursor points to a part of the log that is gone, or to the log of another installation. */
export class CursorExpiredError extends ApiError<CursorExpiredError>()(
  "CursorExpiredError",
  {
    message: Schema.String,
    oldest: Schema.optionalKey(
      Schema.String.annotate({ description: "The cursor before the oldest event that is retained." })
    )
  },
  { httpApiStatus: 410 }
) {}

/** The history of the record does not reach back to this time or event. */
export class HistoryExpiredError extends ApiError<HistoryExpiredError>()(
  "HistoryExpiredError",
  { message: Schema.String },
  { httpApiStatus: 410 }
) {}
