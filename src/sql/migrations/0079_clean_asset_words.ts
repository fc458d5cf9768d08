import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The end of `waypost_index_asset`. */
const before = `
      insert into asset_words (word)
        select distinct word from (
          select unnest(string_to_array(waypost_words(item->>'name'), ' ')) as word
            from jsonb_array_elements(translations) item
          union all
          select unnest(string_to_array(waypost_name_words(a.file_name_original), ' ')) from assets a where a.uuid = asset
        ) words
        where length(word) between 3 and 40 and not exists (select from asset_words known where known.word = words.word)
        order by word
        on conflict do nothing;`

/**
 * A word that is there is locked, so that it stays until the document that has it is committed. One that is being removed is added
 * again. Such locks do not wait for each other.
 */
const after = `
      with named as materialized (
        select distinct word from (
          select unnest(string_to_array(waypost_words(item->>'name'), ' ')) as word
            from jsonb_array_elements(translations) item
          union all
          select unnest(string_to_array(waypost_name_words(a.file_name_original), ' ')) from assets a where a.uuid = asset
        ) words
        where length(word) between 3 and 40
      ), known as (
        select k.word from asset_words k where k.word = any (array(select word from named)) for key share skip locked
      )
      insert into asset_words (word) select word from named except select word from known;`

/** A text that the parser sees no word in cannot be looked up. */
const isUnused = `(select numnode(query) > 0 and not exists (select from asset_texts t where t.document @@ query)
            from plainto_tsquery('pg_catalog.simple', word) query)`

/** As many words at most are compared for each way to find some that look alike. */
const most = 50_000

const neighboursBefore = `
          select known.word from asset_words known
          where known.word <> sought and length(sought) > 2
            and (known.word % sought or left(known.word, 1) = left(sought, 1))
            and length(known.word) between length(sought) - 2 and length(sought) + 2
            and levenshtein_less_equal(known.word, sought, 2) <= case when length(sought) < 4 then 1 else 2 end
          order by`

const neighbours = `
          select known.word from (
            (select w.word from asset_words w where w.word % sought limit ${most})
            union all select waypost_words_as_long(sought)
          ) known
          where known.word <> sought and length(sought) > 2
            and length(known.word) between length(sought) - 2 and length(sought) + 2
            and levenshtein_less_equal(known.word, sought, 2) <= case when length(sought) < 4 then 1 else 2 end
          group by known.word
          order by`

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const replaceIn = (name: string, part: string, other: string) =>
    sql.unsafe(`
      do $do$
      declare
        source text := pg_get_functiondef('${name}'::regprocedure);
      begin
        if strpos(source, $part$${part}$part$) = 0 then raise exception 'The function has another source'; end if;
        execute replace(source, $part$${part}$part$, $part$${other}$part$);
      end $do$`)

  // A word can be there several times: with a key, a transaction that adds one would wait for each other that adds it. A job
  // removes the copies.
  yield* sql`alter table asset_words drop constraint asset_words_pkey`
  yield* sql`create index asset_words_word on asset_words (word)`
  yield* replaceIn("waypost_index_asset(uuid)", before, after)

  // Of the next words after one, removes those that no document has, and copies; returns where to go on. A word that a transaction has
  // locked stays. Whether a document has a word is looked up again behind the lock, which sees what transactions wrote that had
  // locked it before. PostgreSQL knows little about the documents that have a word, and would read all of them for each.
  yield* sql.unsafe(`
    create function waypost_clean_asset_words(last text, size int) returns text language plpgsql
    set enable_seqscan = off as $$
    declare
      found_words int;
      reached text;
      suspects text[];
      locked tid[];
    begin
      select sum(copies), max(word), array_agg(word) filter (where copies > 1 or ${isUnused})
        into found_words, reached, suspects
        from (
          select word, count(*) as copies from (
            select word from asset_words where word > last order by word fetch first size rows with ties
          ) part group by word
        ) counted;
      if suspects is not null then
        select array_agg(place) into locked from (
          select ctid as place from asset_words where word = any (suspects) for update skip locked
        ) free;
        delete from asset_words w where ctid = any (locked) and (${isUnused}
          or exists (select from asset_words o where o.ctid = any (locked) and o.word = w.word and o.ctid < w.ctid));
      end if;
      return case when found_words >= size then reached end;
    end $$`)

  // As before, but each compares a limited number of words, and a word once. The limits count what the index of trigrams gives and has
  // the text; what it gives in vain is compared as well.
  yield* sql.unsafe(`
    create or replace function waypost_words_with(part text) returns text language plpgsql stable parallel safe as $$
    begin
      if length(part) < 5 then return null; end if;
      return (select string_agg(quote_literal(found.word), ' | ') from (
        select word from (
          select known.word from asset_words known where known.word like '%' || part
            and length(known.word) >= length(part) + 4 limit ${most}
        ) ending group by word order by length(word), word limit 5
      ) found);
    end $$`)
  yield* sql.unsafe(`
    create or replace function waypost_beginnings_like(part text) returns text language plpgsql stable parallel safe as $$
    declare
      half text := left(part, length(part) / 2);
      rest text := substr(part, length(part) / 2 + 1);
    begin
      if length(part) < 5 then return null; end if;
      return (select string_agg(quote_literal(near.beginning) || ':*', ' | ') from (
        select beginning from (
          select known.word, left(known.word, length(part) + change) as beginning
          from (
            select k.word from asset_words k where k.word like half || '%' or k.word like '%' || rest || '%' limit ${most}
          ) known, generate_series(-1, 1) change
          where length(known.word) >= length(part) + change
        ) beginnings
        where levenshtein_less_equal(beginning, part, 1) <= 1 and beginning <> part
        group by beginning order by count(distinct word) desc, beginning limit 3
      ) near);
    end $$`)

  // Words of the first letter that are about as long. A bitmap of all of them would be made before the first is read.
  yield* sql.unsafe(`
    create function waypost_words_as_long(sought text) returns setof text language sql stable parallel safe
    set enable_seqscan = off set enable_bitmapscan = off as $$
      select near.word from generate_series(length(sought) - 2, length(sought) + 2) size, lateral (
        select word from asset_words where left(word, 1) = left(sought, 1) and length(word) = size limit ${most / 5}
      ) near
    $$`)
  yield* replaceIn("waypost_similar_asset_query(text, regconfig)", neighboursBefore, neighbours)
})
