import type { RecordType } from "../../domain/changes/RecordType.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"

/** The table of the records of each type. */
export const recordTables = {
  user: "users",
  location: "locations",
  group: "groups",
  product: "products",
  post: "posts",
  asset: "assets",
  metaTag: "meta_tag_definitions",
  assetCategory: "asset_categories",
  apiKey: "api_keys",
  webhook: "webhooks"
} as const satisfies Readonly<Record<RecordType, string>>

/** The column by which people recognize a record, or what is made of one, as `waypost_label` has it for the log. */
const labelColumns: { readonly [Type in RecordType]?: string } = {
  user: "username",
  post: "title",
  asset: "waypost_asset_name(translations)",
  metaTag: "key",
  assetCategory: "key",
  webhook: "url"
}

/** The label of the record with the uuid; null if no record has it. */
export const labelSql = (type: RecordType, uuid: Fragment): Fragment =>
  sql`(select ${sql.literal(labelColumns[type] ?? "name")} from ${sql.literal(recordTables[type])} labelled
    where labelled.uuid = ${uuid})`
