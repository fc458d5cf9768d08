import type { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { ownerSetting } from "./ChangeSetting.ts"
import type { Turns } from "./connections/FairPermits.ts"
import { type Fragment, sql } from "./Fragment.ts"
import type { RelationKind } from "../domain/write/Relations.ts"

/** Members that are rows of join tables. */
export interface Relations {
  readonly members: ReadonlyArray<RelationKind>
  /** Takes the lock of the join tables, which deletions take as well, and a permit. */
  readonly locked: <A, E>(write: Effect.Effect<A, E>, permits: Turns) => Effect.Effect<A, Exclude<E, SqlError.SqlError>>
  /** The uuids that no record of a member has. */
  readonly missing: (
    member: RelationKind,
    uuids: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<string>, SqlError.SqlError>
  /** What the first of some sets would add to those of records, and remove from them: as many as have a limited number of uuids. */
  readonly differing: (
    member: RelationKind,
    sets: ReadonlyArray<RelationSet>
  ) => Effect.Effect<ReadonlyArray<RelationDifference>, SqlError.SqlError>
  /** Replaces the sets of records, and returns the uuids of the records whose set changed. */
  readonly replace: (
    member: RelationKind,
    sets: ReadonlyArray<RelationSet>
  ) => Effect.Effect<ReadonlySet<string>, SqlError.SqlError>
}

/** What a record is related to, as a whole. */
export interface RelationSet {
  readonly uuid: string
  readonly members: ReadonlyArray<string>
}

/** The uuids that a set adds to that of a record, and removes from it, in order. */
export interface RelationDifference {
  readonly uuid: string
  readonly added: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
}

/** A join table: the kind and the column of the side that is replaced, and the column of the other side. */
interface LinkNames {
  readonly table: string
  readonly kind: string
  readonly owner: string
  readonly member: string
}

/** Sets as rows of `sets`, with their `owner`, their `members` and their `place`. */
const rowsOf = (sets: ReadonlyArray<RelationSet>): Fragment =>
  sql`rows from (jsonb_to_recordset(${JSON.stringify(sets.map(({ members, uuid }) => ({ owner: uuid, members })))}::jsonb)
    as (owner uuid, members uuid[])) with ordinality as sets (owner, members, place)`

/** How many uuids the differences of several sets have together. */
const maxDiffering = 100_000

/** The differences of the first sets from what records are linked with in a join table; the first one may have any number of uuids. */
export const linkDifferences = (names: LinkNames, sets: ReadonlyArray<RelationSet>): Fragment => {
  const current = sql`select t.${sql.literal(names.member)} as member from ${sql.literal(names.table)} t
    where t.${sql.literal(names.owner)} = owner`
  const sent = sql`select unnest(members) as member`
  const listed = (difference: Fragment) =>
    sql`array(select member::text from (${difference}) difference order by member)`
  const max = sql.literal(String(maxDiffering))
  // One set after the other: those behind the limit would be computed again with the next ones.
  return sql`
    with recursive sent as materialized (select * from ${rowsOf(sets)}), taken as (
      select 0::bigint as place, null::uuid as owner, null::text[] as added, null::text[] as removed, 0::bigint as uuids
      union all
      select item.place, item.owner, item.added, item.removed, taken.uuids + cardinality(item.added) + cardinality(item.removed)
      from taken, lateral (
        select place, owner, ${listed(sql`${sent} except ${current}`)} as added, ${listed(sql`${current} except ${sent}`)} as removed
        from sent where sent.place = taken.place + 1 offset 0
      ) item where taken.uuids <= ${max}
    ) select owner::text as uuid, added, removed from taken
      where place = 1 or (place > 1 and uuids <= ${max}) order by place`
}

/**
 * Replaces what records of a kind are linked with in a join table, and returns the `uuid` of each whose links changed. Links
 * that stay are not written again.
 */
export const replaceManyLinks = (names: LinkNames, sets: ReadonlyArray<RelationSet>): Fragment => {
  const [table, own, other] = [sql.literal(names.table), sql.literal(names.owner), sql.literal(names.member)]
  return sql`
    with sent as materialized (
      select owner, members from ${rowsOf(sets)}
    ), wanted as materialized (
      select distinct owner, member from sent, unnest(members) member
    ), removed as (
      delete from ${table} t using sent where t.${own} = sent.owner
        and not exists (select from wanted w where w.owner = t.${own} and w.member = t.${other}) returning t.${own} as uuid
    ), added as (
      insert into ${table} (${own}, ${other}) select owner, member from wanted w
        where not exists (select from ${table} t where t.${own} = w.owner and t.${other} = w.member)
        order by owner, member on conflict do nothing returning ${own} as uuid
    ) select distinct changed.uuid::text as uuid from (select uuid from removed union all select uuid from added) changed
      where (select ${ownerSetting(names.kind)}) is not null`
}
