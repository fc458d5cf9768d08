import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { AssetId, Usage } from "../../domain/assets/Asset.ts"

/** Puts the asset into these categories and no others; returns whether that changed anything. */
export const replaceCategories = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  uuid: AssetId,
  wanted: ReadonlyArray<string>
) {
  // A concurrent rename of a category either commits first or sees that this asset is in it.
  yield* sql.unsafe("select from asset_categories where uuid = any ($1::uuid[]) order by uuid for share", [wanted])
  const [row] = yield* sql.unsafe<{ readonly changed: boolean }>(
    `with gone as (
      delete from asset_category_links where asset_uuid = $1 and not category_uuid = any ($2::uuid[]) returning 1
    ), added as (
      insert into asset_category_links (asset_uuid, category_uuid)
        select $1::uuid, wanted from unnest($2::uuid[]) wanted on conflict do nothing returning 1
    ) select exists (select from gone) or exists (select from added) as changed`,
    [uuid, wanted]
  )
  return row!.changed
})

/** Writes the search text of the asset. */
export const index = (sql: SqlClient.SqlClient, uuid: AssetId) => sql.unsafe("select waypost_index_asset($1)", [uuid])

/** The records that use the asset. */
export const usagesOf = (sql: SqlClient.SqlClient, uuid: AssetId) =>
  sql.unsafe<Usage>(
    `select 'location' as type, location_uuid as uuid from location_media where asset_uuid = $1
      union select 'product', product_uuid from product_assets where asset_uuid = $1
      union select 'post', uuid from posts where cover_asset_uuid = $1
      union select 'post', uuid from posts where media_asset_uuids @> array[$1::uuid::text]
      order by type, uuid`,
    [uuid]
  )
