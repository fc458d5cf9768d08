import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Videos counted as failed on a machine without an ffmpeg. A request on a machine with one renders them.
  yield* sql`
    update files set processing = 'pending', rendered_at = null where processing = 'failed' and mime_type like 'video/%'`

  // The default locale; `language` is its language. The service stores both, and until then the language counts.
  yield* sql`alter table post_language add column locale text collate "C"`

  // The name of an asset in the default locale. The column `name`, by which assets sort, has that of the first locale.
  // PL/pgSQL keeps its plans between statements; a function in SQL takes two to four times as long.
  yield* sql.unsafe(`
    create function waypost_asset_name(translations jsonb) returns text language plpgsql stable strict parallel safe as $$
    declare
      standard record;
    begin
      if jsonb_typeof(translations) <> 'array' then return translations #>> '{}'; end if;
      if jsonb_array_length(translations) < 2 then return translations->0->>'name'; end if;
      select coalesce(locale, language) as locale, language into standard from post_language;
      return waypost_translation(translations, standard.locale, standard.language)->>'name';
    end $$`)

  // As before, but an asset has its name in the default locale.
  yield* sql.unsafe(`
    create or replace function waypost_label(type text, state jsonb) returns text language sql stable parallel safe
    return case type when 'asset' then waypost_asset_name(state->'translations')
      else state->>(case type when 'user' then 'username' when 'post' then 'title' when 'webhook' then 'url'
        when 'metaTag' then 'key' when 'assetCategory' then 'key' else 'name' end) end`)
})
