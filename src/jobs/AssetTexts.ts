import { Effect, Layer, Schedule } from "effect"
import { Sql } from "../sql/Sql.ts"

/** How many documents are made anew at once; one by one when that takes longer than a statement may. */
const usual = 50

/**
 * Brings the documents of assets up to date whose categories or meta tags were renamed. Whoever renames only notes the
 * assets, because there may be very many; two processes that work at once take different ones.
 */
const refreshIn = Effect.fnUntraced(function* (batch: number) {
  const { pooled } = yield* Sql
  const refreshed = pooled.unsafe<{ readonly assets: number }>(`
    with stale as (
      delete from stale_asset_texts where ctid = any (array(
        select ctid from stale_asset_texts limit ${batch} for update skip locked
      )) returning asset_uuid
    ), done as (
      select waypost_index_asset(asset_uuid) from (select distinct asset_uuid from stale order by asset_uuid) assets
    )
    select (select count(*)::int from stale) as assets, (select count(*) from done)`)
  yield* Effect.repeat(refreshed, { until: ([row]) => row!.assets < batch })
})

export const refresh = Effect.catch(refreshIn(usual), () => refreshIn(1))

const quietly = Effect.catchCause(refresh, (cause) => Effect.logWarning("Could not refresh the search", cause))

/** Refreshes every second while the service runs. */
export const layer = Layer.effectDiscard(
  Effect.forkScoped(Effect.repeat(quietly, Schedule.jittered(Schedule.spaced("1 second"))))
)
