import type { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { ownerSetting } from "./ChangeSetting.ts"
import { type Fragment, sql } from "./Fragment.ts"

/** Members that are rows of join tables. */
export interface Relations {
  readonly members: ReadonlyArray<string>
  /** Takes the lock of the join tables, which deletions take as well. */
  readonly locked: <A, E>(write: Effect.Effect<A, E>) => Effect.Effect<A, Exclude<E, SqlError.SqlError>>
  /** The uuids that no record of a member has. */
  readonly missing: (
    member: string,
    uuids: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<string>, SqlError.SqlError>
  /** Replaces the sets of records, and returns the uuids of the records whose set changed. */
  readonly replace: (
    member: string,
    sets: ReadonlyArray<RelationSet>
  ) => Effect.Effect<ReadonlySet<string>, SqlError.SqlError>
}

/** What a record is related to, as a whole. */
export interface RelationSet {
  readonly uuid: string
  readonly members: ReadonlyArray<string>
}

/** A join table: the kind and the column of the side that is replaced, and the column of the other side. */
interface LinkNames {
  readonly table: string
  readonly kind: string
  readonly owner: string
  readonly member: string
}

/**
 * Replaces what records of a kind are linked with in a join table, and returns the `uuid` of each whose links changed. Links
 * that stay are not written again.
 */
export const replaceManyLinks = (names: LinkNames, sets: ReadonlyArray<RelationSet>): Fragment => {
  const [table, own, other] = [sql.literal(names.table), sql.literal(names.owner), sql.literal(names.member)]
  return sql`
    with sent as materialized (
      select owner, members from jsonb_to_recordset(${JSON.stringify(sets.map(({ members, uuid }) => ({ owner: uuid, members })))}::jsonb)
        as sets (owner uuid, members uuid[])
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
