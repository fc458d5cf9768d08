import { Effect } from "effect"
import { refresh } from "../../../src/jobs/LocationQuality.ts"
import { QualityRefresh } from "../../../src/repositories/quality/QualityRefresh.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { eventually } from "../Until.ts"
import { sealed } from "./LogRequests.ts"

/** Waits until the quality of locations is that of every committed change; the service under test refreshes it too. */
export const refreshed = Effect.gen(function* () {
  const { pooled } = yield* Sql
  yield* sealed
  const refreshedOnce = Effect.andThen(
    refresh.pipe(Effect.provide(QualityRefresh.layer)),
    pooled<{ readonly isDone: boolean }>`
      select p.last_uuid is null and p.position = l.position and not exists (select from stale_location_quality) as "isDone"
      from location_quality_progress p, event_log l`
  )
  yield* eventually("the quality of locations is refreshed", refreshedOnce, ([row]) => row!.isDone)
})
