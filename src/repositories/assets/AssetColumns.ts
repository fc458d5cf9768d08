import type { PublicUrl } from "../../settings/PublicUrl.ts"
import { type Computed, type ComputedCondition, extract, typed } from "../../sql/Columns.ts"
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

/** The labels of an option; one without any is shown by its key. */
const labels = sql`jsonb_array_elements(case when option->'translations' = '[]'
  then jsonb_build_array(jsonb_build_object('label', option->'key')) else option->'translations' end)`

/** Some option that a value names meets the condition; its labels in all locales count. */
const optionCondition: ComputedCondition = (field, compare) => {
  const member = field.segments[2]!
  const matches =
    member === "label"
      ? sql`exists (select from ${labels} translation where ${compare(extract(sql`translation`, ["label"]))})`
      : compare(typed(field, extract(sql`option`, [member])))
  // One lookup for each value: a definition can have thousands of options, and thousands of assets their values.
  return sql`t.uuid in (select m.asset_uuid from (
      select d.uuid, jsonb_object_agg(option->>'key', true) as keys
      from meta_tag_definitions d, jsonb_array_elements(d.options) option where ${matches} group by d.uuid
    ) chosen join asset_meta_tags m on m.definition_uuid = chosen.uuid
    where exists (select from jsonb_path_query(m.value, 'lax $[*]') named where jsonb_exists(chosen.keys, named #>> '{}')))`
}

/** Some value of the asset meets the condition. */
const metaTagCondition: ComputedCondition = (field, compare, condition) =>
  field.segments.length > 2
    ? optionCondition(field, compare, condition)
    : sql`t.uuid in (select m.asset_uuid from asset_meta_tags m
        where m.definition_uuid in (select d.uuid from meta_tag_definitions d
          where ${compare(sql.literal(`d.${field.segments[1]!}`))}))`

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
    condition: metaTagCondition
  },
  width: ofFile("width"),
  height: ofFile("height"),
  duration: ofFile("duration"),
  mimeType: ofFile("mime_type"),
  sha256: ofFile("sha256"),
  processing: ofFile("processing")
})
