import { String as Str } from "effect"
import { ModuleName } from "../../domain/catalog/ModuleName.ts"
import { moduleOf } from "../../domain/catalog/ProductModule.ts"
import { type ManagedType, managedTypes, typeOfKind } from "../../domain/changes/RecordType.ts"
import type { ReferenceKind } from "../../domain/write/Markers.ts"
import { pathOf, type ReferencePath, referencePathsOf } from "../../domain/write/ReferencePaths.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import { schemas } from "../changes/RecordKinds.ts"
import { recordTables } from "../changes/RecordTables.ts"
import * as Relations from "../people/RelationTables.ts"
import { type RelationKind, relationKinds } from "../../domain/write/Relations.ts"

/** Where records of a type name records of a kind: the SQL of their uuids. */
export interface Reference {
  readonly type: ManagedType
  readonly path: string
  readonly kind: ReferenceKind
  /** The uuids of the records that name the one with this uuid. */
  readonly referring: (uuid: Fragment) => Fragment
}

interface Rows {
  readonly from: string
  readonly owner: string
  readonly named: string
  readonly where?: string
}

const media = { from: "location_media", owner: "location_uuid", named: "asset_uuid" }

/** The references that are rows of another table and not in a column of their member. */
const rows: Readonly<Record<string, Rows>> = {
  "location media.logo.assetUuid": { ...media, where: "is_logo" },
  "location media.items.assetUuid": { ...media, where: "not is_logo" },
  "asset categories": { from: "asset_category_links", owner: "asset_uuid", named: "category_uuid" },
  "asset metaTags": { from: "asset_meta_tags", owner: "asset_uuid", named: "definition_uuid" },
  "metaTag categories": { from: "meta_tag_categories", owner: "definition_uuid", named: "category_uuid" }
}

const key = (member: string) => sql.literal(`'${member}'`)

/** What settings and members name a record by: a category by its key, any other by its uuid. */
const nameOf = (kind: ReferenceKind, uuid: Fragment) =>
  kind === "categories" ? sql`(select c.key from asset_categories c where c.uuid = ${uuid})` : sql`${uuid}::text`

/** The JSON that a value contains if it has the reference; an index serves it. */
const contained = ({ kind, steps, where }: ReferencePath, uuid: Fragment): Fragment =>
  steps.toReversed().reduce<Fragment>(
    (inner, { isList, name }, depth) => {
      const value = isList ? sql`jsonb_build_array(${inner})` : inner
      const selected = depth === 0 && where !== undefined ? sql`, ${key(where.member)}, ${key(where.value)}` : sql``
      return sql`jsonb_build_object(${key(name)}, ${value}${selected})`
    },
    sql`${nameOf(kind, uuid)}`
  )

/** The condition on a row `t` that has the reference in its own columns. */
const inColumns = (reference: ReferencePath, uuid: Fragment): Fragment => {
  const { kind, steps, where } = reference
  const [first, ...rest] = steps
  const column = sql.literal(`t.${Str.camelToSnake(first!.name)}`)
  if (rest.length === 0)
    return first!.isList ? sql`${column} @> array[${nameOf(kind, uuid)}]` : sql`${column} = ${uuid}`
  if (rest.length === 1 && where === undefined && !steps.some(({ isList }) => isList))
    return sql`(${column}->>${key(rest[0]!.name)})::uuid = ${uuid}`
  const json = contained({ ...reference, steps: rest }, uuid)
  return sql`${column} @> ${first!.isList ? sql`jsonb_build_array(${json})` : json}`
}

const inRows = ({ from, named, owner, where = "true" }: Rows, uuid: Fragment) =>
  sql`select distinct ${sql.literal(owner)} as uuid from ${sql.literal(from)}
    where ${sql.literal(named)} = ${uuid} and ${sql.literal(where)}`

const ofRecord = (type: ManagedType): ReadonlyArray<Reference> =>
  referencePathsOf(schemas[type]).map((reference) => {
    const path = pathOf(reference)
    const stored = rows[`${type} ${path}`]
    return {
      type,
      path,
      kind: reference.kind,
      referring: (uuid) =>
        stored === undefined
          ? sql`select t.uuid from ${sql.literal(recordTables[type])} t where ${inColumns(reference, uuid)}`
          : inRows(stored, uuid)
    }
  })

const ofModule = (name: ModuleName): ReadonlyArray<Reference> =>
  referencePathsOf(moduleOf(name)).map((reference) => ({
    type: "product",
    path: `modules.${name}.${pathOf(reference)}`,
    kind: reference.kind,
    referring: (uuid) => sql`select m.product_uuid as uuid from product_modules m
      where m.module = ${key(name)} and m.settings @> ${contained(reference, uuid)}`
  }))

/** Records of two kinds that belong to each other refer to each other. */
const ofRelations = (owner: RelationKind): ReadonlyArray<Reference> =>
  relationKinds
    .filter((member) => member !== owner)
    .map((member) => ({
      type: typeOfKind[owner],
      path: member,
      kind: member,
      referring: (uuid) => sql`select ${sql.literal(Relations.columns[owner])} as uuid
        from ${sql.literal(Relations.tableOf(owner, member))}
        where ${sql.literal(Relations.columns[member])} = ${uuid}`
    }))

/** Every reference from one record to another: those that `references(…)` declares, and memberships. */
const references: ReadonlyArray<Reference> = [
  ...relationKinds.flatMap(ofRelations),
  ...managedTypes.flatMap(ofRecord),
  ...ModuleName.literals.flatMap(ofModule)
]

/** The type of the records that references name by each kind. */
const types: Readonly<Partial<Record<ReferenceKind, ManagedType>>> = {
  ...typeOfKind,
  categories: typeOfKind.assetCategories
}

/** The types of record whose usages can be listed: no reference names a post. */
export type UsedType = Exclude<ManagedType, "post">

/** The usages of a record: type, uuid and path. */
export const usagesSql = (type: UsedType, uuid: Fragment): Fragment => {
  const sources = references
    .filter(({ kind }) => types[kind] === type)
    .map(
      ({ path, referring, type }) =>
        sql`select ${type}::text as type, uuid, ${path}::text as path from (${referring(uuid)}) referring`
    )
  return sql.join(" union all ", false)(sources)
}
