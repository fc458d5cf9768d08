import type { TransactionSql } from "postgres"
import { insertAssets, projectSize } from "./asset-rows.ts"
import { insertMetaTags } from "./meta-tags.ts"
import type { Step } from "./step.ts"

/**
 * Assets with `projectSize` copies of each. The service's own function builds the search document of one of them, which
 * takes a millisecond; the copies have the same texts, so the document is copied.
 */
export const seedAssets: Step = async (sql, { assets: size }) => {
  const distinct = Math.max(Math.floor(size / projectSize), Math.min(size, 1000))
  await insertAssets(sql, distinct, size, () => {})
  await sql.begin(async (sql) => {
    // The inserted rows already have the values that the trigger would set.
    await sql`alter table assets disable trigger file_attached`
    await copy(sql, distinct, size)
    await sql`alter table assets enable trigger file_attached`
    await insertMetaTags(sql)
    await media(sql)
  })
}

const copy = async (sql: TransactionSql, distinct: number, size: number) => {
  await sql.unsafe(
    `create temp table copies on commit drop as
    select number, uuidv7(age) as uuid, uuidv7(age) as file, asset, original, age from (
      select row_number() over (order by number, a.uuid) as number, a.uuid as asset, a.file_uuid as original
      from assets a, generate_series(1, $1::int) number) numbered,
      lateral (select (number - $2::int) * interval '1 second' as age) ages`,
    [Math.floor(size / distinct) - 1, size - distinct]
  )
  await sql`insert into files (uuid, file_name, extension, mime_type, size, sha256, path_name, url_name, processing, created_at,
      unattached_since, width, height, duration)
    select c.file, f.file_name, extension, mime_type, 20000 + (c.number * 7919 % 5000000), encode(sha256(c.file::text::bytea), 'hex'),
      path_name, url_name, 'ready', now() + age, null, case when extension <> 'pdf' then 400 + c.number % 2048 end,
      case when extension <> 'pdf' then 300 + c.number % 1024 end, case when extension = 'mp4' then (c.number % 256) / 2.0 end
    from copies c join files f on f.uuid = c.original order by c.number`
  await sql`insert into assets (uuid, file_uuid, file_name_original, file_extension, file_size, path_name, url_name, translations,
      focal_point, valid_from, valid_until, created_at, edited_at)
    select c.uuid, c.file, a.file_name_original, a.file_extension, 20000 + (c.number * 7919 % 5000000), a.path_name, a.url_name,
      a.translations, case when c.number % 8 = 0 then '{"x": 0.5, "y": 0.25}'::jsonb end,
      case when c.number % 8 = 0 then now() + age end, case when c.number % 8 = 0 then now() + interval '1 year' end,
      now() + age, now() + age
    from copies c join assets a on a.uuid = c.asset order by c.number`
  await sql`insert into asset_category_links select c.uuid, l.category_uuid from copies c
    join asset_category_links l on l.asset_uuid = c.asset`
  await sql`insert into asset_texts (asset_uuid, language, separate, document)
    select c.uuid, t.language, t.separate, t.document from copies c join asset_texts t on t.asset_uuid = c.asset`
}

/** One in fifty locations has a logo and two pictures, one in ten a caption. */
const media = async (sql: TransactionSql) => {
  await sql`update locations set has_media = hashtext(uuid::text) % 50 = 0,
    translation_labels = case when hashtext(uuid::text) & 15 = 0
      then '[{"key": "other.extraDna1", "locale": "en", "label": "Opening hours"}]' else '[]'::jsonb end
    where hashtext(uuid::text) % 50 = 0 or hashtext(uuid::text) & 15 = 0`
  await sql`insert into location_media (uuid, location_uuid, asset_uuid, is_logo, role, position, labels)
    select uuidv7(), l.uuid, a.uuid, place = 0, case place when 0 then 'logo' when 1 then 'exterior' else 'team' end, greatest(place - 1, 0),
      case place when 0 then '[]' else '[{"key": "title", "locale": "en", "label": "Picture"}]'::jsonb end
    from (select uuid, row_number() over (order by uuid) as number from locations where has_media) l, generate_series(0, 2) place,
    lateral (select 1 + (number * 3 + place) % (select count(*) from assets) as wanted) w
    join (select uuid, row_number() over (order by uuid) as number from assets) a on a.number = wanted`
}
