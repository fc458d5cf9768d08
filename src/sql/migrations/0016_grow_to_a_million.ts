import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Most text is ASCII, which is folded several times as fast; the results are the same ones, so that indexes keep their
  // order. What it costs is told by its language: PostgreSQL then uses more than one process for a whole table.
  yield* sql.unsafe(`
    create or replace function waypost_fold(value text) returns text
    language plpgsql immutable parallel safe strict as $$
    begin
      if octet_length(value) = length(value) then return lower(value collate "C"); end if;
      return replace(lower(value collate "und-x-icu"), 'ς', 'σ');
    end $$`)
  // In a function, because PostgreSQL does not share out among processes what has a subquery for each row.
  yield* sql.unsafe(`
    create function waypost_some_like(texts jsonb, pattern text) returns boolean
    language plpgsql immutable parallel safe strict as $$
    begin
      return exists (select from jsonb_array_elements_text(texts) item where waypost_fold(item) like waypost_fold(pattern));
    end $$`)

  // A page in the middle of a list walks the index up to it. With a column the index alone is enough; an expression makes
  // PostgreSQL look at every row on the way.
  yield* sql`
    alter table locations
      add column city text collate "C" generated always as (address->>'city') stored,
      add column country_code text collate "C" generated always as (address->>'countryCode') stored`
  for (const column of ["city", "country_code"]) {
    for (const order of ["asc", "desc"]) yield* sql.unsafe(`drop index locations_${column}_${order}`)
    yield* sql.unsafe(`create index locations_${column}_asc on locations (${column} collate "und-x-icu", uuid)`)
    yield* sql.unsafe(
      `create index locations_${column}_desc on locations (${column} collate "und-x-icu" desc nulls last, uuid desc)`
    )
  }
  yield* sql`drop index locations_trigrams`
  yield* sql`
    create index locations_trigrams on locations using gin (
      waypost_fold(name) gin_trgm_ops,
      waypost_fold(identifier) gin_trgm_ops,
      waypost_fold(city) gin_trgm_ops
    ) with (gin_pending_list_limit = 512)`

  // Filters ask for the name in any language; nothing asked for the first one.
  yield* sql`drop index assets_trigrams`
  yield* sql`
    create index assets_trigrams on assets using gin (
      waypost_fold(jsonb_path_query_array(translations, '$[*].name')::text) gin_trgm_ops,
      waypost_fold(file_name_original) gin_trgm_ops
    ) with (gin_pending_list_limit = 512)`

  // In one statement, which costs half of what one for each address and each signature does.
  const sign = (name: string) => `rtrim(translate(encode(sha256(outer_key || sha256(inner_key ||
    convert_to(file || '/' || ${name} || '?' || expires, 'UTF8'))), 'base64'), '+/', '-_'), '=')`
  yield* sql.unsafe(`
    create or replace function waypost_file_urls(file uuid, path_name text, url_name text, origin text, cdn text)
    returns jsonb language sql stable parallel safe as $$
      select jsonb_build_object(
        'original', origin || folder || url_name || query || signature,
        'thumbnail', origin || folder || 'thumbnail_' || url_name || query || ${sign("'thumbnail_' || path_name")},
        'preview', origin || folder || 'preview_' || url_name || query || ${sign("'preview_' || path_name")},
        'cdnUrl', cdn || folder || url_name || query || signature)
      from (
        select inner_key, outer_key, expires, '/files/' || file || '/' as folder,
          '?expires=' || expires || '&signature=' as query, ${sign("path_name")} as signature
        from secrets, lateral (
          select extract(epoch from date_trunc('day', now() at time zone 'UTC'))::bigint + 8 * 86400 as expires offset 0
        ) today
        where name = 'addresses' offset 0
      ) parts
    $$`)
})
