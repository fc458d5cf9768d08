import { Clock, Duration, Effect, flow, Layer, Schedule, Schema } from "effect"
import { RateLimiter } from "effect/persistence"
import type { SqlClient } from "effect/sql"
import { Settings } from "../../settings/Config.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import { Sql } from "../../sql/Sql.ts"
import { write } from "../../sql/Transactions.ts"

type Store = RateLimiter.RateLimiterStore["Service"]
type Ask = Parameters<Store["tokenBucket"]>[0]

const Bucket = Schema.Struct({ remaining: Schema.Finite, elapsed: Schema.Finite })
type Bucket = typeof Bucket.Type

const take = (held: Fragment) =>
  sql`case when asked.overflow or ${held} >= asked.tokens then ${held} - asked.tokens else ${held} end`

/**
 * Takes from the bucket, by the clock of the database, as the store in memory does by its own; the clock is read once the row is
 * locked. A time after that is from before the clock was set back. The remaining number is kept in addition to the tokens, because
 * a rejected request takes none.
 */
const consume = ({ allowOverflow, key, limit, refillRate, tokens }: Ask) => sql`
  with asked as materialized (
    select ${key}::text as key, ${tokens}::float8 as tokens, ${limit}::float8 as most,
      ${Duration.toMillis(refillRate)}::float8 as refill, ${allowOverflow}::boolean as overflow
  )
  insert into rate_limits as bucket (key, tokens, refilled_at, remaining, asked_at)
  select key, ${take(sql`most`)}, now.at, most - asked.tokens, now.at
  from asked, (select extract(epoch from clock_timestamp())::float8 * 1000 as at) now
  on conflict (key) do update set (tokens, refilled_at, remaining, asked_at) = (
    select ${take(sql`held.tokens`)}, case when held.tokens >= most then now.at else held.since end,
      held.tokens - asked.tokens, now.at
    from asked, (select extract(epoch from clock_timestamp())::float8 * 1000 as at) now,
      lateral (select least(bucket.refilled_at, now.at) as at) refilled,
      lateral (select floor((now.at - refilled.at) / refill) as count) refills,
      lateral (
        select least(most, bucket.tokens + refills.count) as tokens, refilled.at + refills.count * refill as since
      ) held
  ) returning remaining, greatest(0, asked_at - refilled_at) as elapsed`

/** The one row. */
const decode = flow(
  Schema.decodeUnknownEffect(Schema.Tuple([Bucket])),
  Effect.map(([bucket]) => bucket)
)

interface Empty extends Bucket {
  readonly at: number
  readonly tokens: number
}

/** How many empty buckets are cached; the others are read again. */
const remembered = 1000

/** An empty bucket stays empty until its next token: until then further requests cost no statement. */
const remembering = (take: (ask: Ask) => Effect.Effect<Bucket>): Store["tokenBucket"] => {
  const empty = new Map<string, Empty>()
  return Effect.fnUntraced(function* (ask) {
    const now = yield* Clock.currentTimeMillis
    const known = empty.get(ask.key)
    if (known !== undefined && known.tokens === ask.tokens && !ask.allowOverflow) {
      const elapsed = known.elapsed + now - known.at
      if (now >= known.at && elapsed < Duration.toMillis(ask.refillRate)) return [known.remaining, elapsed] as const
    }
    const { elapsed, remaining } = yield* take(ask)
    empty.delete(ask.key)
    if (remaining < 0) {
      if (empty.size >= remembered) empty.clear()
      empty.set(ask.key, { remaining, elapsed, at: now, tokens: ask.tokens })
    }
    return [remaining, elapsed] as const
  })
}

/** Buckets unused for an hour are full, which equals having no row. */
const sweep = (pooled: SqlClient.SqlClient) =>
  pooled`delete from rate_limits where asked_at < extract(epoch from now()) * 1000 - 3600000`.pipe(
    Effect.catchCause((cause) => Effect.logWarning("Could not remove old rate limits", cause)),
    Effect.repeat(Schedule.jittered(Schedule.spaced("10 minutes")))
  )

/** Token buckets that all processes on a database share; an unavailable database is a defect, as everywhere. */
export const layer = Layer.effect(
  RateLimiter.RateLimiterStore,
  Effect.gen(function* () {
    const { lookups, pooled } = yield* Sql
    const { RATE_LIMIT_PER_SECOND } = yield* Settings
    if (RATE_LIMIT_PER_SECOND > 0) yield* Effect.forkScoped(sweep(pooled))
    const none = () => Effect.die("Only token buckets are kept here")
    return RateLimiter.RateLimiterStore.of({
      tokenBucket: remembering((ask) =>
        write(lookups, lookups`${consume(ask)}`).pipe(Effect.flatMap(decode), Effect.orDie)
      ),
      fixedWindow: none,
      adaptiveConsume: none,
      adaptiveFeedback: none
    })
  })
)
