import { Effect } from "effect"
import { SqlClient } from "effect/sql"

const everyone = "'00000000-0000-0000-0000-000000000000'::uuid"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  // To whom products and posts are given, as rows: a list of who sees something, or of what a user sees, is read off an index
  // from either side. They change with the statement that writes the settings or the audience.
  //
  // Rules `everyone`, `all`, `include` and `exclude` have the uuid of zeros: they are given to everyone, or the mode of
  // the locations module. Rules such as `viewGroups` and `excludeLocations` name the groups and locations of a list;
  // `groups` and `locations` name those to whom a permissions module gives other actions than `view`.
  yield* sql`
    create table access_lists (
      seen_uuid uuid not null,
      rule text not null collate "C",
      named uuid not null,
      actions text[],
      primary key (seen_uuid, rule, named)
    )`
  yield* sql`create index access_lists_named on access_lists (named, rule, seen_uuid)`

  yield* sql.unsafe(`
    create function waypost_access_list(kind text, settings jsonb) returns table (rule text, named uuid, actions text[])
    language sql immutable parallel safe as $$
      select 'everyone', ${everyone}, null::text[]
        where kind <> 'locations' and settings->>'authorizationType' = 'everyone'
      union all
      select case when kind = 'audience' or item->'actions' ? 'view' then 'view' || initcap(list) else list end,
          (item->>'uuid')::uuid,
          case kind when 'permissions' then array(select jsonb_array_elements_text(item->'actions')) end
        from coalesce(settings->>'authorizationType', 'groups') list, jsonb_path_query(settings->list, '$[*]') item
        where kind <> 'locations' and item ? 'uuid'
      union all
      select coalesce(settings->>'mode', 'all'), ${everyone}, null where kind = 'locations' and settings is not null
      union all
      select settings->>'mode' || initcap(list), (item->>'uuid')::uuid, null
        from unnest(array['groups', 'locations']) list, jsonb_path_query(settings->list, '$[*]') item
        where kind = 'locations' and settings->>'mode' <> 'all' and item ? 'uuid'
    $$`)

  // Of a list that changes, only the rows that differ are written. EXCEPT compares thousands of rows by hash, which no estimate
  // of their number turns into a loop.
  yield* sql.unsafe(`
    create function waypost_list_access() returns trigger language plpgsql as $$
    declare
      seen uuid;
      kind text := 'audience';
      listed jsonb;
    begin
      if tg_table_name = 'posts' and tg_op = 'DELETE' then
        seen := old.uuid;
      elsif tg_table_name = 'posts' then
        seen := new.uuid;
        listed := new.audience;
      elsif tg_op = 'DELETE' then
        seen := old.product_uuid;
        kind := old.module;
      else
        seen := new.product_uuid;
        kind := new.module;
        listed := new.settings;
      end if;
      if tg_op <> 'INSERT' then
        delete from access_lists l using (
          select a.rule, a.named, a.actions from access_lists a
            where a.seen_uuid = seen and (a.rule ~ '^(all|include|exclude)') = (kind = 'locations')
          except select a.rule, a.named, a.actions from waypost_access_list(kind, listed) a
        ) gone where l.seen_uuid = seen and l.rule = gone.rule and l.named = gone.named;
      end if;
      if tg_op <> 'DELETE' then
        insert into access_lists (seen_uuid, rule, named, actions)
          select seen, a.rule, a.named, a.actions from waypost_access_list(kind, listed) a order by a.rule, a.named
          on conflict do nothing;
      end if;
      return null;
    end $$`)
  yield* sql`create trigger access_begins after insert on posts for each row execute function waypost_list_access()`
  yield* sql`create trigger access_changes after update of audience on posts for each row
    when (old.audience is distinct from new.audience) execute function waypost_list_access()`
  yield* sql`create trigger access_ends after delete on posts for each row execute function waypost_list_access()`
  yield* sql`create trigger access_begins after insert on product_modules for each row
    when (new.module in ('permissions', 'locations')) execute function waypost_list_access()`
  yield* sql`create trigger access_changes after update of settings on product_modules for each row
    when (new.module in ('permissions', 'locations') and old.settings is distinct from new.settings)
    execute function waypost_list_access()`
  yield* sql`create trigger access_ends after delete on product_modules for each row
    when (old.module in ('permissions', 'locations')) execute function waypost_list_access()`

  yield* sql`insert into access_lists (seen_uuid, rule, named, actions)
    select m.product_uuid, a.rule, a.named, a.actions from product_modules m, waypost_access_list(m.module, m.settings) a
      where m.module in ('permissions', 'locations')
    union all select p.uuid, a.rule, a.named, a.actions from posts p, waypost_access_list('audience', p.audience) a
    on conflict do nothing`
})
