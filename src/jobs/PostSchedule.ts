import { Effect, Layer, Schedule } from "effect"
import { CurrentChange } from "../domain/changes/Actor.ts"
import { Locales } from "../domain/schema/Locale.ts"
import { changeSetting } from "../sql/ChangeSetting.ts"
import { sql } from "../sql/Fragment.ts"
import { makeSteps } from "../sql/Parts.ts"
import { touched } from "../sql/Reads.ts"
import { Sql } from "../sql/Sql.ts"
import { logged } from "./Repeated.ts"

/** Posts per statement at most, so that none runs long. */
const batch = 500

/** A literal, because the planner plans for a tenth of all rows when it does not know the limit. */
const rows = (size: number) => sql.literal(String(size))

/** Logs the posts that were changed, each in a line like that of a request, without a key. */
const log = (operation: string, records: ReadonlyArray<string>) =>
  Effect.forEach(
    records,
    (record) => Effect.annotateLogs(Effect.logInfo("Written"), { operation, action: "updated", record }),
    { discard: true }
  )

/**
 * Makes the effect that publishes the posts that are due and archives those that have expired, by the clock of the database. It
 * remembers how many posts a statement moves in its time.
 *
 * Any number of processes may run this concurrently: each takes rows that no other has locked, and a row that another one
 * has just changed no longer matches. A post that is due and has expired is published first, and archived in the next run.
 */
const make = Effect.gen(function* () {
  const { pooled } = yield* Sql
  const setting = yield* changeSetting
  const runStep = yield* makeSteps(batch)
  // The states are literals, because the indexes that the statement uses are partial on them.
  const move = (size: number, from: string, to: string, due: string) => {
    const when = sql.literal(due)
    return sql`
      update posts set status = ${sql.literal(`'${to}'`)}, ${touched("posts")}
      where uuid = any (array(
        select uuid from posts where status = ${sql.literal(`'${from}'`)} and ${when} <= now()
        order by ${when} limit ${rows(size)}
        for update skip locked
      )) returning uuid`
  }
  const moveSome = (size: number) =>
    Effect.map(
      pooled<{ readonly published: ReadonlyArray<string>; readonly archived: ReadonlyArray<string> }>`
        with published as (${move(size, "scheduled", "published", "publish_at")}),
          archived as (${move(size, "published", "archived", "expire_at")})
        select array(select uuid from published) as published, array(select uuid from archived) as archived,
          ${setting}`,
      ([row]) => ({ ...row!, hasMore: row!.published.length === size || row!.archived.length === size })
    )
  const moveAndLog = Effect.tap(runStep(moveSome), ({ archived, published }) =>
    Effect.andThen(log("schedule.publish", published), log("schedule.archive", archived))
  )
  return Effect.repeat(moveAndLog, { while: ({ hasMore }) => hasMore }).pipe(Effect.withSpan("PostSchedule.advance"))
}).pipe(Effect.provideService(CurrentChange, { actor: { type: "schedule" } }))

/** Publishes the posts that are due and archives those that have expired. */
export const advance = Effect.flatten(make)

/** Stores the default locale, of which titles of posts and labels of assets are, and its language; updates the titles in other locales. */
export const adoptLanguage = Effect.gen(function* () {
  const { pooled } = yield* Sql
  const { defaultLanguage, defaultLocale } = yield* Locales
  const runStep = yield* makeSteps(batch)
  yield* pooled`update post_language set language = ${defaultLanguage}, locale = ${defaultLocale}
    where (language, locale) is distinct from (${defaultLanguage}::text, ${defaultLocale}::text)`
  const title = sql`waypost_translation(translations, ${defaultLocale}, ${defaultLanguage})->>'title'`
  const correctAfter = (last: string) => (size: number) =>
    Effect.map(
      pooled<{ readonly uuid: string }>`
        with part as materialized (select uuid from posts where uuid > ${last}::uuid order by uuid limit ${rows(size)}),
          corrected as (update posts set title = ${title} where uuid = any (array(select uuid from part)) and title <> ${title})
        select uuid from part order by uuid desc limit 1`,
      ([row]) => row?.uuid
    )
  let last: string | undefined = "00000000-0000-0000-0000-000000000000"
  while (last !== undefined) last = yield* runStep(correctAfter(last))
})

/** Gives the posts their titles, again until it succeeds. */
const languageAdopted = Effect.repeat(
  logged("Could not sort the posts by the default locale", Effect.as(adoptLanguage, true)),
  { until: (isAdopted) => isAdopted === true }
)

const advancing = Effect.flatMap(make, (advance) =>
  Effect.repeat(logged("Could not publish the posts that are due", advance), Schedule.spaced("500 millis"))
)

/**
 * Publishes and archives posts while the service runs: one lookup in two small indexes, twice a second. What is due does not wait for
 * the titles.
 */
export const layer = Layer.effectDiscard(
  Effect.andThen(Effect.forkScoped(advancing), Effect.forkScoped(languageAdopted))
)
