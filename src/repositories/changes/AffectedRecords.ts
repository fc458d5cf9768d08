import { type ManagedType, type RecordType, relations } from "../../domain/changes/RecordType.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"

/** Which of the affected records a statement needs: the first `limit` after a uuid. */
export interface Wanted {
  readonly last: string
  readonly limit: number
  readonly visible: ReadonlySet<RecordType>
}

/** Events of other records that change the answer of some, which are found by the references that they have now. */
interface Dependency {
  readonly type: ManagedType
  /** The columns in which the other record shows; those that are created or deleted count always. */
  readonly columns: ReadonlyArray<string>
  /** The records that refer to the other record `s.uuid`: a table, a condition, and the column of their uuid. */
  readonly from: Fragment
  readonly where: Fragment
  readonly uuid: Fragment
}

const referring = (type: ManagedType, columns: ReadonlyArray<string>, from: string, where: string, uuid: string) => ({
  type,
  columns,
  from: sql.literal(from),
  where: sql.literal(where),
  uuid: sql.literal(uuid)
})

const audience = (kind: string) =>
  `t.audience @> jsonb_build_object('${kind}', jsonb_build_array(jsonb_build_object('uuid', s.uuid)))`

/** A reference from a record to another is a change of the record itself, so that the references of now suffice. */
const dependencies = (type: ManagedType, visible: ReadonlySet<RecordType>): ReadonlyArray<Dependency> => {
  switch (type) {
    case "location":
      return [referring("asset", ["file_uuid"], "location_media t", "t.asset_uuid = s.uuid", "t.location_uuid")]
    case "post":
      return [
        referring(
          "user",
          ["username", "first_name", "last_name"],
          "posts t",
          "(t.author->>'uuid')::uuid = s.uuid",
          "t.uuid"
        ),
        referring("group", visible.has("group") ? ["name"] : [], "posts t", audience("groups"), "t.uuid"),
        referring(
          "location",
          visible.has("location") ? ["name", "identifier"] : [],
          "posts t",
          audience("locations"),
          "t.uuid"
        ),
        referring("asset", [], "posts t", "t.cover_asset_uuid = s.uuid", "t.uuid"),
        referring("asset", [], "posts t", "t.media_asset_uuids @> array[s.uuid::text]", "t.uuid")
      ]
    case "asset":
      return [
        referring(
          "assetCategory",
          ["key", "position"],
          "asset_category_links t",
          "t.category_uuid = s.uuid",
          "t.asset_uuid"
        ),
        referring(
          "metaTag",
          ["key", "position", "options"],
          "asset_meta_tags t",
          "t.definition_uuid = s.uuid",
          "t.asset_uuid"
        )
      ]
    case "metaTag":
      return [
        referring("assetCategory", ["key"], "meta_tag_categories t", "t.category_uuid = s.uuid", "t.definition_uuid")
      ]
    default:
      return []
  }
}

/** The matching records are collected first: PostgreSQL would otherwise walk the table in order to find the first ones. */
const dependents = ({ last, limit }: Wanted, { columns, from, type, uuid, where }: Dependency): Fragment => sql`
  select d.uuid from (
    select distinct w.uuid from changed w where w.type = ${type}::text and (w.always or w.after ?| ${columns}::text[])
  ) s cross join lateral (
    select distinct m.uuid from (select ${uuid} as uuid from ${from} where ${where} offset 0) m
    where m.uuid > ${last}::uuid order by m.uuid limit ${limit}::bigint
  ) d`

/** Of groups, their sizes; users and locations have nothing in their answers of the relations that changed. */
const members = sql`
  select member::uuid as uuid from changed w, jsonb_array_elements(w.links) link,
    lateral (select jsonb_array_elements_text((link->'added') || (link->'removed')) as member) members
  where w.type in ('user', 'location') and link->>'path' = 'groups'`

/** A parent has the number of its variants, and its variants have the modules that it has. */
const family = ({ last, limit }: Wanted): Fragment => sql`
  select parent::uuid from changed w,
    lateral (values (w.before->>'parent_uuid'), (w.after->>'parent_uuid')) parents (parent)
  where w.type = 'product' and parent is not null and (w.always or w.after ? 'parent_uuid')
  union all
  select d.uuid from (
    select distinct w.uuid from changed w where w.type = 'product' and (w.always or exists (
      select from jsonb_each(w.after) member where member.key like 'modules.%'
        and (member.value = 'null' or coalesce(w.before->member.key, 'null') = 'null')))
  ) s cross join lateral (
    select v.uuid from products v where v.parent_uuid = s.uuid and v.uuid > ${last}::uuid
    order by v.uuid limit ${limit}::bigint
  ) d`

/** The types whose events can change the answers of a type. */
const typesOf = (type: ManagedType): ReadonlyArray<RecordType> => {
  if (type === "group") return ["group", "user", "location"]
  return [type, ...dependencies(type, new Set()).map((dependency) => dependency.type)]
}

/**
 * The parts of a statement that gives the uuids of the records whose answers changed between two positions, each once:
 * `changed`, the events of the part of the log, and `affected`, the uuids in order.
 *
 * An event without values counts always, because an erasure may have removed the ones that matter. A login counts by what it
 * changes, as an update does. Relations that are hidden from the reader do not count, unless the answer itself has them, as a
 * group has its sizes.
 */
export const affectedSql = (
  type: ManagedType,
  start: number,
  stop: Fragment,
  span: number,
  wanted: Wanted
): Fragment => {
  const { last, limit, visible } = wanted
  const paths = Object.entries(relations).flatMap(([path, other]) =>
    type === "group" || visible.has(other) ? [path] : []
  )
  const sources = [
    sql`select w.uuid from changed w where w.type = ${type}::text and (w.always
      or w.after - 'edited_at'::text <> '{}'
      or exists (select from jsonb_array_elements(w.links) link where link->>'path' = any (${paths}::text[])))`,
    ...(type === "group" ? [members] : []),
    ...(type === "product" ? [family(wanted)] : []),
    ...dependencies(type, visible).map((dependency) => dependents(wanted, dependency))
  ]
  return sql`changed as materialized (
      select e.type, e.record_uuid as uuid, e.action not in ('updated', 'touched') or e.salt is null as always,
        e.before, e.after, e.links
      from events e where e.position > ${start}::bigint and e.position <= ${start + span}::bigint
        and e.position <= ${stop} and e.type = any (${typesOf(type)}::text[])
    ), affected as materialized (
      select distinct uuid from (${sql.join(" union all ", false)(sources)}) sources
      where uuid > ${last}::uuid order by uuid limit ${limit}::bigint
    )`
}
