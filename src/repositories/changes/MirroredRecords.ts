import { Asset, extraMembers } from "../../domain/assets/Asset.ts"
import { AssetCategory } from "../../domain/assets/AssetCategory.ts"
import { MetaTagDefinition } from "../../domain/assets/metaTags/MetaTag.ts"
import { Product } from "../../domain/catalog/Product.ts"
import type { ManagedType } from "../../domain/changes/RecordType.ts"
import type { RecordType } from "../../domain/changes/RecordType.ts"
import { Location } from "../../domain/locations/Location.ts"
import { Group } from "../../domain/people/Group.ts"
import { User } from "../../domain/people/User.ts"
import type { Locales } from "../../domain/schema/Locale.ts"
import type { PublicUrl } from "../../settings/PublicUrl.ts"
import { columnsOf, jsonOf, withoutExtras } from "../../sql/Columns.ts"
import type { Fragment } from "../../sql/Fragment.ts"
import * as AssetColumns from "../assets/AssetColumns.ts"
import * as MetaTagSql from "../assets/MetaTagSql.ts"
import * as ProductColumns from "../catalog/ProductColumns.ts"
import * as LocationMedia from "../locations/LocationMedia.ts"
import * as PostColumns from "../posts/PostColumns.ts"

/** The records of a type: their table, and the JSON text of the row `t` for a reader of these types. */
export interface MirroredRecords {
  readonly table: string
  readonly json: (visible: ReadonlySet<RecordType>) => Fragment
}

/** The members of an asset in a mirror. */
const included = ["categories", "metaTags"]

/** The records that can be mirrored, as the reads answer them. */
export const make = (
  publicUrl: PublicUrl["Service"],
  { defaultLanguage, defaultLocale }: Locales["Service"]
): Readonly<Record<ManagedType, MirroredRecords>> => {
  const fixed = (table: string, json: Fragment): MirroredRecords => ({ table, json: () => json })
  const assets = columnsOf(Asset, AssetColumns.computedOf(publicUrl, defaultLocale))
  return {
    user: fixed("users", jsonOf(columnsOf(User))),
    location: fixed("locations", jsonOf(columnsOf(Location, LocationMedia.computedOf(publicUrl)))),
    group: fixed("groups", jsonOf(columnsOf(Group))),
    product: fixed("products", jsonOf(columnsOf(Product, ProductColumns.computedOf(publicUrl)))),
    post: {
      table: "posts",
      json: (visible) => {
        const view = { groupNames: visible.has("group"), locationNames: visible.has("location") }
        return PostColumns.jsonIn(PostColumns.viewOf(view, defaultLanguage))
      }
    },
    asset: fixed("assets", jsonOf(withoutExtras(assets, extraMembers, included))),
    metaTag: fixed("meta_tag_definitions", jsonOf(columnsOf(MetaTagDefinition, MetaTagSql.computed))),
    assetCategory: fixed("asset_categories", jsonOf(columnsOf(AssetCategory)))
  }
}
