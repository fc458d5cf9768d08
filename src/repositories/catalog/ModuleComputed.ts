import { Array as Arr, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { Json } from "../../domain/schema/Json.ts"
import type { ModuleName } from "../../domain/catalog/ModuleName.ts"
import { availableOf } from "../../domain/catalog/modules/Stock.ts"
import { missingCombinations } from "../../domain/catalog/modules/Variants.ts"
import type { Modules } from "../../domain/catalog/ProductModule.ts"
import type { PublicUrl } from "../../settings/PublicUrl.ts"
import { thumbnailSql } from "./ProductFiles.ts"
import { isLive } from "./ReservationSql.ts"
import { timestampJson } from "../../sql/Columns.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"

export type Settings<Name extends ModuleName> = Modules[Name]["answer"]["Encoded"]

const uuidsOf = (list: ReadonlyArray<{ readonly uuid: string }>) => list.map(({ uuid }) => uuid)

/** The total of a table, off the rows that its trigger writes. */
const totalOf = (table: string) => sql`(select coalesce(sum(delta), 0)::int from row_counts where relation = ${table})`

type Uuids = ReadonlyArray<string>

/** The locations that are listed or belong to a listed group. */
const listed = (locations: Uuids, groups: Uuids) => sql`(select count(*)::int from (
  select uuid from locations where uuid = any (${locations}::uuid[])
  union select location_uuid from group_locations where group_uuid = any (${groups}::uuid[])) listed)`

const countLocations: Readonly<Record<string, (locations: Uuids, groups: Uuids) => Fragment>> = {
  all: () => totalOf("locations"),
  include: listed,
  exclude: (locations, groups) => sql`${totalOf("locations")} - ${listed(locations, groups)}`
}

const countUsers: Readonly<Record<string, (locations: Uuids, groups: Uuids) => Fragment>> = {
  everyone: () => totalOf("users"),
  groups: (_, groups) =>
    sql`(select count(distinct user_uuid)::int from user_groups where group_uuid = any (${groups}::uuid[]))`,
  locations: (locations) =>
    sql`(select count(distinct user_uuid)::int from user_locations where location_uuid = any (${locations}::uuid[]))`
}

const lastCall = (product: string) =>
  sql`select last_call from product_modules where product_uuid = ${product}::uuid and module = 'api'`

const upcoming = (product: string) => sql`
  select coalesce(json_agg(json_build_object('uuid', uuid, 'locationUuid', location_uuid,
    'from', ${timestampJson(sql`starts_at`)}, 'until', ${timestampJson(sql`ends_at`)}, 'quantity', quantity, 'status', status)
    order by starts_at, uuid), '[]')
  from (select * from product_reservations where product_uuid = ${product}::uuid and ends_at > now() and ${isLive}
    order by starts_at, uuid limit 100) next`

/** `available` is present only where stock is kept. The thumbnail is of the variant's own files, else of the parent's. */
const variantsOf = (product: string, publicUrl: PublicUrl["Service"]) => sql`
  select coalesce(json_agg(json_strip_nulls(json_build_object('uuid', v.uuid, 'identifier', v.identifier, 'name', v.name,
    'optionValues', v.option_values, 'active', v.status = 'published', 'position', v.position,
    'available', case when s.settings->>'mode' <> 'none'
      then (s.settings->>'onHand')::int - (s.settings->>'reserved')::int end,
    'thumbnailUrl', case when f.settings is null
      then (select ${thumbnailSql(publicUrl, sql`p.settings->'files'`)}
        from product_modules p where p.product_uuid = ${product}::uuid and p.module = 'files')
      else ${thumbnailSql(publicUrl, sql`f.settings->'files'`)} end))
    order by v.position, v.identifier), '[]')
  from products v left join product_modules s on s.product_uuid = v.uuid and s.module = 'stock'
    left join product_modules f on f.product_uuid = v.uuid and f.module = 'files'
  where v.parent_uuid = ${product}::uuid`

/** Members of an answer that the settings give, or the value of an SQL expression. */
interface How<S> {
  value?(settings: S, uuid: string): Fragment
  members(settings: S, value: unknown): Json
}

type Computed = { readonly [Name in ModuleName]?: How<Settings<Name>> }

/** A module that a product has, and the product whose module it is. */
export interface Owned {
  readonly module: ModuleName
  readonly owner: string
  readonly settings: Json
}

const none: How<unknown> = { members: () => ({}) }

/** So many expressions are in one statement. */
const maxExpressions = 200

/** The members of the answers of modules that their settings do not hold, computed when they are read. */
export const make = (pooled: SqlClient.SqlClient, publicUrl: PublicUrl["Service"]) => {
  const computed: Computed = {
    api: { value: (_, uuid) => lastCall(uuid), members: (_, value) => ({ lastCall: value ?? undefined }) },
    locations: {
      value: ({ groups, locations, mode }) => countLocations[mode]!(uuidsOf(locations), uuidsOf(groups)),
      members: (_, resolvedCount) => ({ resolvedCount })
    },
    permissions: {
      value: ({ authorizationType, groups, locations }) =>
        countUsers[authorizationType]!(uuidsOf(locations), uuidsOf(groups)),
      members: (_, resolvedUserCount) => ({ resolvedUserCount })
    },
    reservations: { value: (_, uuid) => upcoming(uuid), members: (_, list) => ({ upcoming: list }) },
    stock: { members: (settings) => ({ available: availableOf(settings) }) },
    variants: {
      value: (_, uuid) => variantsOf(uuid, publicUrl),
      members: ({ defaultVariantUuid, options }, value) => {
        const list = value as Settings<"variants">["variants"]
        const isThere = list.some((variant) => variant.uuid === defaultVariantUuid)
        return {
          variants: list,
          missingCombinations: missingCombinations(options, list),
          defaultVariantUuid: isThere ? defaultVariantUuid : undefined
        }
      }
    }
  }

  /** The settings of a module are those of its own. */
  const howOf = (module: ModuleName): How<Json> => computed[module] ?? none

  const valuesOf = Effect.fnUntraced(function* (expressions: ReadonlyArray<readonly [place: number, Fragment]>) {
    const rows = expressions.map(
      ([place, expression]) => sql`select ${place}::int as place, to_json((${expression})) as value`
    )
    return yield* pooled<{ readonly place: number; readonly value: unknown }>`${sql.join(" union all ", false)(rows)}`
      .unprepared
  })

  /** The computed members of each module, in their order. */
  return Effect.fnUntraced(function* (modules: ReadonlyArray<Owned>) {
    const expressions = modules.flatMap((one, place) => {
      const expression = howOf(one.module).value?.(one.settings, one.owner)
      return expression === undefined ? [] : [[place, expression] as const]
    })
    const values = new Map<number, unknown>()
    for (const some of Arr.chunksOf(expressions, maxExpressions)) {
      for (const { place, value } of yield* valuesOf(some)) values.set(place, value)
    }
    return modules.map(({ module, settings }, place): Json => howOf(module).members(settings, values.get(place)))
  })
}
