import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { sql } from "../../sql/Fragment.ts"

/** A place in the log: a position and the hash there, in hexadecimal. */
export interface Anchor {
  readonly position: number
  readonly hash: string
}

/** The events after an anchor, up to a position, were pruned. */
class AnchorPrunedError extends Schema.TaggedError<AnchorPrunedError>()("AnchorPrunedError", {
  pruned: Schema.Finite
}) {}

/** Something that is wrong with the log. */
export interface Damage {
  readonly position: number
  readonly problem: string
}

export interface Verified {
  readonly events: number
  readonly begin: Anchor
  readonly end: Anchor
  readonly damages: ReadonlyArray<Damage>
}

/** Events in one statement. */
const batch = 5000

interface Ends {
  readonly last: Anchor
  readonly pruned: Anchor
}

const anchorSql = (position: string, hash: string) =>
  sql.literal(`json_build_object('position', ${position}, 'hash', encode(${hash}, 'hex'))`)

const ends = Effect.flatMap(SqlClient.SqlClient, (client) =>
  Effect.map(
    client<Ends>`select ${anchorSql("position", "hash")} as last, ${anchorSql("pruned_position", "pruned_hash")} as pruned
      from event_log`,
    ([row]) => row!
  )
)

/** The hash that the log has at a position. */
const hashAt = Effect.fnUntraced(function* (position: number, { last, pruned }: Ends) {
  const client = yield* SqlClient.SqlClient
  if (position === pruned.position) return pruned.hash
  const [row] = yield* client<{ readonly hash: string }>`
    select encode(hash, 'hex') as hash from events where position = ${position}::bigint`
  return row?.hash ?? (position === last.position ? last.hash : undefined)
})

interface Row {
  readonly position: number
  readonly hash: string
  readonly problem: string | null
}

/**
 * The events behind an anchor. A hash covers the hash before it, everything about the event, and a digest of its values. An
 * erasure names the events that it shortened, with a digest of what remains; the chain covers the erasure itself.
 */
const check = ({ hash, position }: Anchor) => sql`
  with rows as materialized (
    select e.*, lag(position, 1, ${position}::bigint) over (order by position) as previous_position,
      lag(hash, 1, decode(${hash}::text, 'hex')) over (order by position) as previous_hash
    from (select * from events where position > ${position}::bigint order by position limit ${batch}::int) e
  ), named as materialized (
    select distinct on (position) key::bigint as position, value as rest
    from event_erasures x join events e on e.position = x.position, jsonb_each_text(e.after->'erased')
    where key::bigint between (select min(position) from rows) and (select max(position) from rows)
    order by key::bigint, x.position desc
  ), checked as (
    select r.position, r.hash, r.links, r.position - r.previous_position - 1 as missing,
      r.hash = sha256(r.previous_hash || waypost_event_text(r.position, r.id, r.type, r.action, r.record_uuid, r.occurred_at,
        r.sealed_at, r.actor) || r.digest) as is_chained,
      waypost_event_digest(r.salt, r.label, r.before, r.after, r.links) as found, r.digest,
      num_nonnulls(r.salt, r.label, r.before, r.after, r.links) = 0 as is_blank, n.position is not null as is_named, n.rest,
      r.bytes = coalesce(octet_length(r.before::text), 0) + coalesce(octet_length(r.after::text), 0)
        + coalesce(octet_length(r.links::text), 0) as is_measured
    from rows r left join named n using (position)
  ) select position::float8 as position, encode(hash, 'hex') as hash, case
      when missing > 0 then missing || case missing when 1 then ' event is' else ' events are' end || ' missing before it'
      when not is_chained then 'it was changed, inserted or moved'
      when is_named and rest is null and is_blank then null
      when is_named and encode(found, 'hex') = rest then null
      when found = digest and not is_measured then 'its size was changed'
      when found = digest then null
      when is_blank then 'it has no values, and no erasure names it'
      else 'its values were changed' end as problem
    from checked order by position`

/** Members of relations whose history does not have the event. */
const checkLinks = (from: number, to: number) => sql`
  select distinct e.position::float8 as position, 'the history of ' || member || ' does not have it' as problem
    from events e, jsonb_array_elements(e.links) link,
      lateral jsonb_array_elements_text((link->'added') || (link->'removed')) member
    where e.position > ${from}::bigint and e.position <= ${to}::bigint and e.links is not null
      and not exists (select from event_links l where l.uuid = member::uuid and l.position = e.position)
    order by 1, 2`

const verifyChain = Effect.fnUntraced(function* (from: Anchor | undefined) {
  const client = yield* SqlClient.SqlClient
  yield* client`set transaction isolation level repeatable read, read only`
  const log = yield* ends
  const { last, pruned } = log
  if (from !== undefined && from.position < pruned.position) {
    return yield* new AnchorPrunedError({ pruned: pruned.position })
  }
  const begin = from ?? pruned
  const damages: Array<Damage> = []
  if (from !== undefined && (yield* hashAt(from.position, log)) !== from.hash) {
    damages.push({ position: from.position, problem: "the log does not have this hash there" })
  }
  let place = begin
  let events = 0
  for (let more = true; more;) {
    const rows = yield* client<Row>`${check(place)}`
    damages.push(...rows.flatMap(({ position, problem }) => (problem === null ? [] : [{ position, problem }])))
    const reached = rows.at(-1)
    if (reached !== undefined) {
      damages.push(...(yield* client<Damage>`${checkLinks(place.position, reached.position)}`))
      place = { position: reached.position, hash: reached.hash }
    }
    events += rows.length
    more = rows.length === batch
  }
  if (place.position !== last.position || place.hash !== last.hash) {
    damages.push({ position: last.position, problem: `the log ends here, but the last event is ${place.position}` })
  }
  return { events, begin, end: last, damages } satisfies Verified
})

/** Computes the chain of hashes again, on one snapshot, from an anchor that was noted earlier or from the first event. */
export const verify = (from?: Anchor) =>
  Effect.flatMap(SqlClient.SqlClient, (client) => client.withTransaction(verifyChain(from)))
