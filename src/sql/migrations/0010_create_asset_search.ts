import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The text search configuration of each language that PostgreSQL brings one for. */
const configurations: Readonly<Record<string, string>> = {
  ar: "arabic",
  hy: "armenian",
  eu: "basque",
  ca: "catalan",
  da: "danish",
  nl: "dutch",
  en: "english",
  et: "estonian",
  fi: "finnish",
  fr: "french",
  de: "german",
  el: "greek",
  hi: "hindi",
  hu: "hungarian",
  id: "indonesian",
  ga: "irish",
  it: "italian",
  lt: "lithuanian",
  ne: "nepali",
  no: "norwegian",
  nb: "norwegian",
  nn: "norwegian",
  pt: "portuguese",
  ro: "romanian",
  ru: "russian",
  sr: "serbian",
  es: "spanish",
  sv: "swedish",
  ta: "tamil",
  tr: "turkish",
  yi: "yiddish"
}

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create extension if not exists unaccent`
  yield* sql`create extension if not exists fuzzystrmatch`

  // Words as they are searched: without accents, in lower case, file names taken apart (`SummerSale2026_v2.png` is
  // "summer sale 2026 v 2 png"). What is not a letter or a digit separates.
  yield* sql.unsafe(`
    create function waypost_words(value text) returns text language sql immutable parallel safe strict
    return btrim(regexp_replace(waypost_fold(unaccent('unaccent'::regdictionary, value)) collate "und-x-icu",
      '[^[:alnum:]]+', ' ', 'g'))`)
  yield* sql.unsafe(`
    create function waypost_name_words(value text) returns text language sql immutable parallel safe strict
    return waypost_words(value || ' ' || regexp_replace(regexp_replace(regexp_replace(value collate "und-x-icu",
      '([[:lower:]])([[:upper:]])', '\\1 \\2', 'g'),
      '([[:alpha:]])([[:digit:]])', '\\1 \\2', 'g'),
      '([[:digit:]])([[:alpha:]])', '\\1 \\2', 'g'))`)

  const known = yield* sql<{ readonly name: string }>`select cfgname::text as name from pg_ts_config`
  const cases = Object.entries(configurations)
    .filter(([, name]) => known.some((configuration) => configuration.name === name))
    .map(([language, name]) => `when '${language}' then 'pg_catalog.${name}'::regconfig`)
  yield* sql.unsafe(`
    create function waypost_configuration(locale text) returns regconfig language sql immutable parallel safe
    return case split_part(locale, '-', 1) ${cases.join(" ")} else 'pg_catalog.simple'::regconfig end`)
  yield* sql.unsafe(`
    create function waypost_document(words text, configuration regconfig, weight "char") returns tsvector
    language sql immutable parallel safe
    return setweight(case configuration when 'pg_catalog.simple'::regconfig then to_tsvector('pg_catalog.simple', words)
      else to_tsvector('pg_catalog.simple', words) || to_tsvector(configuration, words) end, weight)`)

  // One document of all translations per asset (language ''). An asset in several languages has one for each of them as
  // well, and 'separate' names those.
  yield* sql`
    create table asset_texts (
      asset_uuid uuid not null references assets (uuid) on delete cascade,
      language text not null collate "C",
      separate text[] not null,
      document tsvector not null,
      primary key (asset_uuid, language)
    )`
  yield* sql`create index asset_texts_document on asset_texts using gin (document) with (gin_pending_list_limit = 512)`
  // Every word of names and file names, in which a misspelt word looks for its neighbours: for those that look like it,
  // and for those of its first letter that are about as long.
  yield* sql`create table asset_words (word text primary key collate "C")`
  yield* sql`create index asset_words_trigrams on asset_words using gin (word gin_trgm_ops)`
  yield* sql`create index asset_words_lengths on asset_words (left(word, 1), length(word))`
  // Assets whose categories or meta tags were renamed; a background job brings their documents up to date. An asset can
  // stand here many times: with a key, whoever notes one would wait for the job, or leave it to one that saw the old name.
  yield* sql`create table stale_asset_texts (asset_uuid uuid not null)`
  yield* sql.unsafe(`
    create function waypost_stale_assets() returns trigger language plpgsql as $$
    begin
      execute format('insert into stale_asset_texts select asset_uuid from %I where %I = $1', tg_argv[0], tg_argv[1])
        using old.uuid;
      return coalesce(new, old);
    end $$`)
  for (const [table, links, column, texts] of [
    ["asset_categories", "asset_category_links", "category_uuid", "translations"],
    ["meta_tag_definitions", "asset_meta_tags", "definition_uuid", "searchable, options"]
  ] as const) {
    const changed = texts.split(", ").map((name) => `old.${name} is distinct from new.${name}`)
    yield* sql.unsafe(`create trigger texts_changed after update of ${texts} on ${table}
      for each row when (${changed.join(" or ")}) execute function waypost_stale_assets('${links}', '${column}')`)
    yield* sql.unsafe(`create trigger texts_removed before delete on ${table}
      for each row execute function waypost_stale_assets('${links}', '${column}')`)
  }

  // A document has an end (1 MiB of words), which very long texts would reach: each kind of text has its share of it.
  yield* sql.unsafe(`
    create function waypost_shared_document(asset uuid) returns tsvector language sql stable as $$
      select coalesce((select waypost_document(waypost_name_words(a.file_name_original), 'pg_catalog.simple', 'B')
          from assets a where a.uuid = asset), '')
        || coalesce((select string_agg(waypost_document(words, configuration, 'B')::text, ' ')::tsvector from (
          select waypost_words(item->>'name') as words, waypost_configuration(item->>'locale') as configuration,
            sum(length(item->>'name')) over (order by c.position, c.key, item->>'locale') as length
          from asset_category_links l join asset_categories c on c.uuid = l.category_uuid,
          jsonb_array_elements(c.translations) item where l.asset_uuid = asset
        ) names where length <= 10000), '')
        || coalesce((select waypost_document(left(waypost_words(string_agg(words, ' ')), 20000), 'pg_catalog.simple', 'C')
          from asset_meta_tags m join meta_tag_definitions d on d.uuid = m.definition_uuid and d.searchable,
          lateral (
            select value #>> '{}' as words from jsonb_path_query(m.value, 'lax $[*]') value
            union all
            select label->>'label' from jsonb_array_elements(d.options) option,
              jsonb_array_elements(option->'translations') label
              where option->'key' in (select jsonb_path_query(m.value, 'lax $[*]'))
          ) texts where m.asset_uuid = asset), '')
    $$`)

  yield* sql.unsafe(`
    create function waypost_index_asset(asset uuid) returns void language plpgsql as $$
    declare
      translations jsonb;
      shared tsvector;
      languages text[];
      share int;
    begin
      -- One at a time, and each sees what the one before it wrote.
      select t.translations into translations from assets t where t.uuid = asset for no key update;
      if not found then return; end if;
      share := 40000 / jsonb_array_length(translations);
      shared := waypost_shared_document(asset);
      select array_agg(distinct split_part(item->>'locale', '-', 1)) into languages
        from jsonb_array_elements(translations) item;
      delete from asset_texts where asset_uuid = asset;
      insert into asset_texts (asset_uuid, language, separate, document)
        select asset, scope.language, case when cardinality(languages) > 1 then languages else '{}' end,
          shared || (
            select string_agg((
              waypost_document(waypost_words(item->>'name'), waypost_configuration(item->>'locale'), 'A')
              || waypost_document(left(waypost_words(coalesce(item->>'description', '')), share),
                waypost_configuration(item->>'locale'), 'D'))::text, ' ')::tsvector
            from jsonb_array_elements(translations) item
            where scope.language in ('', split_part(item->>'locale', '-', 1)))
        from (select '' as language
          union all select unnest(languages) where cardinality(languages) > 1) scope;
      insert into asset_words (word)
        select distinct word from (
          select unnest(string_to_array(waypost_words(item->>'name'), ' ')) as word
            from jsonb_array_elements(translations) item
          union all
          select unnest(string_to_array(waypost_name_words(a.file_name_original), ' ')) from assets a where a.uuid = asset
        ) words
        where length(word) between 3 and 40 and not exists (select from asset_words known where known.word = words.word)
        order by word
        on conflict do nothing;
    end $$`)

  // Every word has to be there, as it is or in the form its language reduces it to; the last one may go on. A word that is
  // its own reduced form stands there once: of two that differ only in that one may go on, ts_rank would forget one.
  yield* sql.unsafe(`
    create function waypost_asset_query(search text, configuration regconfig) returns tsquery
    language plpgsql stable parallel safe as $$
    declare
      words text[] := string_to_array(waypost_words(search), ' ');
      result tsquery;
      exact tsquery;
      reduced tsquery;
    begin
      for i in 1 .. cardinality(words) loop
        reduced := plainto_tsquery(configuration, words[i]);
        -- A word that the language ignores, such as an article, need not be there.
        continue when i < cardinality(words) and numnode(reduced) = 0;
        exact := case when i = cardinality(words) then to_tsquery('pg_catalog.simple', words[i] || ':*')
          else plainto_tsquery('pg_catalog.simple', words[i]) end;
        if reduced <> plainto_tsquery('pg_catalog.simple', words[i]) and numnode(reduced) > 0 then
          exact := exact || reduced;
        end if;
        result := case when result is null then exact else result && exact end;
      end loop;
      return coalesce(result, ''::tsquery);
    end $$`)

  // The same for words nobody wrote: each stays, or is replaced by those of names that differ least from it.
  yield* sql.unsafe(`
    create function waypost_similar_asset_query(search text, configuration regconfig) returns tsquery
    language plpgsql stable parallel safe as $$
    declare
      words text[] := string_to_array(waypost_words(search), ' ');
      sought text;
      result tsquery;
      choice text;
    begin
      -- Each word costs a look at all that begin alike; a whole sentence is not mistyped.
      if cardinality(words) > 10 then return ''::tsquery; end if;
      foreach sought in array words loop
        continue when cardinality(words) > 1 and numnode(plainto_tsquery(configuration, sought)) = 0;
        sought := left(sought, 40);
        select string_agg(quote_literal(near.word), ' | ') into choice from (
          select known.word from asset_words known
          where known.word <> sought and length(sought) > 2
            and (known.word % sought or left(known.word, 1) = left(sought, 1))
            and length(known.word) between length(sought) - 2 and length(sought) + 2
            and levenshtein_less_equal(known.word, sought, 2) <= case when length(sought) < 4 then 1 else 2 end
          order by levenshtein_less_equal(known.word, sought, 2), similarity(known.word, sought) desc, known.word
          limit 3
        ) near;
        choice := concat_ws(' | ', quote_literal(sought) || ':*',
          nullif(nullif(plainto_tsquery(configuration, sought)::text, quote_literal(sought)), ''), choice);
        result := case when result is null then choice::tsquery else result && choice::tsquery end;
      end loop;
      return coalesce(result, ''::tsquery);
    end $$`)
})
