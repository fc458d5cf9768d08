import { Context, Effect, Layer, Struct } from "effect"
import type { SqlError } from "effect/sql"
import { type QualityIssue, scoreOf } from "../../domain/quality/LocationQuality.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import { makeSteps } from "../../sql/Parts.ts"
import { Sql } from "../../sql/Sql.ts"
import { traced } from "../../sql/Traced.ts"
import { tryLockSql } from "../../sql/Transactions.ts"
import { comparisons, factsOf, keysOf, type LocationFacts } from "./LocationFacts.ts"

/** Locations that one transaction looks at, at most. */
const batch = 500

/** Positions of the log that one transaction follows. */
const maxEvents = 20_000

/**
 * Without these ways to read many rows, PostgreSQL looks up each location, and one of those that share its place. It has no useful
 * statistics of keys that have just been written.
 */
export const lookupsOnly = sql.csv(
  ["enable_seqscan", "enable_mergejoin", "enable_bitmapscan"].map((name) => sql`set_config(${name}::text, 'off', true)`)
)

type Evaluate = (facts: LocationFacts) => ReadonlyArray<QualityIssue>

/** Keeps what is stored about the quality of locations up to date. */
export class QualityRefresh extends Context.Service<
  QualityRefresh,
  {
    /**
     * Looks at some locations that changed, and at those that are compared with them; whether there may be more. Of several
     * processes one does this, and the others find nothing to do.
     */
    refresh(evaluate: Evaluate): Effect.Effect<boolean, SqlError.SqlError>
  }
>()("waypost/repositories/quality/QualityRefresh") {
  static readonly layer = Layer.effect(
    QualityRefresh,
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const runStep = yield* makeSteps(batch)
      const uuidsOf = (statement: Fragment) =>
        Effect.map(pooled<{ readonly uuid: string }>`${statement}`.unprepared, (rows) => rows.map(({ uuid }) => uuid))

      /** The locations of a batch that exist and stay while they are looked at; those that are being written wait. */
      const lock = Effect.fnUntraced(function* (taken: ReadonlyArray<string>) {
        const locked = yield* uuidsOf(
          sql`select uuid from locations where uuid = any (${taken}::uuid[]) order by uuid for key share skip locked`
        )
        const present = yield* uuidsOf(sql`select uuid from locations where uuid = any (${taken}::uuid[])`)
        const waiting = present.filter((uuid) => !locked.includes(uuid))
        yield* pooled`${queueSql(sql`select unnest(${waiting}::uuid[])`)}`
        return { locked, gone: taken.filter((uuid) => !present.includes(uuid)) }
      })

      const once = Effect.fnUntraced(function* (evaluate: Evaluate, size: number) {
        const [turn] = yield* pooled<{ readonly isMine: boolean }>`
          select ${tryLockSql("location_quality")} as "isMine", ${lookupsOnly}`
        if (!turn!.isMine) return false
        const [followed] = yield* pooled<{ readonly more: boolean }>`${followSql}`
        const taken = yield* uuidsOf(takeSql(size))
        if (taken.length === 0) {
          const [passed] = yield* pooled<{ readonly more: boolean }>`${passSql}`
          return followed!.more || passed?.more === true
        }
        const { gone, locked } = yield* lock(taken)
        yield* pooled`${moveSql(locked, gone)}`.unprepared
        const facts = yield* pooled<LocationFacts>`${factsOf(locked)}`.unprepared
        const found = facts.map((of) => ({ uuid: of.uuid, issues: evaluate(of) }))
        const rows = found.map(({ issues, uuid }) => ({
          uuid,
          issues,
          score: scoreOf(issues.length),
          rules: issues.map(({ rule }) => rule)
        }))
        yield* pooled`${storeSql(JSON.stringify(rows))}`.unprepared
        return true
      })

      return traced(QualityRefresh, {
        // A location has up to a thousand postal codes.
        refresh: (evaluate) => runStep((size) => pooled.withTransaction(once(evaluate, size)))
      })
    })
  )
}

/** Has locations looked at. */
const queueSql = (uuids: Fragment) => sql`insert into stale_location_quality (location_uuid, is_recent)
  select uuid, true from (${uuids}) queued (uuid) order by uuid on conflict (location_uuid) do update set is_recent = true`

/** Follows the log. Where it was pruned before it was read, every location is looked at. */
const followSql = sql`
  with place as materialized (
    select p.position as after, least(l.position, p.position + ${sql.literal(String(maxEvents))}) as until, l.position as last,
      p.position < l.pruned_position as is_lost
    from location_quality_progress p, event_log l
  ), queued as (${queueSql(sql`select distinct record_uuid from events where type = 'location'
    and position > (select after from place) and position <= (select until from place)`)})
  update location_quality_progress set position = case when is_lost then place.last else place.until end,
    last_uuid = case when is_lost then '00000000-0000-0000-0000-000000000000' else last_uuid end
  from place returning place.until < place.last as more`

const takeSql = (size: number) => sql`
  delete from stale_location_quality where location_uuid = any (array(
    select location_uuid from stale_location_quality order by is_recent desc, location_uuid limit ${sql.literal(String(size))}
  )) returning location_uuid as uuid`

/** A page of what a pass looks at. */
const pageOf = (table: string, uuid: string) => {
  const column = sql.literal(uuid)
  return sql`(select ${column} as uuid from ${sql.literal(table)} where ${column} > (select last_uuid from location_quality_progress)
    order by ${column} limit ${sql.literal(String(batch))})`
}

/** The next locations of a pass, with the keys of those whose deletion was pruned before it was read. */
const passSql = sql`
  with page as materialized (
    ${pageOf("locations", "uuid")} union ${pageOf("location_quality_keys", "location_uuid")} order by uuid
    limit ${sql.literal(String(batch))}
  ), queued as (
    insert into stale_location_quality (location_uuid, is_recent) select uuid, false from page on conflict do nothing
  )
  update location_quality_progress set last_uuid = (select uuid from page order by uuid desc limit 1)
  where last_uuid is not null returning last_uuid is not null as more`

const members = sql.literal("address, latitude_band, latitude, longitude, claims")
const ofRow = (row: string) =>
  sql.literal(`(${row}.address, ${row}.latitude_band, ${row}.longitude, ${row}.latitude, ${row}.claims)`)

/** What the comparisons of each rule read. */
const comparedBy = {
  duplicateAddress: sql.literal("address"),
  duplicateCoordinates: sql.literal("latitude_band, latitude, longitude"),
  territoryConflict: sql.literal("claims")
} as const satisfies Record<keyof typeof comparisons, Fragment>

/**
 * The locations that are compared with those that moved. Where one came, those that break the rule already are left alone, and
 * where one left, those that do not. What many have in common is looked up once: they would all find each other.
 */
const compared = Struct.keys(comparisons).flatMap((rule) => {
  const breaks = sql`(select ${rule}::text = any (rules) from location_quality_keys where location_uuid = k.location_uuid) = m.is_old`
  return comparisons[rule].map(
    (near) => sql`select k.location_uuid
      from (select distinct is_old, ${comparedBy[rule]} from moved) m, ${near(breaks, sql.literal("offset 0"))}`
  )
})

/** Stores the keys of locations, removes those of deleted ones, and queues what is compared with the old and new keys. */
const moveSql = (present: ReadonlyArray<string>, gone: ReadonlyArray<string>) => sql`
  with fresh as materialized (${keysOf(present)}),
  known as materialized (
    select location_uuid, ${members}, rules from location_quality_keys where location_uuid = any (${[...present, ...gone]}::uuid[])
  ), moved as materialized (
    select true as is_old, known.* from known left join fresh using (location_uuid) where ${ofRow("known")} is distinct from ${ofRow("fresh")}
    union all select false, fresh.*, '{}' from fresh left join known using (location_uuid)
      where ${ofRow("known")} is distinct from ${ofRow("fresh")}
  ), queued as (${queueSql(sql`select location_uuid from (${sql.join(" union ", false)(compared)}) near
    where location_uuid <> all (${[...present, ...gone]}::uuid[])`)}
  ), uncounted as (
    insert into row_counts (relation, delta)
      select 'location_quality.' || rule, -count(*) from known, unnest(rules) rule where location_uuid = any (${gone}::uuid[]) group by 1
  ), removed as (delete from location_quality_keys where location_uuid = any (${gone}::uuid[]))
  insert into location_quality_keys (location_uuid, ${members}) select location_uuid, ${members} from moved where not is_old
  on conflict (location_uuid) do update set address = excluded.address, latitude_band = excluded.latitude_band,
    latitude = excluded.latitude, longitude = excluded.longitude, claims = excluded.claims`

/** Stores what was found, and counts the rules that are broken from now on and those that are kept again. */
const storeSql = (rows: string) => sql`
  with found as materialized (
    select * from jsonb_to_recordset(${rows}::jsonb) as (uuid uuid, score int, issues jsonb, rules text[])
  ), counted as (
    insert into row_counts (relation, delta) select 'location_quality.' || rule, sum(change) from (
      select unnest(rules) as rule, 1 as change from found
      union all select unnest(k.rules), -1 from location_quality_keys k join found on found.uuid = k.location_uuid
    ) changes group by rule having sum(change) <> 0
  ), ruled as (
    update location_quality_keys k set rules = found.rules from found
    where k.location_uuid = found.uuid and k.rules is distinct from found.rules
  )
  insert into location_quality (uuid, score, issues)
    -- A conflict would lock the row, also where nothing changes.
    select found.uuid, found.score, found.issues from found left join location_quality stored on stored.uuid = found.uuid
    where (stored.score, stored.issues) is distinct from (found.score, found.issues)
  on conflict (uuid) do update set score = excluded.score, issues = excluded.issues`
