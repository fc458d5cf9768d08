import { Effect, Layer, Schedule } from "effect"
import { QualityRefresh } from "../repositories/quality/QualityRefresh.ts"
import { issuesOf } from "../services/quality/LocationRules.ts"

/** Brings what is stored about the quality of locations up to date with the log. */
export const refresh = Effect.flatMap(QualityRefresh, (quality) =>
  Effect.repeat(quality.refresh(issuesOf), { until: (more) => !more, schedule: Schedule.spaced("5 millis") })
)

const quietly = Effect.catchCause(refresh, (cause) =>
  Effect.logWarning("Could not refresh the quality of locations", cause)
)

/** Refreshes every few seconds while the service runs. */
export const layer = Layer.effectDiscard(
  Effect.forkScoped(Effect.repeat(quietly, Schedule.jittered(Schedule.spaced("5 seconds"))))
)
