import { ownerSetting } from "./ChangeSetting.ts"
import { type Fragment, sql } from "./Fragment.ts"

/**
 * Replaces what a record of a kind is linked with in a join table, and returns the number of rows removed and added as `changes`.
 * Links that stay are not written again.
 */
export const replaceLinks = (
  names: { readonly table: string; readonly kind: string; readonly owner: string; readonly member: string },
  uuid: string,
  members: ReadonlyArray<string>
): Fragment => {
  const [table, own, other] = [sql.literal(names.table), sql.literal(names.owner), sql.literal(names.member)]
  return sql`
    with removed as (
      delete from ${table} where ${own} = ${uuid} and not ${other} = any (${members}::uuid[]) returning 1
    ), added as (
      insert into ${table} (${own}, ${other}) select ${uuid}::uuid, wanted from unnest(${members}::uuid[]) wanted
        where not exists (select from ${table} where ${own} = ${uuid}::uuid and ${other} = wanted)
        order by wanted on conflict do nothing returning 1
    ) select ((select count(*) from removed) + (select count(*) from added))::int as changes, ${ownerSetting(names.kind)}`
}
