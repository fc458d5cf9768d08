import { memoize } from "effect/Function"
import { Post } from "../../domain/posts/Post.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import type { Selection } from "../../domain/query/Selection.ts"
import { personName } from "../people/PersonName.ts"
import { answerOf } from "../../sql/Selected.ts"
import type { View } from "../../sql/View.ts"
import { collation, type Column, columnsOf, type Computed, descend, extract, row } from "../../sql/Columns.ts"

/** How a request sees posts. */
export interface PostView extends Selection {
  /** Whether the names of the groups in an audience are visible. */
  readonly groupNames: boolean
  /** Whether the names and identifiers of the locations in an audience are visible. */
  readonly locationNames: boolean
  /** Whether the tables are those of a moment in the past, which have no index. */
  readonly inPast?: boolean
  /** The canonical locale of the one translation to answer; all translations unless given. */
  readonly locale?: string | undefined
}

const author: Computed[string] = {
  sql: sql`(select jsonb_build_object('uuid', u.uuid, 'name', ${personName})
    from users u where u.uuid = (t.author->>'uuid')::uuid)`,
  condition: ({ segments }, compare) => sql`(t.author->>'uuid')::uuid in (select u.uuid from users u
    where ${compare(segments[1] === "uuid" ? sql`u.uuid` : personName)})`
}

/** Each row is looked up by its key: PostgreSQL expects a hundred of them and would otherwise scan the table for every post. */
const listed = (table: string, members: ReadonlyArray<string>, inPast: boolean) => {
  const pairs = members.map((member) => `'${member}', r.${member}`)
  const found = inPast
    ? `join ${table} r on r.uuid = (item->>'uuid')::uuid`
    : `cross join lateral (select * from ${table} where uuid = (item->>'uuid')::uuid limit 1) r`
  return sql.literal(`coalesce((select jsonb_agg(jsonb_build_object(${pairs.join(", ")}) order by listed.position)
    from jsonb_array_elements(t.audience->'${table}') with ordinality listed (item, position) ${found}), '[]')`)
}

/** A condition compares visible members only: a filter cannot probe a name that is not visible. */
const audience = (groupNames: boolean, locationNames: boolean, inPast: boolean): Computed[string] => {
  const groups = groupNames ? ["uuid", "name"] : ["uuid"]
  const locations = locationNames ? ["uuid", "name", "identifier"] : ["uuid"]
  const members: Readonly<Record<string, ReadonlyArray<string>>> = { groups, locations }
  return {
    sql: sql`jsonb_build_object('authorizationType', t.audience->'authorizationType',
      'groups', ${listed("groups", groups, inPast)}, 'locations', ${listed("locations", locations, inPast)})`,
    condition: ({ segments: [, table, member] }, compare) => {
      if (member === undefined) return compare(sql`(${extract(row("audience"), [table!])})`)
      if (!members[table!]!.includes(member)) return sql`false`
      // Each row by its key: with a join, PostgreSQL would search the other table once for every post.
      return sql`exists (select from jsonb_array_elements(${descend(row("audience"), [table!])}) item
        where (select ${compare(sql.literal(`r.${member}`))} from ${sql.literal(table!)} r where r.uuid = (item->>'uuid')::uuid))`
    }
  }
}

/** The assets that exist, in the order in which they were named. */
const assets = {
  coverAssetUuid: sql`(select a.uuid from assets a where a.uuid = t.cover_asset_uuid)`,
  mediaAssetUuids: sql`array(select named from unnest(t.media_asset_uuids) with ordinality listed (named, place)
    where exists (select from assets a where a.uuid = named::uuid) order by place)`
}

/** By whether the names of groups are visible, and those of locations. */
const columnsIn = (inPast: boolean) =>
  [false, true].map((groupNames) =>
    [false, true].map((locationNames) =>
      columnsOf(Post, { author, ...assets, audience: audience(groupNames, locationNames, inPast) })
    )
  )
const columns = columnsIn(false)
const pastColumns = columnsIn(true)

const viewWith = (columns: ReadonlyArray<Column>, translations: Fragment) =>
  ({
    columns,
    order: (sortBy: string) => (sortBy === "title" ? { key: sql`t.title ${collation}` } : undefined),
    members: { translations }
  }) satisfies View

/** The views of all translations, made once: the expressions of a view are kept while it is. */
const views = columns.map((some) => some.map((columns) => viewWith(columns, row("translations"))))
const pastViews = pastColumns.map((some) => some.map((columns) => viewWith(columns, row("translations"))))

const wholeIn = memoize((view: ReturnType<typeof viewWith>) => answerOf(view, view))

/** The expression that builds the JSON text of a post, or of some of its members. */
export const jsonIn = (view: ReturnType<typeof viewWith>, fields?: Selection["fields"]) =>
  fields === undefined ? wholeIn(view) : answerOf(view, { ...view, fields })

/**
 * The columns of a post as a request sees it. Users, groups, locations and assets are joined here, so that a deleted
 * record disappears; and because filters read the same expressions, they cannot probe a name that is not visible.
 */
export const viewOf = ({ groupNames, inPast = false, locale, locationNames }: PostView, language: string) =>
  locale === undefined
    ? (inPast ? pastViews : views)[Number(groupNames)]![Number(locationNames)]!
    : viewWith(
        (inPast ? pastColumns : columns)[Number(groupNames)]![Number(locationNames)]!,
        sql`jsonb_build_array(waypost_translation(t.translations, ${locale}::text, ${language}::text))`
      )
