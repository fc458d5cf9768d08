import { Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The tables of records, and the columns that the log leaves out because other columns or rows determine them. */
const records = [
  { type: "user", table: "users", without: [] },
  { type: "location", table: "locations", without: ["city", "country_code", "has_media"] },
  { type: "group", table: "groups", without: ["user_count", "location_count", "user_set", "location_set"] },
  { type: "product", table: "products", without: ["parent_type"] },
  { type: "post", table: "posts", without: [] },
  { type: "asset", table: "assets", without: ["path_name", "url_name"] },
  { type: "metaTag", table: "meta_tag_definitions", without: [] },
  { type: "assetCategory", table: "asset_categories", without: [] }
] as const

/** The statements that log what a table's statements alter. */
const triggers = (table: string, execute: string) =>
  (
    [
      ["insert", "new table as new_rows"],
      ["update", "old table as old_rows new table as new_rows"],
      ["delete", "old table as old_rows"]
    ] as const
  ).map(
    ([event, rows]) => `create trigger logged_${event} after ${event} on ${table} referencing ${rows}
      for each statement execute function ${execute}`
  )

/** Adds to the log what a statement did to rows that belong to another record, under a name for each row. */
const ofMembers = (owner: string, type: string, name: string, value: (row: string) => string) => `
  begin
    insert into pending_changes (type, uuid, action, before, after)
      select '${type}', coalesce(n.${owner}, o.${owner}), 'updated',
        jsonb_object_agg(name, ${value("o")}), jsonb_object_agg(name, ${value("n")})
      from ROWS, lateral (select ${name} as name offset 0) named
      where ${value("o")} is distinct from ${value("n")} group by 2;
    return null;
  end`

/** The functions of a table whose rows belong to another record, one for each event. */
const memberFunctions = (
  table: string,
  key: string,
  name: string,
  ...[owner, type, as, value]: Parameters<typeof ofMembers>
) =>
  (
    [
      ["insert", `new_rows n left join (select * from ${table} limit 0) o on false`],
      ["update", `old_rows o join new_rows n using (${owner}, ${key})`],
      ["delete", `old_rows o left join (select * from ${table} limit 0) n on false`]
    ] as const
  ).map(([event, rows]) => ({
    event,
    name: `${name}_${event}`,
    body: ofMembers(owner, type, as, value).replace("ROWS", () => rows)
  }))

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const create = (name: string, body: string) =>
    sql.unsafe(`create function ${name}() returns trigger language plpgsql as $$ ${body} $$`)
  const stateOf = (row: string) => `jsonb_strip_nulls(to_jsonb(${row}) - tg_argv[1]::text[])`

  // Records: a trigger for each row, which compares each column. Without transition tables, and without rows as JSON, it takes
  // a third of the time. A migration that adds a column to a table calls this again.
  yield* sql.unsafe(`
    create procedure waypost_log_table(logged regclass, type text, without text[]) language plpgsql as $$
    declare
      name text := 'waypost_log_' || logged;
      comparisons text;
    begin
      select string_agg(format('if old.%1$I is distinct from new.%1$I then
            before := before || jsonb_build_object(%1$L, old.%1$I);
            after := after || jsonb_build_object(%1$L, new.%1$I);
          end if;', attname), ' ' order by attnum) into comparisons
        from pg_attribute where attrelid = logged and attnum > 0 and not attisdropped and attname <> all (without);
      execute format('create or replace function %I() returns trigger language plpgsql as %L', name, format('
        declare
          before jsonb := ''{}'';
          after jsonb := ''{}'';
        begin
          if tg_op = ''INSERT'' then
            insert into pending_changes (type, uuid, action, after)
              values (%1$L, new.uuid, ''created'', jsonb_strip_nulls(to_jsonb(new) - %2$L::text[]));
          elsif tg_op = ''DELETE'' then
            insert into pending_changes (type, uuid, action, before)
              -- Logins are not logged, but a restored user has its last one.
              values (%1$L, old.uuid, ''deleted'', jsonb_strip_nulls(to_jsonb(old) - array_remove(%2$L::text[], ''last_login_at'')));
          else %3$s
            if after <> ''{}'' then
              insert into pending_changes (type, uuid, action, before, after) values (%1$L, new.uuid, ''updated'', before, after);
            end if;
          end if;
          return null;
        end', type, without, comparisons));
      execute format('create or replace trigger logged after insert or update or delete on %s
        for each row execute function %I()', logged, name);
    end $$`)
  for (const { table, type, without } of records) {
    yield* sql`call waypost_log_table(${table}::text::regclass, ${type}::text, ${without}::text[])`
  }

  // A key is deleted when it is revoked. The log never has the hash of its secret.
  yield* create(
    "waypost_log_key",
    `
    begin
      if tg_op = 'INSERT' then
        insert into pending_changes (type, uuid, action, after)
          select 'apiKey', n.uuid, 'created', ${stateOf("n")} from new_rows n;
      else
        insert into pending_changes (type, uuid, action, before, after)
          select 'apiKey', states.uuid, case when revoked then 'deleted' else 'updated' end,
            case when revoked then jsonb_strip_nulls(states.before) else differing.before end,
            case when not revoked then differing.after end
          from (
            select o.uuid, o.revoked_at is null and n.revoked_at is not null as revoked,
              to_jsonb(o) - tg_argv[1]::text[] as before, to_jsonb(n) - tg_argv[1]::text[] as after
            from old_rows o join new_rows n using (uuid) offset 0
          ) states, lateral (
            select jsonb_object_agg(key, states.before->key) as before, jsonb_object_agg(key, value) as after
            from jsonb_each(states.after) where value <> states.before->key
          ) differing where differing.after is not null;
      end if;
      return null;
    end`
  )
  for (const trigger of triggers("api_keys", "waypost_log_key('apiKey', '{id,secret_hash,last_used_at}')").slice(
    0,
    2
  )) {
    yield* sql.unsafe(trigger)
  }

  // The modules of a product, and the values of an asset.
  const members = [
    ...memberFunctions(
      "product_modules",
      "module",
      "waypost_log_module",
      "product_uuid",
      "product",
      "'modules.' || coalesce(n.module, o.module)",
      (row) =>
        `(${row}.settings || case when ${row}.last_call is null then '{}' else jsonb_build_object('lastCall', ${row}.last_call) end)`
    ).map((one) => ({ ...one, table: "product_modules" })),
    ...memberFunctions(
      "asset_meta_tags",
      "definition_uuid",
      "waypost_log_value",
      "asset_uuid",
      "asset",
      "'metaTags.' || coalesce(n.definition_uuid, o.definition_uuid)",
      (
        row
      ) => `(case when ${row}.value is not null then jsonb_build_object('key', (select d.key from meta_tag_definitions d
        where d.uuid = ${row}.definition_uuid), 'value', ${row}.value) end)`
    ).map((one) => ({ ...one, table: "asset_meta_tags" }))
  ]
  for (const { body, event, name, table } of members) {
    yield* create(name, body)
    const trigger = triggers(table, `${name}()`).find((text) => text.includes(` after ${event} `))!
    yield* sql.unsafe(trigger)
  }

  // The media of a location, the categories of an asset and those of a meta tag are one list each: what a statement leaves,
  // and with it or without it the rows of the statement. Removal and insertion are therefore statements of their own.
  const lists = [
    {
      table: "location_media",
      owner: "location_uuid",
      type: "location",
      member: "media",
      item: `jsonb_strip_nulls(jsonb_build_object('uuid', r.uuid, 'assetUuid', r.asset_uuid, 'fileUuid', r.file_uuid,
        'isLogo', r.is_logo, 'role', r.role, 'position', r.position, 'labels', r.labels, 'type', (
          select case when f.mime_type like 'image/%' then 'image' when f.mime_type like 'video/%' then 'video' else 'document' end
          from files f where f.uuid = coalesce(r.file_uuid, (select a.file_uuid from assets a where a.uuid = r.asset_uuid)))))`,
      order: "r.is_logo desc, r.position"
    },
    ...(
      [
        ["asset_category_links", "asset_uuid", "asset", "c.position, c.key"],
        ["meta_tag_categories", "definition_uuid", "metaTag", "c.key"]
      ] as const
    ).map(([table, owner, type, order]) => ({
      table,
      owner,
      type,
      member: "categories",
      item: "jsonb_build_object('uuid', c.uuid, 'key', c.key)",
      order
    }))
  ]
  for (const { item, member, order, owner, table, type } of lists) {
    const joined = member === "categories" ? "join asset_categories c on c.uuid = r.category_uuid" : ""
    const list = (rows: string) =>
      `(select coalesce(jsonb_agg(${item} order by ${order}), '[]') from (${rows}) r ${joined})`
    const current = `select * from ${table} where ${owner} = changed.uuid`
    const ofStatement = (rows: string) => `select * from ${rows} where ${owner} = changed.uuid`
    const states = {
      insert: ["new_rows", `${current} except all ${ofStatement("new_rows")}`, current],
      delete: ["old_rows", `${current} union all ${ofStatement("old_rows")}`, current]
    } as const
    for (const event of ["insert", "delete"] as const) {
      const [rows, before, after] = states[event]
      yield* create(
        `waypost_log_${table}_${event}`,
        `
        begin
          insert into pending_changes (type, uuid, action, before, after)
            select '${type}', changed.uuid, 'updated', jsonb_build_object('${member}', ${list(before)}),
              jsonb_build_object('${member}', ${list(after)})
            from (select distinct ${owner} as uuid from ${rows}) changed;
          return null;
        end`
      )
      yield* sql.unsafe(`create trigger logged_${event} after ${event} on ${table}
        referencing ${event === "insert" ? "new" : "old"} table as ${rows}
        for each statement execute function waypost_log_${table}_${event}()`)
    }
  }

  // Relations are a change of the record whose set a request replaces, as `waypost.owner` says, or with which they go.
  const relations = [
    ["user_groups", "user", "group"],
    ["user_locations", "user", "location"],
    ["group_locations", "group", "location"]
  ] as const
  const linked = (own: string, other: string, event: "insert" | "delete", rows: string) => `
    insert into pending_changes (type, uuid, action, links)
      select '${own}', ${own}_uuid, 'updated', jsonb_build_object('path', '${other}s',
        '${event === "insert" ? "added" : "removed"}', jsonb_agg(${other}_uuid),
        '${event === "insert" ? "removed" : "added"}', '[]'::jsonb)
      from ${rows} group by ${own}_uuid;`
  for (const [table, left, right] of relations) {
    for (const event of ["insert", "delete"] as const) {
      yield* create(
        `waypost_log_${table}_${event}`,
        `
        begin
          if current_setting('waypost.owner', true) = '${right}s' then ${linked(right, left, event, "changed_rows")}
          else ${linked(left, right, event, "changed_rows")}
          end if;
          return null;
        end`
      )
      yield* sql.unsafe(`create trigger logged_${event} after ${event} on ${table}
        referencing ${event === "insert" ? "new" : "old"} table as changed_rows
        for each statement execute function waypost_log_${table}_${event}()`)
    }
  }

  // The relations of a deleted record go with it.
  yield* create(
    "waypost_own_relations",
    `
    begin
      perform set_config('waypost.owner', tg_argv[0], true);
      return old;
    end`
  )
  for (const table of ["users", "locations", "groups"]) {
    yield* sql.unsafe(`create trigger owns_relations before delete on ${table} for each row
      execute function waypost_own_relations('${table}')`)
  }

  // What assets have of a meta tag or a category, and locations of an asset, is deleted before it, while the log can still
  // describe it.
  yield* create(
    "waypost_delete_members",
    `
    begin
      execute format('delete from %I where %I = $1', tg_argv[0], tg_argv[1]) using old.uuid;
      return old;
    end`
  )
  // Triggers fire in the order of their names: `texts_removed` notes first which assets have new search texts.
  for (const [table, members, column] of [
    ["meta_tag_definitions", "asset_meta_tags", "definition_uuid"],
    ["asset_categories", "asset_category_links", "category_uuid"],
    ["assets", "location_media", "asset_uuid"]
  ] as const) {
    yield* sql.unsafe(`create trigger values_deleted before delete on ${table} for each row
      execute function waypost_delete_members('${members}', '${column}')`)
  }

  // Categories of an asset and of a meta tag: one call, and a statement each for what goes and what comes.
  for (const [name, table, owner] of [
    ["waypost_categorize_asset", "asset_category_links", "asset_uuid"],
    ["waypost_categorize_meta_tag", "meta_tag_categories", "definition_uuid"]
  ] as const) {
    yield* sql.unsafe(`
      create function ${name}(record uuid, categories uuid[]) returns int language plpgsql as $$
      declare
        removed int;
        added int;
      begin
        delete from ${table} where ${owner} = record and not category_uuid = any (categories);
        get diagnostics removed = row_count;
        insert into ${table} (${owner}, category_uuid)
          select record, wanted from unnest(categories) wanted
          where not exists (select from ${table} l where l.${owner} = record and l.category_uuid = wanted)
          order by wanted on conflict do nothing;
        get diagnostics added = row_count;
        return removed + added;
      end $$`)
  }

  // The records that are there already.
  const without = new Map<string, ReadonlyArray<string>>(records.map(({ type, without }) => [type, without]))
  const existing = [...records.map(({ table, type }) => ({ table, type })), { table: "api_keys", type: "apiKey" }]
  for (const { table, type } of existing) {
    const left = type === "apiKey" ? ["id", "secret_hash", "last_used_at"] : without.get(type)!
    yield* sql.unsafe(`
      insert into pending_changes (type, uuid, action, after)
        select '${type}', t.uuid, 'created', jsonb_strip_nulls(to_jsonb(t) - '{${left.join(",")}}'::text[])
        from ${table} t order by t.created_at, t.uuid`)
  }
  for (const { item, member, order, owner, table, type } of lists) {
    const joined = member === "categories" ? "join asset_categories c on c.uuid = r.category_uuid" : ""
    yield* sql.unsafe(`
      insert into pending_changes (type, uuid, action, after)
        select '${type}', r.${owner}, 'updated', jsonb_build_object('${member}', jsonb_agg(${item} order by ${order}))
        from ${table} r ${joined} group by r.${owner}`)
  }
  yield* sql`
    insert into pending_changes (type, uuid, action, after)
      select 'product', product_uuid, 'updated', jsonb_object_agg('modules.' || module, settings || case
        when last_call is null then '{}' else jsonb_build_object('lastCall', last_call) end)
      from product_modules group by product_uuid`
  yield* sql`
    insert into pending_changes (type, uuid, action, after)
      select 'asset', asset_uuid, 'updated', jsonb_object_agg('metaTags.' || definition_uuid,
        jsonb_build_object('key', d.key, 'value', m.value))
      from asset_meta_tags m join meta_tag_definitions d on d.uuid = m.definition_uuid group by asset_uuid`
  for (const [table, left, right] of relations) yield* sql.unsafe(linked(left, right, "insert", table))
  yield* sql.unsafe(`do $$ begin while waypost_seal() > 0 loop null; end loop; end $$`)
})
