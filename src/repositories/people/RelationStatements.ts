import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Precondition } from "../../domain/query/Precondition.ts"
import type { RelationKind } from "../../domain/write/Relations.ts"
import { changeSetting } from "../../sql/ChangeSetting.ts"
import { setTagsOf } from "../../sql/EntityTag.ts"
import { sql } from "../../sql/Fragment.ts"
import { linkDifferences, type RelationDifference, type RelationSet, replaceManyLinks } from "../../sql/Links.ts"
import { columns, tableOf } from "./RelationTables.ts"

/** What `waypost_replace_…` returns. */
interface Replaced {
  readonly known: boolean
  /** The set has more members than the call replaces. */
  readonly large: boolean
  /** The precondition is met. */
  readonly current: boolean
  readonly missing: ReadonlyArray<string>
  readonly changes: number
  /** Identifies the set that the call leaves. */
  readonly tag: string
}

/** The statements that compare and replace the sets of records that belong to others. */
export const make = (pooled: SqlClient.SqlClient) => {
  /** The uuids that no record of a kind has. */
  const missingOf = (member: RelationKind, uuids: ReadonlyArray<string>) =>
    Effect.map(
      pooled<{ readonly uuid: string }>`
        select wanted.uuid::text as uuid from unnest(${uuids}::uuid[]) with ordinality wanted (uuid, place)
          where not exists (select from ${pooled(member)} t where t.uuid = wanted.uuid) order by place`,
      (rows) => rows.map(({ uuid }) => uuid)
    )

  /** Locks the groups that gain or lose members in one order, because the trigger updates their sizes. */
  const lockGroups = (owner: RelationKind, owners: ReadonlyArray<string>, groups: ReadonlyArray<string>) => pooled`
    select from groups where uuid = any (${groups}::uuid[]) or uuid in (
      select group_uuid from ${sql.literal(tableOf(owner, "groups"))}
        where ${sql.literal(columns[owner])} = any (${owners}::uuid[])
    ) order by uuid for no key update`

  const linkNames = (owner: RelationKind, member: RelationKind) => ({
    table: tableOf(owner, member),
    kind: owner,
    owner: columns[owner],
    member: columns[member]
  })

  /** Replaces the sets of many records, and returns the uuids of those whose set changed. */
  const replaceMany = Effect.fnUntraced(function* (
    owner: RelationKind,
    member: RelationKind,
    sets: ReadonlyArray<RelationSet>
  ) {
    if (member === "groups") {
      const groups = sets.flatMap(({ members }) => members)
      yield* lockGroups(
        owner,
        sets.map(({ uuid }) => uuid),
        groups
      )
    }
    const rows = yield* pooled<{ readonly uuid: string }>`${replaceManyLinks(linkNames(owner, member), sets)}`
    return new Set(rows.map(({ uuid }) => uuid))
  })

  /**
   * Replaces the set of a record. One call, so that the locks are held for as long as the database needs them; `maxMembers` is null
   * under the lock of the table.
   */
  const replaceOne = Effect.fnUntraced(function* (
    owner: RelationKind,
    uuid: string,
    member: RelationKind,
    members: ReadonlyArray<string>,
    precondition: Precondition,
    maxMembers: number | null
  ) {
    const expected = setTagsOf(precondition) ?? null
    const [row] = yield* pooled<Replaced>`
      select * from ${sql.literal(`waypost_replace_${member}_of_${owner.slice(0, -1)}`)}(
        ${uuid}::uuid, ${members}::uuid[], ${expected}::text[], ${maxMembers}::int, ${yield* changeSetting})`
    return row!
  })

  /** What the first of some sets would add to those of records, and remove from them. */
  const differing = (owner: RelationKind, member: RelationKind, sets: ReadonlyArray<RelationSet>) =>
    pooled<RelationDifference>`${linkDifferences(linkNames(owner, member), sets)}`

  return { differing, missingOf, replaceMany, replaceOne }
}
