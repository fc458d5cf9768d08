import { MetaTagDefinition } from "../../domain/assets/metaTags/MetaTag.ts"
import type { Definition } from "../../domain/assets/metaTags/MetaTagValue.ts"
import { columnsOf, jsonOf, shownOf } from "../../sql/Columns.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import { arrayOf, withinAnswer } from "../../sql/lists/AnswerSizes.ts"
import { lockSoonSql, shareSoonSql } from "../../sql/Transactions.ts"

/** Members that are not columns of their name: `group` is a keyword of SQL, and categories are rows of their own. */
export const computed = {
  group: { column: "form_group" },
  categories: sql`array(select c.key from meta_tag_categories m join asset_categories c on c.uuid = m.category_uuid
    where m.definition_uuid = t.uuid order by c.key)`
}

const columns = columnsOf(MetaTagDefinition, computed)

const preferring = (translations: Fragment, locale: string) =>
  sql`coalesce(waypost_translations_for(${translations}, ${locale}::text), '[]')`

/** The members whose translations of a locale come first. */
const inLocale = (locale: string) => ({
  translations: preferring(sql`t.translations`, locale),
  group: sql`jsonb_set(t.form_group, '{translations}', ${preferring(sql`t.form_group->'translations'`, locale)})`,
  options: sql`(select coalesce(jsonb_agg(jsonb_set(item, '{translations}', ${preferring(sql`item->'translations'`, locale)})
    order by place), '[]') from jsonb_array_elements(t.options) with ordinality option (item, place))`
})

/** Whether the definition `t` applies to the categories: bound to one of them, or to one above, or to none. */
const applies = sql`(
  not exists (select from meta_tag_categories m where m.definition_uuid = t.uuid)
  or exists (select from meta_tag_categories m join above on above.uuid = m.category_uuid where m.definition_uuid = t.uuid)
)`

/** The categories, and those they stand below. */
const above = (categories: ReadonlyArray<string> | null) => sql`with recursive above as (
  select uuid, parent_uuid from asset_categories where uuid = any (${categories}::uuid[])
  union
  select c.uuid, c.parent_uuid from asset_categories c join above on c.uuid = above.parent_uuid
)`

/** The JSON array of the definitions that apply to the categories, or of all; null when it is too long. */
export const allSql = (categories: ReadonlyArray<string> | null, locale: string | undefined): Fragment => {
  const shown = shownOf(columns, locale === undefined ? {} : inLocale(locale))
  return sql`${above(categories)}
    select ${withinAnswer(sql`
      select ${arrayOf(sql`${jsonOf(shown)}, ',' order by t.position, t.key`)} as json
      from meta_tag_definitions t where ${categories}::uuid[] is null or ${applies}`)} as json`
}

const validated: ReadonlyArray<keyof Definition> = [
  "uuid",
  "key",
  "type",
  "required",
  "editable",
  "defaultValue",
  "validation",
  "options"
]

const json = jsonOf(columns.filter(({ member }) => validated.some((name) => name === member)))

/**
 * The version of the definitions, and the keys of those that apply to the categories. A definition can have thousands
 * of options, which a write of values reads again only when the version changed.
 */
export const definitionsSql = (categories: ReadonlyArray<string>): Fragment => sql`${above(categories)}, current as (
    select coalesce(encode(sha256(string_agg(t.uuid || ' ' || extract(epoch from t.edited_at), ',' order by t.uuid)::bytea),
      'hex'), '') as version
    from meta_tag_definitions t
  ) select version,
    array(select t.key from meta_tag_definitions t where ${applies}) as applicable
  from current`

const edited = sql`extract(epoch from t.edited_at)::text`

/**
 * All definitions for the validation of values: a row each, because together they may exceed the size of a message. Of those that are
 * known as they were last edited, the JSON is null.
 */
export const validatedSql = (known: Readonly<Record<string, string>>): Fragment => sql`
  select t.uuid, ${edited} as edited,
    case when ${JSON.stringify(known)}::jsonb->>t.uuid::text is distinct from ${edited} then ${json} end as json
  from meta_tag_definitions t order by t.position, t.key`

/** The options of the definition, of those given, that some asset has. */
export const usedOptionsSql = (definition: string, options: ReadonlyArray<string>): Fragment => sql`
  select distinct item #>> '{}' as key from asset_meta_tags m, jsonb_path_query(m.value, 'lax $[*]') item
  where m.definition_uuid = ${definition} and item #>> '{}' = any (${options}::text[]) order by 1`

/** Sets the values of the asset; answers a row for each that changes. */
export const setValuesSql = (
  asset: string,
  values: ReadonlyArray<{ readonly uuid: string; readonly value: unknown }>
) => sql`
  insert into asset_meta_tags as m (asset_uuid, definition_uuid, value)
    select ${asset}::uuid, (item->>'uuid')::uuid, item->'value' from jsonb_array_elements(${JSON.stringify(values)}::jsonb) item
    on conflict (asset_uuid, definition_uuid) do update set value = excluded.value where m.value <> excluded.value
    returning 1`

/** Binds the definition to the categories and to no other. */
export const bindSql = (definition: string, categories: ReadonlyArray<string>): Fragment =>
  sql`select waypost_categorize_meta_tag(${definition}::uuid, ${categories}::uuid[]) as changes`

// Values are validated by definitions that do not change before the values are written: writers of values share the lock, and
// writes of definitions wait for them.
const locked = "meta_tag_definitions"

/**
 * Locks the definitions until the transaction ends; waits for transactions that write values. One that writes those of many assets has
 * the lock for seconds.
 */
export const lockDefinitionsSql = lockSoonSql(locked)

/**
 * Locks the values until the transaction ends, shared with other transactions that write values. The deletion of a definition has the
 * lock for up to two minutes.
 */
export const lockValuesSql = shareSoonSql(locked)
