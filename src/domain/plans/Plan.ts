import { Schema } from "effect"
import { ApiError } from "../write/ApiError.ts"
import { maxDataBytes } from "../write/Bulk.ts"
import { Issue } from "../write/RequestErrors.ts"
import { notFound, notFoundError } from "../write/NotFound.ts"
import { Timestamp, Uuid } from "../schema/Fields.ts"
import { Count } from "../schema/WholeNumber.ts"
import { Entry } from "../changes/Event.ts"

export const PlanId = Uuid.pipe(Schema.brand("PlanId"))
export type PlanId = typeof PlanId.Type

/** The resources that a plan makes equal to a file. */
export const PlanResource = Schema.Literals(["locations", "users", "groups", "products", "posts"])
export type PlanResource = typeof PlanResource.Type

export const PlanMode = Schema.Literals(["partial", "full"]).annotate({
  description: "`partial` leaves records that the file does not name; `full` deletes them."
})
export type PlanMode = typeof PlanMode.Type

/** What a plan does with a row, or with a record that the file does not name. */
export const PlanKind = Schema.Literals(["create", "update", "unchanged", "delete", "refused"])
export type PlanKind = typeof PlanKind.Type

/**
 * Limits of the plans of a key, how long one lives, how many rows its file has and how many records it deletes, and how many
 * characters a row has: as many as the body of a write of one record has bytes.
 */
export const limits = {
  rows: 250_000,
  rowLength: maxDataBytes,
  hours: 24,
  live: 10,
  liveBytes: 200 * 1024 ** 2,
  fileBytes: 50 * 1024 ** 2
} as const

/** A safety check that a plan does not pass. */
export const Guard = Schema.Struct({
  code: Schema.Literals(["tooManyDeletes", "refusedRows", "emptyFile"]),
  message: Schema.String
}).annotate({ identifier: "PlanGuard" })
export type Guard = typeof Guard.Type

const Counts = Schema.Struct({
  create: Count,
  update: Count,
  unchanged: Count,
  delete: Count,
  refused: Count
}).annotate({ identifier: "PlanCounts" })
export type Counts = typeof Counts.Type

/** What a file would do to a collection. */
export const Plan = Schema.Struct({
  uuid: PlanId,
  resource: PlanResource,
  mode: PlanMode,
  state: Schema.Literals(["ready", "applied"]),
  counts: Counts,
  guards: Schema.Array(Guard).annotate({ description: "Why applying needs `force`." }),
  expiresAt: Timestamp,
  appliedAt: Schema.optionalKey(Timestamp)
}).annotate({ identifier: "Plan" })
export type Plan = typeof Plan.Type

/** What applying a plan did. */
export const AppliedPlan = Schema.Struct({ uuid: PlanId, counts: Counts }).annotate({ identifier: "AppliedPlan" })
export type AppliedPlan = typeof AppliedPlan.Type

/** What a plan does to one record. */
export const PlanChange = Schema.Struct({
  key: Schema.String.annotate({ description: "The business key, such as the identifier of a location." }),
  kind: Schema.Literals(["create", "update", "delete", "refused"]),
  uuid: Schema.optionalKey(Uuid),
  row: Schema.optionalKey(Count.annotate({ description: "The row of the file, from 1, not counting a header." })),
  changes: Schema.Array(Entry),
  issues: Schema.optionalKey(Schema.Array(Issue))
}).annotate({ identifier: "PlanChange" })
export type PlanChange = typeof PlanChange.Type

export class PlanNotFoundError extends ApiError<PlanNotFoundError>()(...notFoundError("PlanNotFoundError")) {
  static of = (uuid: string) => new PlanNotFoundError(notFound("plan", uuid))
}

/** How many keys of changed records a PlanOutdatedError has at most. */
const maxOutdated = 1000

/** Records of the plan changed after it was made. */
export class PlanOutdatedError extends ApiError<PlanOutdatedError>()(
  "PlanOutdatedError",
  {
    message: Schema.String,
    changed: Schema.Array(Schema.String).annotate({
      description: `The keys of at most ${maxOutdated.toLocaleString("en")} of these records.`
    })
  },
  { httpApiStatus: 409 }
) {
  static of = (changed: ReadonlyArray<string>) =>
    new PlanOutdatedError({
      message: `Records of the plan changed since it was made: ${changed.slice(0, 10).join(", ")}${changed.length > 10 ? ", …" : ""}; make a new plan`,
      changed: changed.slice(0, maxOutdated)
    })
}

/** A safety check failed, and the request does not say `force`. */
export class PlanGuardedError extends ApiError<PlanGuardedError>()(
  "PlanGuardedError",
  { message: Schema.String, guards: Schema.Array(Guard) },
  { httpApiStatus: 409 }
) {
  static of = (guards: ReadonlyArray<Guard>) =>
    new PlanGuardedError({
      message: `${guards.map(({ message }) => message).join("; ")}; send force to apply it`,
      guards
    })
}
