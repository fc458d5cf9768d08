import { createHash } from "node:crypto"
import { createReadStream, existsSync, statSync } from "node:fs"
import { join } from "node:path"
import { storageKey } from "../../../src/domain/assets/File.ts"

type Row = Readonly<Record<string, unknown>>

/** Runs a statement and returns its rows. */
export type Query = (statement: string) => Promise<ReadonlyArray<Row>>

interface Invariant {
  readonly name: string
  /** A query for the rows that break it. */
  readonly wrong: string
}

/** The constraints in the catalog of every table, checked row by row, because an index or a trigger could be broken. */
const declared = async (query: Query): Promise<ReadonlyArray<Invariant>> => {
  const found = await query(`
    select 'reference ' || conname as name, format('select %s::text from %s child where %s and not exists (select from %s parent where %s) limit 3',
      (select string_agg(format('child.%I', attname), ' || '' '' || ' order by attnum) from pg_attribute where attrelid = conrelid and attnum = any (conkey)),
      conrelid::regclass,
      (select string_agg(format('child.%I is not null', attname), ' and ') from pg_attribute where attrelid = conrelid and attnum = any (conkey)),
      confrelid::regclass,
      (select string_agg(format('parent.%I = child.%I', p.attname, c.attname), ' and ') from unnest(conkey, confkey) keys (child, parent)
        join pg_attribute c on c.attrelid = conrelid and c.attnum = keys.child
        join pg_attribute p on p.attrelid = confrelid and p.attnum = keys.parent)) as wrong
    from pg_constraint where contype = 'f' and connamespace = current_schema()::regnamespace
    union all
    select 'check ' || conname, format('select t::text from %s t where not (%s) limit 3', conrelid::regclass, pg_get_expr(conbin, conrelid))
    from pg_constraint where contype = 'c' and connamespace = current_schema()::regnamespace
    union all
    select 'unique ' || indexrelid::regclass, format('select %s from %s where %s group by %s having count(*) > 1 limit 3',
      (select string_agg(pg_get_indexdef(indexrelid, key, true), ', ') from generate_series(1, indnkeyatts) key),
      indrelid::regclass,
      (select string_agg(format('(%s) is not null', pg_get_indexdef(indexrelid, key, true)), ' and ') from generate_series(1, indnkeyatts) key)
        || coalesce(' and ' || pg_get_expr(indpred, indrelid), ''),
      (select string_agg(key::text, ', ') from generate_series(1, indnkeyatts) key))
    from pg_index i join pg_class c on c.oid = i.indrelid where indisunique and relnamespace = current_schema()::regnamespace
    union all
    select 'edited after created ' || relname, format('select uuid from %I where edited_at < created_at limit 3', relname)
    from pg_class c where relkind = 'r' and relnamespace = current_schema()::regnamespace and
      (select count(*) from pg_attribute where attrelid = c.oid and attname in ('uuid', 'created_at', 'edited_at')) = 3
    union all
    select 'edits of ' || c.relname, format('select coalesce(t.uuid, e.uuid) from %I t full join %I e on e.uuid = t.uuid
      where t.edited_at is distinct from e.edited_at limit 3', c.relname, c.relname || '_edits')
    from pg_trigger t join pg_class c on c.oid = t.tgrelid where t.tgname = 'edits_updated'
    union all
    select 'total ' || c.relname, format('select total, rows from (select count(*) as rows from %I) t,
      (select coalesce(sum(delta), 0) as total from row_counts where relation = %L) r where total <> rows', c.relname, c.relname)
    from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_proc p on p.oid = t.tgfoid
    where p.proname = 'waypost_count_rows' and t.tgname = 'count_deleted'
    union all
    select 'attached exactly while referenced', format('select uuid from files f where (unattached_since is null) <> (%s) limit 3',
      string_agg(format('exists (select from %s where %I = f.uuid)', conrelid::regclass, attname), ' or '))
    from pg_constraint join pg_attribute on attrelid = conrelid and attnum = conkey[1]
    where contype = 'f' and confrelid = 'files'::regclass`)
  return found.map(({ name, wrong }) => ({ name: String(name), wrong: String(wrong) }))
}

/** Invariants that no constraint expresses. */
const unconstrained: ReadonlyArray<Invariant> = [
  {
    name: "access lists have the lists of modules and audiences",
    wrong: `with given as (
      select m.product_uuid as seen_uuid, a.rule, a.named, a.actions
        from product_modules m, waypost_access_list(m.module, m.settings) a where m.module in ('permissions', 'locations')
      union all select p.uuid, a.rule, a.named, a.actions from posts p, waypost_access_list('audience', p.audience) a)
      select seen_uuid from (
        (table given except select seen_uuid, rule, named, actions from access_lists)
        union all (select seen_uuid, rule, named, actions from access_lists except table given)) differing limit 3`
  },
  {
    name: "postal codes are those that locations list",
    wrong: `with listed as (
      select distinct upper(regexp_replace(code, '[ -]', '', 'g')) as code, coalesce(address->>'countryCode', '') as country_code,
        uuid as location_uuid from locations, unnest(postal_codes) code)
      select location_uuid from (
        (select code, country_code, location_uuid from listed except select code, country_code, location_uuid from location_postal_codes)
        union all (select code, country_code, location_uuid from location_postal_codes
          except select code, country_code, location_uuid from listed)) differing limit 3`
  },
  {
    name: "groups count their members",
    wrong: `select uuid from groups g where user_count <> (select count(*) from user_groups where group_uuid = g.uuid)
      or location_count <> (select count(*) from group_locations where group_uuid = g.uuid) limit 3`
  },
  {
    name: "an asset repeats the metadata of its file",
    wrong: `select a.uuid from assets a join files f on f.uuid = a.file_uuid where (a.file_size, a.file_name_original,
      a.file_extension, a.path_name, a.url_name) is distinct from (f.size, f.file_name, f.extension, f.path_name, f.url_name) limit 3`
  },
  {
    name: "an asset has a search text",
    wrong:
      "select uuid from assets a where not exists (select from asset_texts where asset_uuid = a.uuid and language = '') limit 3"
  },
  {
    name: "the status of an upload is valid",
    wrong: `select uuid from upload_sessions u where status not in ('open', 'completed', 'aborted', 'expired')
      or status <> 'completed' and exists (select from files where uuid = u.file_uuid)
      or status = 'completed' and created_at > now() - interval '6 days' and not exists (select from files where uuid = u.file_uuid)
      or expires_at <= created_at limit 3`
  },
  {
    name: "a file belongs to an upload",
    wrong: "select uuid from files f where not exists (select from upload_sessions where file_uuid = f.uuid) limit 3"
  },
  {
    name: "no category is its own ancestor",
    wrong: `with recursive above as (
        select uuid, parent_uuid from asset_categories where parent_uuid is not null
        union select a.uuid, c.parent_uuid from above a join asset_categories c on c.uuid = a.parent_uuid
      ) select uuid from above where uuid = parent_uuid limit 3`
  },
  {
    name: "a published or scheduled post has its time",
    wrong: `select uuid from posts where status in ('published', 'archived') and published_at is null
      or status = 'scheduled' and publish_at is null limit 3`
  },
  {
    name: "the times and the successor of a key are valid",
    wrong:
      "select uuid from api_keys where revoked_at < created_at or expires_at <= created_at or replaced_by_uuid = uuid limit 3"
  }
]

const sha256Of = async (file: string) => {
  const hash = createHash("sha256")
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer)
  return hash.digest("hex")
}

/** Files whose stored bytes are missing or wrong: sizes are compared for all, content for the first `read`. */
const withoutBytes = async (query: Query, objects: string, read: number) => {
  const files = (await query(
    "select uuid::text, size::text, sha256 from files order by md5(uuid::text)"
  )) as ReadonlyArray<{
    readonly uuid: string
    readonly size: string
    readonly sha256: string
  }>
  const problems: Array<string> = []
  for (const [index, { sha256, size, uuid }] of files.entries()) {
    const file = join(objects, storageKey(uuid))
    if (!existsSync(file)) problems.push(`bytes of a file: ${uuid} has none`)
    else if (statSync(file).size !== Number(size)) problems.push(`bytes of a file: ${uuid} has another size`)
    else if (index < read && (await sha256Of(file)) !== sha256)
      problems.push(`bytes of a file: ${uuid} has other bytes`)
  }
  return problems
}

/**
 * Every violation in the database, and in the folder of the stored objects when given, as one sentence each.
 * The database has the tables of the service. `read` is the number of files whose bytes are read.
 */
export const violations = async (query: Query, objects?: string, read = 1000): Promise<ReadonlyArray<string>> => {
  const problems: Array<string> = []
  for (const { name, wrong } of [...(await declared(query)), ...unconstrained]) {
    const rows = await query(wrong)
    problems.push(...rows.map((row) => `${name}: ${Object.values(row).map(String).join(", ")}`))
  }
  return objects === undefined ? problems : [...problems, ...(await withoutBytes(query, objects, read))]
}

/** The number of invariants checked, for the figures. */
export const count = async (query: Query) => (await declared(query)).length + unconstrained.length + 1
