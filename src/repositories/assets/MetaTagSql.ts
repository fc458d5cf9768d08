import { MetaTagDefinition } from "../../domain/assets/metaTags/MetaTag.ts"
import type { Definition } from "../../domain/assets/metaTags/MetaTagValue.ts"
import { columnsOf, jsonOf, shownOf } from "../../sql/Columns.ts"

/** Members that are not columns of their name: `group` is a keyword of SQL, and categories are rows of their own. */
export const computed = {
  group: "t.form_group",
  categories: `array(select c.key from meta_tag_categories m join asset_categories c on c.uuid = m.category_uuid
    where m.definition_uuid = t.uuid order by c.key)`
}

const columns = columnsOf(MetaTagDefinition, computed)

const preferring = (translations: string, locale: string) =>
  `coalesce(waypost_translations_for(${translations}, ${locale}), '[]')`

/** The members whose translations of a locale come first. */
const inLocale = (locale: string) => ({
  translations: preferring("t.translations", locale),
  group: `jsonb_set(t.form_group, '{translations}', ${preferring("t.form_group->'translations'", locale)})`,
  options: `(select coalesce(jsonb_agg(jsonb_set(item, '{translations}', ${preferring("item->'translations'", locale)})
    order by place), '[]') from jsonb_array_elements(t.options) with ordinality option (item, place))`
})

/** Whether the row `t` applies to an asset that is in the categories `$1`: bound to one of them, or above, or to none. */
const applies = `(
  not exists (select from meta_tag_categories m where m.definition_uuid = t.uuid)
  or exists (select from meta_tag_categories m join above on above.uuid = m.category_uuid where m.definition_uuid = t.uuid)
)`

/** The categories `$1`, and those they stand below. */
const above = `with recursive above as (
  select uuid, parent_uuid from asset_categories where uuid = any ($1::uuid[])
  union
  select c.uuid, c.parent_uuid from asset_categories c join above on c.uuid = above.parent_uuid
)`

/** All definitions that apply to the categories `$1`, or all there are when that is null; `locale` is an expression. */
export const allSql = (locale: string | undefined): string => {
  const shown = shownOf(columns, locale === undefined ? {} : inLocale(locale))
  return `${above}
    select ${jsonOf(shown)} as json
    from meta_tag_definitions t where $1::uuid[] is null or ${applies} order by t.position, t.key`
}

const validating: ReadonlyArray<keyof Definition> = [
  "uuid",
  "key",
  "type",
  "required",
  "editable",
  "defaultValue",
  "validation",
  "options"
]

const json = jsonOf(columns.filter(({ member }) => validating.some((name) => name === member)))

/**
 * Which version of the definitions there is, and the keys of those that apply to the categories `$1`. A definition can
 * have thousands of options, and a write of values does not read them again while the version is the same.
 */
export const definitionsSql = `${above}, current as (
    select coalesce(encode(sha256(string_agg(t.uuid || ' ' || extract(epoch from t.edited_at), ',' order by t.uuid)::bytea),
      'hex'), '') as version
    from meta_tag_definitions t
  ) select version,
    array(select t.key from meta_tag_definitions t where ${applies}) as applicable
  from current`

/** All definitions, with the members that validate values: a row each, because together they may exceed a message. */
export const validatedSql = `select ${json} as json from meta_tag_definitions t order by t.position, t.key`

/** Which of the options `$2` of the definition `$1` some asset has. */
export const usedOptionsSql = `
  select distinct item #>> '{}' as key from asset_meta_tags m, jsonb_path_query(m.value, 'lax $[*]') item
  where m.definition_uuid = $1 and item #>> '{}' = any ($2::text[]) order by 1`

/** Binds the definition `$1` to the categories `$2` and to no other; returns how many rows changed. */
export const bindSql = `
  with gone as (
    delete from meta_tag_categories where definition_uuid = $1 and not category_uuid = any ($2::uuid[]) returning 1
  ), added as (
    insert into meta_tag_categories (definition_uuid, category_uuid)
      select $1::uuid, wanted from unnest($2::uuid[]) wanted order by wanted on conflict do nothing returning 1
  ) select ((select count(*) from gone) + (select count(*) from added))::int as changes`
