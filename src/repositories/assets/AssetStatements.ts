import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { type AssetId, maxUsages, type Usage } from "../../domain/assets/Asset.ts"
import { sql as fragment } from "../../sql/Fragment.ts"
import { usagesSql } from "../access/References.ts"

/** Puts the asset into these categories and no others; returns whether that changed anything. */
export const replaceCategories = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  uuid: AssetId,
  wanted: ReadonlyArray<string>
) {
  // A concurrent rename of a category either commits first or sees that this asset is in it.
  yield* sql`select from asset_categories where uuid = any (${wanted}::uuid[]) order by uuid for share`
  const [row] = yield* sql<{ readonly changes: number }>`
    select waypost_categorize_asset(${uuid}::uuid, ${wanted}::uuid[]) as changes`
  return row!.changes > 0
})

/** Writes the search text of the asset. */
export const index = (sql: SqlClient.SqlClient, uuid: AssetId) => sql`select waypost_index_asset(${uuid})`

/** The records that use the asset, at most as many as an error names. */
export const usagesOf = (sql: SqlClient.SqlClient, uuid: AssetId) => sql<Usage>`
  select distinct type, uuid from (${usagesSql("asset", fragment`${uuid}::uuid`)}) used order by type, uuid
    limit ${maxUsages}::int`
