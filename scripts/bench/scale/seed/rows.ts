import type { Counts, Step } from "./step.ts"
import assert from "node:assert/strict"
import type { Sql } from "postgres"
import { seed as seedLocations } from "../../../../test/support/Databases.ts"
import { seedAssets } from "./assets.ts"
import { seedGroups, seedUsers } from "./people.ts"
import { seedPosts, seedProducts } from "./portal.ts"

const steps: Readonly<Record<string, Step>> = {
  assets: seedAssets,
  users: seedUsers,
  groups: seedGroups,
  products: seedProducts,
  posts: seedPosts
}

/**
 * Runs `act` without the triggers that log members of records: no read of the benchmark uses the log, and sealing a change for each
 * row would take longer than inserting it.
 */
const withoutLog = async (sql: Sql, act: () => Promise<void>) => {
  const triggers = await sql<Array<{ readonly table: string; readonly name: string }>>`
    select tgrelid::regclass::text as table, tgname as name from pg_trigger where tgname like 'logged%'`
  for (const { name, table } of triggers) await sql.unsafe(`alter table ${table} disable trigger ${name}`)
  await act()
  for (const { name, table } of triggers) await sql.unsafe(`alter table ${table} enable trigger ${name}`)
  await sql`truncate pending_changes`
}

/** Runs `act` without the indexes that are not unique, and builds them afterwards, which is several times as fast. */
const withoutIndexes = async (sql: Sql, act: () => Promise<void>, say: (text: string) => void) => {
  const indexes = await sql<Array<{ readonly name: string; readonly definition: string }>>`
    select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as definition
    from pg_index i join pg_class c on c.oid = i.indrelid
    where c.relnamespace = 'public'::regnamespace and not i.indisunique and c.relkind = 'r'`
  for (const { name } of indexes) await sql.unsafe(`drop index ${name}`)
  await act()
  say(`building ${indexes.length} indexes`)
  for (const { definition } of indexes) await sql.unsafe(definition)
}

/** Asserts that the maintained counts and search documents equal freshly computed ones. */
const verify = async (sql: Sql, counts: Counts) => {
  for (const [table, count] of Object.entries(counts)) {
    const [row] = await sql.unsafe<[{ readonly rows: number; readonly maintained: number }]>(
      `select (select count(*)::int from ${table}) as rows,
        (select sum(delta)::int from row_counts where relation = '${table}') as maintained`
    )
    assert.deepEqual(row, { rows: count, maintained: count }, table)
  }
  const [groups] = await sql`
    select count(*)::int as wrong from groups g where user_count <> (select count(*) from user_groups where group_uuid = g.uuid)
      or location_count <> (select count(*) from group_locations where group_uuid = g.uuid)`
  assert.equal(groups!["wrong"], 0)
  const before =
    await sql`select * from asset_texts where asset_uuid in (select uuid from assets order by md5(uuid::text) limit 50)
    order by asset_uuid, language`
  for (const { asset_uuid: uuid } of before) await sql`select waypost_index_asset(${uuid})`
  const after =
    await sql`select * from asset_texts where asset_uuid = any (${before.map((row) => row["asset_uuid"] as string)})
    order by asset_uuid, language`
  assert.deepEqual([...after], [...before], "asset_texts differs from what waypost_index_asset makes")
}

/** Fills the tables of Waypost with the records of a brand. */
export const seedAll = async (sql: Sql, counts: Counts, say: (text: string) => void): Promise<void> => {
  for (const [name, value] of [
    ["maintenance_work_mem", "1GB"],
    ["max_wal_size", "20GB"],
    ["autovacuum", "off"]
  ] as const) {
    await sql.unsafe(`alter system set ${name} = '${value}'`)
  }
  await sql`select pg_reload_conf()`
  const insert = async () => {
    await seedLocations(sql, counts.locations)
    for (const [name, step] of Object.entries(steps)) {
      say(name)
      await step(sql, counts)
    }
  }
  await withoutLog(sql, () => withoutIndexes(sql, insert, say))
  await sql.unsafe("vacuum (analyze)")
  await verify(sql, counts)
  await sql.unsafe("alter system reset all")
  await sql`select pg_reload_conf()`
  await sql`vacuum (analyze) asset_texts`
  await sql`checkpoint`
}
