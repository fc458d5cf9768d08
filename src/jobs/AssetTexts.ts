import { Effect, Layer, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import { sql } from "../sql/Fragment.ts"
import { makeSteps } from "../sql/Parts.ts"
import { Sql } from "../sql/Sql.ts"
import { repeatedly } from "./Repeated.ts"

/** Documents rebuilt by one statement; when that fails, such as by the statement timeout, one by one. */
const defaultBatch = 50

/**
 * Rebuilds the search documents of assets whose categories or meta tags were renamed. The rename itself only records the
 * assets, because there may be very many; concurrent processes take different ones. One that is locked, as by a bulk
 * request, is left for a later run, so that it does not hold up the others.
 */
const refreshIn = Effect.fn("AssetTexts.refresh")(function* (batch: number) {
  const { pooled } = yield* Sql
  // A literal, because a generic plan assumes a tenth of the table for a limit that is a parameter.
  const refreshed = SqlSchema.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ assets: Schema.Int }),
    execute: () => pooled`
      with stale as (
        delete from stale_asset_texts where ctid = any (array(
          select ctid from stale_asset_texts s
            where exists (select from assets a where a.uuid = s.asset_uuid for no key update skip locked)
              or not exists (select from assets a where a.uuid = s.asset_uuid)
            limit ${sql.literal(String(batch))} for update skip locked
        )) returning asset_uuid
      ), done as (
        select waypost_index_asset(asset_uuid) from (select distinct asset_uuid from stale order by asset_uuid) assets
      )
      select (select count(*)::int from stale) as assets, (select count(*) from done)`
  })
  yield* Effect.repeat(refreshed(), { until: ({ assets }) => assets < batch })
})

export const refresh = Effect.catch(refreshIn(defaultBatch), () => refreshIn(1))

/** Words of names that one statement looks up in the documents. */
const part = 1000

/** Between two parts, so that a large vocabulary takes no processor from requests for long. */
const pause = "200 millis"

/**
 * Removes words of names that no document has any more, and copies of words. Several processes may do this concurrently, and assets may
 * be written.
 */
export const cleanWords = Effect.gen(function* () {
  const { pooled } = yield* Sql
  const runStep = yield* makeSteps(part)
  const cleanAfter = (word: string) =>
    runStep((size) =>
      Effect.map(
        pooled<{ readonly last: string | null }>`select waypost_clean_asset_words(${word}::text, ${size}::int) as last`,
        ([row]) => row!.last
      )
    )
  let last = yield* cleanAfter("")
  while (last !== null) last = yield* Effect.delay(cleanAfter(last), pause)
})

/** Refreshes every second and cleans every hour while the service runs. */
export const layer = Layer.effectDiscard(
  Effect.andThen(
    repeatedly("Could not refresh the search documents", "1 second", refresh),
    repeatedly("Could not clean the words of the search", "1 hour", cleanWords)
  )
)
