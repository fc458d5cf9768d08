import type { PublicUrl } from "../../settings/PublicUrl.ts"
import { metaTagsSql } from "./AssetMetaTags.ts"
import { urlsSql } from "./Files.ts"
import type { Computed } from "../../sql/Columns.ts"

const ofFile = (column: string): Computed[string] => ({
  sql: `(select f.${column} from files f where f.uuid = t.file_uuid)`,
  condition: (_, compare) => `t.file_uuid in (select f.uuid from files f where ${compare(`f.${column}`)})`
})

/** The computed members of an asset; options of meta tags are labelled in the locale. */
export const computedOf = (publicUrl: PublicUrl["Service"], locale: string): Computed => ({
  urls: urlsSql(publicUrl, "t.file_uuid", "t"),
  categories: {
    sql: `array(select c.key from asset_category_links l join asset_categories c on c.uuid = l.category_uuid
      where l.asset_uuid = t.uuid order by c.position, c.key)`,
    condition: (_, compare) => `t.uuid in (select l.asset_uuid from asset_category_links l
      where l.category_uuid in (select c.uuid from asset_categories c where ${compare("c.key")}))`
  },
  metaTags: {
    sql: metaTagsSql("t.uuid", `'${locale}'`),
    condition: ({ segments }, compare) => `t.uuid in (select m.asset_uuid from asset_meta_tags m
      where m.definition_uuid in (select d.uuid from meta_tag_definitions d where ${compare(`d.${segments[1]!}`)}))`
  },
  width: ofFile("width"),
  height: ofFile("height"),
  duration: ofFile("duration"),
  mimeType: ofFile("mime_type"),
  sha256: ofFile("sha256"),
  processing: ofFile("processing")
})
