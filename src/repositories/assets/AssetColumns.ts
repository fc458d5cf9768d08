import type { PublicUrl } from "../../settings/PublicUrl.ts"
import type { Computed } from "../../sql/Columns.ts"
import { sql } from "../../sql/Fragment.ts"
import { metaTagsSql } from "./AssetMetaTags.ts"
import { originsSql } from "./Files.ts"

const ofFile = (name: string): Computed[string] => {
  const column = sql.literal(`f.${name}`)
  return {
    sql: sql`(select ${column} from files f where f.uuid = t.file_uuid)`,
    condition: (_, compare) => sql`t.file_uuid in (select f.uuid from files f where ${compare(column)})`
  }
}

/** The computed members of an asset; options of meta tags are labelled in the locale. */
export const computedOf = (publicUrl: PublicUrl["Service"], locale: string): Computed => ({
  urls: sql`waypost_file_urls(t.file_uuid, t.path_name, t.url_name, ${originsSql(publicUrl)})`,
  categories: {
    sql: sql`array(select c.key from asset_category_links l join asset_categories c on c.uuid = l.category_uuid
      where l.asset_uuid = t.uuid order by c.position, c.key)`,
    condition: (_, compare) => sql`t.uuid in (select l.asset_uuid from asset_category_links l
      where l.category_uuid in (select c.uuid from asset_categories c where ${compare(sql`c.key`)}))`
  },
  metaTags: {
    sql: metaTagsSql(sql`t.uuid`, locale),
    condition: ({ segments }, compare) => sql`t.uuid in (select m.asset_uuid from asset_meta_tags m
      where m.definition_uuid in (select d.uuid from meta_tag_definitions d
        where ${compare(sql.literal(`d.${segments[1]!}`))}))`
  },
  width: ofFile("width"),
  height: ofFile("height"),
  duration: ofFile("duration"),
  mimeType: ofFile("mime_type"),
  sha256: ofFile("sha256"),
  processing: ofFile("processing")
})
