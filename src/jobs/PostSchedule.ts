import { Effect, Layer, Schedule, Schema } from "effect"
import { SqlSchema } from "effect/sql"
import { CurrentChange } from "../domain/changes/Actor.ts"
import { Locales } from "../domain/schema/Locale.ts"
import { changeSetting } from "../sql/ChangeSetting.ts"
import { sql } from "../sql/Fragment.ts"
import { touched } from "../sql/Reads.ts"
import { Sql } from "../sql/Sql.ts"
import { logged } from "./Repeated.ts"

/** Posts per statement, so that no statement runs long. */
const batch = 500

/** A literal, because the planner plans for a tenth of all rows when it does not know the limit. */
const rows = sql.literal(String(batch))

const Uuids = Schema.Array(Schema.String)

/** Logs the posts that were changed, each in a line like that of a request, without a key. */
const log = (operation: string, records: ReadonlyArray<string>) =>
  Effect.forEach(
    records,
    (record) => Effect.annotateLogs(Effect.logInfo("Written"), { operation, action: "updated", record }),
    { discard: true }
  )

/**
 * Publishes the posts that are due and archives those that have expired, by the clock of the database.
 *
 * Any number of processes may run this concurrently: each takes rows that no other has locked, and a row that another one
 * has just changed no longer matches. A post that is due and has expired is published first, and archived in the next run.
 */
export const advance = Effect.gen(function* () {
  const { pooled } = yield* Sql
  const setting = yield* changeSetting
  // The states are literals, because the indexes that the statement uses are partial on them.
  const move = (from: string, to: string, due: string) => {
    const when = sql.literal(due)
    return sql`
      update posts set status = ${sql.literal(`'${to}'`)}, ${touched("posts")}
      where uuid = any (array(
        select uuid from posts where status = ${sql.literal(`'${from}'`)} and ${when} <= now()
        order by ${when} limit ${rows}
        for update skip locked
      )) returning uuid`
  }
  const moved = SqlSchema.findOne({
    Request: Schema.Void,
    Result: Schema.Struct({ published: Uuids, archived: Uuids }),
    execute: () => pooled`
      with published as (${move("scheduled", "published", "publish_at")}),
        archived as (${move("published", "archived", "expire_at")})
      select array(select uuid from published) as published, array(select uuid from archived) as archived,
        ${setting}`
  })
  const moveAndLog = Effect.tap(moved(), ({ archived, published }) =>
    Effect.andThen(log("schedule.publish", published), log("schedule.archive", archived))
  )
  yield* Effect.repeat(moveAndLog, {
    until: ({ archived, published }) => published.length < batch && archived.length < batch
  })
}).pipe(Effect.provideService(CurrentChange, { actor: { type: "schedule" } }), Effect.withSpan("PostSchedule.advance"))

/** Stores the default locale, of which titles of posts and labels of assets are, and its language; updates the titles in other locales. */
export const adoptLanguage = Effect.gen(function* () {
  const { pooled } = yield* Sql
  const { defaultLanguage, defaultLocale } = yield* Locales
  yield* pooled`update post_language set language = ${defaultLanguage}, locale = ${defaultLocale}
    where (language, locale) is distinct from (${defaultLanguage}::text, ${defaultLocale}::text)`
  const title = sql`waypost_translation(translations, ${defaultLocale}, ${defaultLanguage})->>'title'`
  let last: string | undefined = "00000000-0000-0000-0000-000000000000"
  while (last !== undefined) {
    const [row]: ReadonlyArray<{ readonly uuid: string }> = yield* pooled<{ readonly uuid: string }>`
      with part as materialized (select uuid from posts where uuid > ${last}::uuid order by uuid limit ${rows}),
        corrected as (update posts set title = ${title} where uuid = any (array(select uuid from part)) and title <> ${title})
      select uuid from part order by uuid desc limit 1`
    last = row?.uuid
  }
})

/** The same, again until it succeeds. */
const languageAdopted = Effect.repeat(
  logged("Could not sort the posts by the default locale", Effect.as(adoptLanguage, true)),
  { until: (isAdopted) => isAdopted === true }
)

const advancing = Effect.repeat(
  logged("Could not publish the posts that are due", advance),
  Schedule.spaced("500 millis")
)

/**
 * Publishes and archives posts while the service runs: one lookup in two small indexes, twice a second. What is due does not wait for
 * the titles.
 */
export const layer = Layer.effectDiscard(
  Effect.andThen(Effect.forkScoped(advancing), Effect.forkScoped(languageAdopted))
)
