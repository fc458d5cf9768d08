import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`create extension if not exists pg_trgm`

  // Case-insensitive comparison, the same on every server: "lower" alone depends on the database's locale, and
  // lower-cases a final sigma to another letter than one inside a word.
  yield* sql.unsafe(`
    create function waypost_fold(value text) returns text
    language sql immutable parallel safe strict
    return translate(lower(value collate "und-x-icu"), 'ς', 'σ')`)

  // Exact totals without counting: a statement that changes a table adds one row here, and now and then the rows of a
  // table are folded into one. A single counter row would make every write wait for every other.
  yield* sql`create table row_counts (relation text not null collate "C", delta bigint not null)`
  yield* sql`create index row_counts_relation on row_counts (relation) include (delta)`
  yield* sql.unsafe(`
    create function waypost_count_rows() returns trigger language plpgsql as $$
    declare changed bigint;
    begin
      if tg_op = 'TRUNCATE' then
        -- Not by deleting rows, which a fold may be replacing at this moment.
        insert into row_counts (relation, delta)
          select tg_table_name, -sum(delta) from row_counts where relation = tg_table_name having sum(delta) <> 0;
        return null;
      end if;
      select count(*) into changed from changed_rows;
      if changed > 0 then
        insert into row_counts (relation, delta) values (tg_table_name, case tg_op when 'INSERT' then changed else -changed end);
      end if;
      return null;
    end $$`)
  yield* sql.unsafe(`
    create procedure waypost_count(relation regclass) language plpgsql as $$
    begin
      execute format('create trigger count_inserted after insert on %s referencing new table as changed_rows
        for each statement execute function waypost_count_rows()', relation);
      execute format('create trigger count_deleted after delete on %s referencing old table as changed_rows
        for each statement execute function waypost_count_rows()', relation);
      execute format('create trigger count_truncated after truncate on %s
        for each statement execute function waypost_count_rows()', relation);
    end $$`)
})
