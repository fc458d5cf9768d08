/** Runs a statement on the database. */
type Query = <A>(statement: string) => Promise<ReadonlyArray<A>>

/** A difference between the records and the log. */
export interface Difference {
  readonly record: string
  readonly column: string
  readonly stored: unknown
  readonly replayed: unknown
}

const categories = (table: string, owner: string, order: string) => `(
  select jsonb_agg(jsonb_build_object('uuid', c.uuid, 'key', c.key) order by ${order})
  from ${table} l join asset_categories c on c.uuid = l.category_uuid where l.${owner} = t.uuid)`

/** The columns of every stored record, with those that rows of other tables hold. */
const stored = [
  ["user", "users", "last_login_at", "'{}'"],
  [
    "location",
    "locations",
    "city,country_code,has_media",
    `jsonb_build_object('media', (select jsonb_agg(jsonb_strip_nulls(jsonb_build_object('uuid', m.uuid, 'assetUuid', m.asset_uuid,
      'fileUuid', m.file_uuid, 'isLogo', m.is_logo, 'role', m.role, 'position', m.position, 'labels', m.labels)) order by m.is_logo desc, m.position)
      from location_media m where m.location_uuid = t.uuid))`
  ],
  ["group", "groups", "user_count,location_count,user_set,location_set", "'{}'"],
  [
    "product",
    "products",
    "parent_type",
    `coalesce((select jsonb_object_agg('modules.' || module, settings || case when last_call is null then '{}' else
      jsonb_build_object('lastCall', last_call) end) from product_modules where product_uuid = t.uuid), '{}')`
  ],
  ["post", "posts", "title", "'{}'"],
  [
    "asset",
    "assets",
    "path_name,url_name",
    `jsonb_build_object('categories', ${categories("asset_category_links", "asset_uuid", "c.position, c.key")}) || coalesce((
      select jsonb_object_agg('metaTags.' || definition_uuid, jsonb_build_object('key', d.key, 'value', m.value))
      from asset_meta_tags m join meta_tag_definitions d on d.uuid = m.definition_uuid where m.asset_uuid = t.uuid), '{}')`
  ],
  [
    "metaTag",
    "meta_tag_definitions",
    "",
    `jsonb_build_object('categories', ${categories("meta_tag_categories", "definition_uuid", "c.key")})`
  ],
  ["assetCategory", "asset_categories", "", "'{}'"]
] as const

const records = [
  ...stored.map(
    ([type, table, without, more]) => `
      select '${type} ' || uuid as record, key as "column", value from (
        select t.uuid, to_jsonb(t) - '{${without}}'::text[] || ${more} as state from ${table} t
      ) states, jsonb_each(state)`
  ),
  // A revoked key is deleted.
  `select 'apiKey ' || uuid, key, value from (
    select t.uuid, to_jsonb(t) - '{id,secret_hash,last_used_at,first_uuid,rotations,was_expiring}'::text[] as state
      from api_keys t where revoked_at is null
  ) states, jsonb_each(state)`
].join(" union all ")

/** A value without what means the same when it is absent; `type` of media follows from a file. */
const normal = (value: string) => `nullif(nullif(jsonb_strip_nulls(${value}), 'null'), '[]')`

/** The columns that the log says each record has: those of its last event. */
const replayed = `
  with values as (
    select type || ' ' || record_uuid as record, position, action, key as "column", after->key as value
      from events, lateral (
        select jsonb_object_keys(coalesce(after, '{}')) as key
        union select jsonb_object_keys(coalesce(before, '{}'))
      ) keys
  ), ends as (
    select type || ' ' || record_uuid as record, max(position) filter (where action = 'deleted') as deleted from events group by 1
  )
  select distinct on (record, "column") record, "column", value
    from values join ends using (record)
    where position > coalesce(deleted, 0) and "column" not in ('last_login_at', 'title', 'erased')
    order by record, "column", position desc`

const withoutType = (value: string) =>
  `case "column" when 'media' then (select jsonb_agg(item - 'type' order by place)
    from jsonb_array_elements(nullif(${value}, 'null')) with ordinality items (item, place)) else ${value} end`

/** What the log does not explain: columns of records whose last logged value is another. */
export const differences = (query: Query) =>
  query<Difference>(`
    with stored as (select record, "column", ${normal("value")} as value from (${records}) r),
      replayed as (select record, "column", ${normal(withoutType("value"))} as value from (${replayed}) e)
    select record, "column", s.value as stored, e.value as replayed
      from stored s full join replayed e using (record, "column") where s.value is distinct from e.value limit 20`)

/** Events whose values before are not those after the event before them. */
export const brokenSteps = (query: Query) =>
  query<Difference>(`
    select * from (
      select record, "column", before as stored, lag(after) over (partition by record, "column" order by position) as replayed, action
      from (
        select type || ' ' || record_uuid as record, position, action, key as "column",
          ${normal("before->key")} as before, ${normal("after->key")} as after
        from events e, lateral (
          select jsonb_object_keys(coalesce(after, '{}')) as key union select jsonb_object_keys(coalesce(before, '{}'))
        ) keys, lateral (select key as "column") named
        where (label is not null or before is not null or after is not null) and key not in ('title', 'erased', 'last_login_at')
      ) leaves
    ) steps where stored is distinct from replayed limit 20`)

/** Relations whose rows differ from what the log added and removed. */
export const brokenRelations = (query: Query) => {
  const tables = [
    ["user_groups", "user", "group"],
    ["user_locations", "user", "location"],
    ["group_locations", "group", "location"]
  ] as const
  const pairs = tables
    .map(
      ([table, left, right]) => `select '${table}' as name, ${left}_uuid as one, ${right}_uuid as other from ${table}`
    )
    .join(" union all ")
  const logged = tables
    .flatMap(([table, left, right]) => [
      [table, left, right, "record_uuid", "member::uuid"],
      [table, right, left, "member::uuid", "record_uuid"]
    ])
    .map(
      ([table, own, other, one, another]) => `
        select '${table}' as name, ${one} as one, ${another} as other, sum(sign) as rows from events,
          jsonb_array_elements(links) link, lateral (
            select jsonb_array_elements_text(link->'added') as member, 1 as sign
            union all select jsonb_array_elements_text(link->'removed'), -1
          ) members
        where type = '${own}' and link->>'path' = '${other}s' group by 1, 2, 3`
    )
    .join(" union all ")
  return query<{ readonly name: string; readonly one: string; readonly other: string }>(`
    select name, one, other, p.one is not null as stored, l.rows from (${pairs}) p
      full join (select name, one, other, sum(rows) as rows from (${logged}) s group by 1, 2, 3 having sum(rows) <> 0) l
      using (name, one, other)
      where p.one is null or l.rows is distinct from 1 limit 20`)
}
