import { Record, Struct } from "effect"
import type { ManagedType } from "../../domain/changes/RecordType.ts"
import type { PublicUrl } from "../../settings/PublicUrl.ts"
import { columnsOf, type Computed } from "../../sql/Columns.ts"
import * as AssetColumns from "../assets/AssetColumns.ts"
import * as MetaTagSql from "../assets/MetaTagSql.ts"
import * as ProductColumns from "../catalog/ProductColumns.ts"
import * as LocationMedia from "../locations/LocationMedia.ts"
import { schemas } from "./RecordKinds.ts"

/** The columns of the records of each type, as the reads answer them. Those of posts depend on what the reader sees. */
export const make = (publicUrl: PublicUrl["Service"], defaultLocale: string) => {
  const computed: { readonly [Type in ManagedType]?: Computed } = {
    location: LocationMedia.computedOf(publicUrl),
    product: ProductColumns.computedOf(publicUrl),
    asset: AssetColumns.computedOf(publicUrl, defaultLocale),
    metaTag: MetaTagSql.computed
  }
  return Record.map(Struct.omit(schemas, ["post"]), (record, type) => columnsOf(record, computed[type]))
}
