import { type RecordKind, typeOfKind } from "../../domain/changes/RecordType.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import * as Past from "./PastTables.ts"
import { recordTables } from "./RecordTables.ts"

export const tableFor = (kind: RecordKind): Past.Table => recordTables[typeOfKind[kind]]

const self = sql`select uuid from moment`

const uuidsIn = (states: string, list: string) =>
  sql.literal(`select (item->>'uuid')::uuid from ${states} s, jsonb_array_elements(s.state->${list}) item`)

const count = (member: "users" | "locations", column: string) => sql`
  coalesce((select ${sql.literal(column)} from groups c where c.uuid = s.uuid), 0) - coalesce((
    select sum(case when added then 1 else -1 end) from waypost_relinked(s.uuid, 'groups',
      (select place from moment), (select since from moment)) where path = ${member}), 0)`

const assetsNamed = sql`select (item->>'assetUuid')::uuid from product_modules m, jsonb_array_elements(m.settings->'files') item
  where m.module = 'files'`

/** The product, its parent, and the products that were its variants or may have been. */
const family = sql`
  select (state->>'parent_uuid')::uuid from self_then
  union select p.uuid from products p, moment where p.parent_uuid = moment.uuid
  union select e.record_uuid from events e, moment
    where e.type = 'product' and e.before->>'parent_uuid' = moment.uuid::text and e.position > moment.place
  union select p.uuid from pending_changes p, moment
    where p.type = 'product' and p.before->>'parent_uuid' = moment.uuid::text`

/** The tables from which the answer to a read of the record is made, as they were at the moment. */
export const tablesFor: Readonly<Record<RecordKind, ReadonlyArray<Fragment>>> = {
  users: Past.tableOf("users", self),
  locations: [
    Past.statesOf("locations_then", "locations", self),
    Past.rowsOf("locations", "locations_then", sql`s.state || '{"has_media": true}'`),
    Past.locationMedia,
    ...Past.tableOf("assets", sql`select asset_uuid from location_media`),
    Past.files
  ],
  groups: [
    Past.statesOf("groups_then", "groups", self),
    Past.rowsOf(
      "groups",
      "groups_then",
      sql`s.state || jsonb_build_object('user_count', ${count("users", "user_count")},
        'location_count', ${count("locations", "location_count")})`
    )
  ],
  products: [
    Past.statesOf("self_then", "products", self),
    Past.statesOf("family_then", "products", family),
    sql`products_then as (select * from self_then
      union all select f.* from family_then f where f.uuid <> (select uuid from moment))`,
    Past.rowsOf("products"),
    Past.productModules,
    ...Past.tableOf("assets", assetsNamed),
    Past.files
  ],
  posts: [
    ...Past.tableOf("posts", self),
    ...Past.tableOf("users", sql`select (state->'author'->>'uuid')::uuid from posts_then`),
    ...Past.tableOf("groups", uuidsIn("posts_then", "'audience'->'groups'")),
    ...Past.tableOf("locations", uuidsIn("posts_then", "'audience'->'locations'")),
    ...Past.tableOf(
      "assets",
      sql`select (state->>'cover_asset_uuid')::uuid from posts_then
        union select named::uuid from posts_then, jsonb_array_elements_text(coalesce(state->'media_asset_uuids', '[]')) named`
    )
  ],
  assets: [
    Past.files,
    Past.statesOf("assets_then", "assets", self),
    Past.rowsOf(
      "assets",
      "assets_then",
      sql`s.state || coalesce((select jsonb_build_object('path_name', f.path_name, 'url_name', f.url_name)
        from files f where f.uuid = (s.state->>'file_uuid')::uuid), '{}')`
    ),
    Past.categoryLinks("asset_category_links", "asset_uuid", "assets_then"),
    ...Past.tableOf("asset_categories", sql`select category_uuid from asset_category_links`),
    Past.assetMetaTags,
    ...Past.tableOf("meta_tag_definitions", sql`select definition_uuid from asset_meta_tags`)
  ],
  metaTags: [
    ...Past.tableOf("meta_tag_definitions", self),
    Past.categoryLinks("meta_tag_categories", "definition_uuid", "meta_tag_definitions_then"),
    ...Past.tableOf("asset_categories", sql`select category_uuid from meta_tag_categories`)
  ],
  assetCategories: [...Past.tableOf("asset_categories", self)]
}
