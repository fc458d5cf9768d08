import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // Words of names that end with `part` after another word: "zomerfolder" for "folder", but not "harbour" for "bour". The
  // index finds three letters or more.
  yield* sql.unsafe(`
    create function waypost_words_with(part text) returns text language plpgsql stable parallel safe as $$
    begin
      if length(part) < 5 then return null; end if;
      return (select string_agg(quote_literal(found.word), ' | ') from (
        select known.word from asset_words known where known.word like '%' || part
          and length(known.word) >= length(part) + 4
        order by length(known.word), known.word limit 5
      ) found);
    end $$`)

  // Beginnings of words that differ from an unfinished word in one letter: "aardbei" for "ardbei" in "aardbeientaart". One
  // of the halves of the unfinished word is then in the other word, which the index finds.
  yield* sql.unsafe(`
    create function waypost_beginnings_like(part text) returns text language plpgsql stable parallel safe as $$
    declare
      half text := left(part, length(part) / 2);
      rest text := substr(part, length(part) / 2 + 1);
    begin
      if length(part) < 5 then return null; end if;
      return (select string_agg(quote_literal(near.beginning) || ':*', ' | ') from (
        select beginning from (
          select left(known.word, length(part) + change) as beginning
          from asset_words known, generate_series(-1, 1) change
          where (known.word like half || '%' or known.word like '%' || rest || '%')
            and length(known.word) >= length(part) + change
        ) beginnings
        where levenshtein_less_equal(beginning, part, 1) <= 1 and beginning <> part
        group by beginning order by count(*) desc, beginning limit 3
      ) near);
    end $$`)

  // The parts of a compound that names write apart: "zomer" and "folder" for "zomerfolder". The last one may be unfinished.
  yield* sql.unsafe(`
    create function waypost_parts_of(compound text) returns text language plpgsql stable parallel safe as $$
    begin
      return (select string_agg('(' || quote_literal(first) || ' & ' || quote_literal(second) || ':*)', ' | ') from (
        select left(compound, size) as first, substr(compound, size + 1) as second
        from generate_series(3, length(compound) - 3) size
      ) parts
      where exists (select from asset_words known where known.word = parts.first)
        and exists (select from asset_words known
          where known.word >= parts.second and known.word < parts.second || chr(1114111)));
    end $$`)

  // As before, and also words in compounds, beginnings with a mistake, compounds written apart, and two words that names
  // write as one.
  yield* sql.unsafe(`
    create or replace function waypost_similar_asset_query(search text, configuration regconfig) returns tsquery
    language plpgsql stable parallel safe as $$
    declare
      words text[] := string_to_array(waypost_words(search), ' ');
      sought text;
      joined text[];
      result tsquery;
      choice text;
    begin
      -- Each word costs a lookup of all words that begin alike; a whole sentence is not mistyped.
      if cardinality(words) > 10 then return ''::tsquery; end if;
      for i in 1 .. cardinality(words) loop
        sought := left(words[i], 40);
        continue when cardinality(words) > 1 and numnode(plainto_tsquery(configuration, sought)) = 0;
        select string_agg(quote_literal(near.word), ' | ') into choice from (
          select known.word from asset_words known
          where known.word <> sought and length(sought) > 2
            and (known.word % sought or left(known.word, 1) = left(sought, 1))
            and length(known.word) between length(sought) - 2 and length(sought) + 2
            and levenshtein_less_equal(known.word, sought, 2) <= case when length(sought) < 4 then 1 else 2 end
          order by levenshtein_less_equal(known.word, sought, 2), similarity(known.word, sought) desc, known.word
          limit 3
        ) near;
        joined := array[words[i - 1] || words[i], words[i] || words[i + 1]];
        choice := concat_ws(' | ', quote_literal(sought) || ':*',
          nullif(nullif(plainto_tsquery(configuration, sought)::text, quote_literal(sought)), ''), choice,
          waypost_words_with(sought), waypost_beginnings_like(sought), waypost_parts_of(sought),
          (select string_agg(quote_literal(word) || ':*', ' | ') from unnest(joined) word
            where exists (select from asset_words known where known.word >= word and known.word < word || chr(1114111))));
        result := case when result is null then choice::tsquery else result && choice::tsquery end;
      end loop;
      return coalesce(result, ''::tsquery);
    end $$`)
})
