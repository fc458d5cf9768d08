import { Effect, Layer } from "effect"
import { Locales, make } from "../../../src/domain/schema/Locale.ts"
import { AssetCategories } from "../../../src/repositories/assets/AssetCategories.ts"
import { AssetMetaTags } from "../../../src/repositories/assets/AssetMetaTags.ts"
import { Assets } from "../../../src/repositories/assets/Assets.ts"
import { AssetSearch, type SearchRequest } from "../../../src/repositories/assets/AssetSearch.ts"
import { Files } from "../../../src/repositories/assets/Files.ts"
import { MetaTags } from "../../../src/repositories/assets/MetaTags.ts"
import { ThumbnailQueue } from "../../../src/repositories/assets/ThumbnailQueue.ts"
import { publicUrl, settings } from "../../support/TestServer.ts"
import { filled } from "../../sql/Explained.ts"

export const rows = 21_000
export const limit = 25
/** The number of assets per rare word. */
export const alike = rows / 1000

/**
 * Every name has the word "picture" and a rare word; one in ten is a poster, the others are banners. Every odd-numbered
 * asset has two languages; two in three are photos, and forty are in the category "few". Each has a
 * number of its own and a code that twenty others have too, as meta tags.
 */
const fill = [
  `insert into files (uuid, file_name, extension, mime_type, size, sha256, path_name, url_name, processing)
    select md5('f' || i)::uuid, 'File' || md5('f' || i) || '.' || e, e, 'text/plain', i * 7919 % 1000, md5(i::text), '', '', 'ready'
    from generate_series(1, ${rows}) i, lateral (select (array['pdf', 'png', 'jpg', 'mp4'])[1 + i % 4] as e) extension`,
  `insert into assets (uuid, file_uuid, translations, created_at, edited_at)
    select md5('a' || i)::uuid, md5('f' || i)::uuid, case when i % 2 = 0 then english else english || jsonb_build_array(
        jsonb_build_object('locale', 'nl', 'name', 'Affiche w' || left(md5('w' || i % 1000), 8))) end,
      timestamptz '2024-01-01' + i * interval '1 minute', timestamptz '2024-06-01' + (i * 7919 % ${rows}) * interval '1 minute'
    from generate_series(1, ${rows}) i,
      lateral (select jsonb_build_array(jsonb_build_object('locale', 'en', 'name',
        case when i % 10 = 0 then 'Poster' else 'Banner' end || ' picture w' || left(md5('w' || i % 1000), 8) || ' ' || md5('n' || i)))
        as english) texts`,
  `insert into asset_texts (asset_uuid, language, separate, document)
    select uuid, scope.language, case when jsonb_array_length(translations) > 1 then array['en', 'nl'] else '{}' end,
      waypost_document(waypost_name_words(file_name_original), 'simple', 'B') || (
        select string_agg(waypost_document(waypost_words(item->>'name'), waypost_configuration(item->>'locale'), 'A')::text, ' ')::tsvector
        from jsonb_array_elements(translations) item where scope.language in ('', item->>'locale'))
    from assets, lateral (select '' as language union all
      select item->>'locale' from jsonb_array_elements(translations) item where jsonb_array_length(translations) > 1) scope`,
  `insert into asset_words select distinct unnest(string_to_array(waypost_words(name), ' ')) from assets`,
  `insert into asset_categories (uuid, key, translations, position)
    values (md5('few')::uuid, 'few', '[]', 0), (md5('photos')::uuid, 'photos', '[]', 1)`,
  `insert into asset_category_links (asset_uuid, category_uuid)
    select md5('a' || i)::uuid, md5('few')::uuid from generate_series(1, 40) i
    union all select md5('a' || i)::uuid, md5('photos')::uuid from generate_series(1, ${rows}) i where i % 3 > 0`,
  `insert into meta_tag_definitions (uuid, key, translations, type, required, filterable, searchable, editable, options, position)
    select md5(key)::uuid, key, '[]', type, false, true, false, true, '[]', 0
    from (values ('number', 'integer'), ('code', 'text')) definitions (key, type)`,
  `insert into asset_meta_tags (asset_uuid, definition_uuid, value)
    select md5('a' || i)::uuid, md5(key)::uuid, value from generate_series(1, ${rows}) i,
      lateral (values ('number', to_jsonb(i)), ('code', to_jsonb('c' || md5('c' || i % 1000)))) tags (key, value)`,
  ...["files", "assets", "asset_texts", "asset_words", "asset_category_links", "asset_meta_tags"].map(
    (table) => `vacuum analyze ${table}`
  )
]

/** The asset repositories on a database with many assets. */
export const services = AssetSearch.layer.pipe(
  Layer.provideMerge(Assets.layer),
  Layer.provide(AssetMetaTags.layer),
  Layer.provide(MetaTags.layer),
  Layer.provide([AssetCategories.layer, Files.layer, ThumbnailQueue.layer]),
  Layer.provide(Layer.succeed(Locales, make(undefined))),
  Layer.provideMerge(filled(fill)),
  Layer.provide([publicUrl, settings()])
)

export const find = (request: SearchRequest) =>
  Effect.flatMap(AssetSearch, (assets) => assets.search({ limit, ...request }))
