import type { TransactionSql } from "postgres"

const seasons = ["spring", "summer", "autumn", "winter"]

/** The meta tags: one of each kind of field. */
export const metaTags = [
  { key: "year", type: "integer", options: [] },
  { key: "photographer", type: "text", options: [] },
  { key: "rare", type: "text", options: [] },
  { key: "approved", type: "boolean", options: [] },
  { key: "shotOn", type: "date", options: [] },
  { key: "seasons", type: "multiSelect", options: seasons }
] as const

/** Defines the meta tags; most assets have one or two of them. */
export const insertMetaTags = async (sql: TransactionSql) => {
  await sql.unsafe(
    `insert into meta_tag_definitions
      (uuid, key, translations, type, required, filterable, searchable, editable, options, position)
    select md5(key)::uuid, key, jsonb_build_array(jsonb_build_object('locale', 'en', 'name', key)), type, false, true, false, true,
      (select coalesce(jsonb_agg(jsonb_build_object('uuid', md5(option)::uuid, 'key', option, 'position', place, 'active', true,
        'translations', jsonb_build_array(jsonb_build_object('locale', 'en', 'label', initcap(option)))) order by place), '[]')
        from jsonb_array_elements_text(options) with ordinality listed (option, place)), 0
    from jsonb_to_recordset($1::text::jsonb) as definitions (key text, type text, options jsonb)`,
    [JSON.stringify(metaTags)]
  )
  await sql`insert into asset_meta_tags (asset_uuid, definition_uuid, value)
    select a.uuid, md5(key)::uuid, value from assets a, lateral (select hashtext(uuid::text) as hash) hashed, lateral (values
      ('year', to_jsonb(2000 + (hash & 15)), hash & 1 = 0),
      ('photographer', to_jsonb('Photographer ' || (hash & 255)), hash & 3 = 1),
      ('rare', to_jsonb('once'::text), hash & 4095 = 5),
      ('approved', to_jsonb(hash & 31 = 0), hash & 15 = 0),
      ('shotOn', to_jsonb('2020-01-01'::date + (hash & 2047)), hash & 7 = 2),
      ('seasons', to_jsonb((${seasons}::text[])[1 + (hash >> 2 & 1) : 2 + (hash >> 3 & 3)]), hash & 3 = 3)) tags (key, value, present)
    where present`
}
