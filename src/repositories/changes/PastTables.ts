import type { ManagedType } from "../../domain/changes/RecordType.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import { recordTables } from "./RecordTables.ts"

/** The tables of the records whose past states can be read. */
export type Table = (typeof recordTables)[ManagedType]

const categoriesOf = (table: string, owner: string) =>
  sql.literal(`jsonb_build_object('categories', coalesce((
    select jsonb_agg(jsonb_build_object('uuid', l.category_uuid)) from ${table} l where l.${owner} = c.uuid), '[]'))`)

/** What the log has of a record `c` that other tables hold, under the names that it has in the log. */
const members: Partial<Readonly<Record<Table, ReadonlyArray<Fragment>>>> = {
  products: [
    sql`(select jsonb_object_agg('modules.' || m.module, m.settings || case when m.last_call is null then '{}'
      else jsonb_build_object('lastCall', m.last_call) end) from product_modules m where m.product_uuid = c.uuid)`
  ],
  assets: [
    categoriesOf("asset_category_links", "asset_uuid"),
    sql`(select jsonb_object_agg('metaTags.' || m.definition_uuid, jsonb_build_object('value', m.value))
      from asset_meta_tags m where m.asset_uuid = c.uuid)`
  ],
  meta_tag_definitions: [categoriesOf("meta_tag_categories", "definition_uuid")],
  locations: [
    sql`jsonb_build_object('media', coalesce((select jsonb_agg(jsonb_build_object('uuid', m.uuid, 'assetUuid', m.asset_uuid,
      'fileUuid', m.file_uuid, 'isLogo', m.is_logo, 'role', m.role, 'position', m.position, 'labels', m.labels))
      from location_media m where m.location_uuid = c.uuid), '[]'))`
  ]
}

const stateOf = (table: Table) =>
  sql.join(" || ")([sql`to_jsonb(c)`, ...(members[table] ?? []).map((member) => sql`coalesce(${member}, '{}')`)])

/**
 * A state without what the erasure of values from the events of a location leaves: lists that are absent, empty objects, one half of
 * coordinates, and hours without their time zone.
 */
const completed = (table: Table, state: Fragment) =>
  table === "locations"
    ? sql`(select whole - case when whole->'coordinates' ?& '{latitude,longitude}' then '{}'::text[] else '{coordinates}' end
        - case when whole ? 'timezone' then '{}'::text[] else '{opening_hours,special_hours}' end
      from (select waypost_merge('{"postal_codes": [], "translation_labels": []}', ${state}) as whole offset 0) merged)`
    : state

/**
 * The common table expressions `name`: the records with these uuids that existed at the moment, and the state of each as
 * the log has it. It is the current state with every later change undone; a record that was deleted since begins with what
 * its deletion logged.
 *
 * An expression `moment` gives the place in the log and the time behind which changes are undone.
 */
export const statesOf = (name: string, table: Table, uuids: Fragment): Fragment => {
  const [states, wanted] = [sql.literal(name), sql.literal(`wanted_${name}`)]
  const type = Object.entries(recordTables).find(([, its]) => its === table)?.[0]
  return sql`${wanted} as materialized (select array(${uuids}) as uuids),
    ${states} as materialized (
      select w.uuid, ${completed(
        table,
        sql`case when u.boundary = 'deleted' then '{}' else ${stateOf(table)} end || coalesce(u.before, '{}')`
      )} as state
      from (select distinct unnest(uuids) as uuid from ${wanted}) w
      left join ${sql.literal(table)} c on c.uuid = w.uuid
      left join (select u.* from moment, ${wanted}, waypost_undone(${type}::text, uuids, place, since) u) u on u.uuid = w.uuid
      where case u.boundary when 'created' then false when 'deleted' then true else c.uuid is not null end
    )`
}

/** The rows of a table at the moment, under its own name, which hides the table from the expressions that follow. */
export const rowsOf = (table: Table, states: string = statesNameOf(table), state = sql`s.state`): Fragment => {
  const name = sql.literal(table)
  return sql`${name} as (select r.* from ${sql.literal(states)} s, jsonb_populate_record(null::${name}, ${state}) r
    where s.state @> jsonb_build_object('uuid', s.uuid))`
}

const statesNameOf = (table: Table) => `${table}_then`

/** The states and the rows of a table. */
export const tableOf = (table: Table, uuids: Fragment): ReadonlyArray<Fragment> => [
  statesOf(statesNameOf(table), table, uuids),
  rowsOf(table)
]

/** The modules of the products of `products_then`. */
export const productModules = sql`product_modules as (
  select s.uuid as product_uuid, substr(key, 9) as module, value - 'lastCall' as settings
  from products_then s, jsonb_each(s.state) where key like 'modules.%' and jsonb_typeof(value) = 'object')`

/** The links of records with categories. */
export const categoryLinks = (table: string, owner: string, states: string): Fragment =>
  sql.literal(`${table} as (select s.uuid as ${owner}, (item->>'uuid')::uuid as category_uuid
    from ${states} s, jsonb_array_elements(s.state->'categories') item)`)

export const assetMetaTags = sql`asset_meta_tags as (
  select s.uuid as asset_uuid, substr(key, 10)::uuid as definition_uuid, value->'value' as value
  from assets_then s, jsonb_each(s.state) where key like 'metaTags.%' and jsonb_typeof(value) = 'object')`

export const locationMedia = sql`location_media as (
  select s.uuid as location_uuid, (item->>'uuid')::uuid as uuid, (item->>'assetUuid')::uuid as asset_uuid,
    (item->>'fileUuid')::uuid as file_uuid, (item->>'isLogo')::boolean as is_logo, item->>'role' as role,
    (item->>'position')::int as position, item->'labels' as labels
  from locations_then s, jsonb_array_elements(s.state->'media') item)`

/** The files with their facts at the moment; those of a deleted file are kept. */
export const files = sql`files as not materialized (
  select f.uuid, f.file_name, f.extension, f.mime_type, f.size, f.sha256, f.path_name, f.url_name,
    case when hidden then 'pending' else f.processing end as processing, case when not hidden then f.width end as width,
    case when not hidden then f.height end as height, case when not hidden then f.duration end as duration
  from (
    select uuid, file_name, extension, mime_type, size, sha256, path_name, url_name, processing, width, height, duration,
      rendered_at from files
    union all select uuid, file_name, extension, mime_type, size, sha256, path_name, url_name, processing, width, height,
      duration, rendered_at from past_files
  ) f, lateral (select coalesce(f.rendered_at > (select since from moment), false) as hidden offset 0) rendering)`
