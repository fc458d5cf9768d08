import type { RecordType } from "../../domain/changes/RecordType.ts"

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
