import { Clock, Duration, Effect, Layer, Schedule } from "effect"
import { QualityRefresh } from "../repositories/quality/QualityRefresh.ts"
import { issuesOf } from "../services/quality/LocationRules.ts"
import { repeatedly } from "./Repeated.ts"

/** Brings what is stored about the quality of locations up to date with the log. */
export const refresh = Effect.flatMap(QualityRefresh, (quality) =>
  Effect.repeat(quality.refresh(issuesOf), { until: (more) => !more, schedule: Schedule.spaced("5 millis") })
)

/** How long a run leaves most of the time to others, in milliseconds: with the wait before it, half of the promised minute. */
const patience = 20_000

/** How many times as long as a batch the pause behind it is. */
const share = 9

/**
 * Refreshes in batches with pauses: while many locations are written, the processors are needed for that. A run that lasts goes on
 * without pauses.
 */
const patient = Effect.gen(function* () {
  const quality = yield* QualityRefresh
  const began = yield* Clock.currentTimeMillis
  for (;;) {
    const [taken, more] = yield* Effect.timed(quality.refresh(issuesOf))
    if (!more) return
    const left = patience - ((yield* Clock.currentTimeMillis) - began)
    if (left < 0) return yield* refresh
    yield* Effect.sleep(Math.min(share * Duration.toMillis(taken), left))
  }
})

/** Refreshes every few seconds while the service runs. */
export const layer = Layer.effectDiscard(repeatedly("Could not refresh the quality of locations", "5 seconds", patient))
