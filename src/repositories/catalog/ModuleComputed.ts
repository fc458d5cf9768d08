import { Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import type { ModuleName } from "../../domain/catalog/ModuleName.ts"
import { availableOf } from "../../domain/catalog/modules/Stock.ts"
import { missingCombinations } from "../../domain/catalog/modules/Variants.ts"
import type { Modules } from "../../domain/catalog/ProductModule.ts"
import type { Json } from "../../domain/write/References.ts"
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
  sql`select last_call as value from product_modules where product_uuid = ${product}::uuid and module = 'api'`

const upcoming = (product: string) => sql`
  select coalesce(json_agg(json_build_object('uuid', uuid, 'locationUuid', location_uuid,
    'from', ${timestampJson(sql`starts_at`)}, 'until', ${timestampJson(sql`ends_at`)}, 'quantity', quantity, 'status', status)
    order by starts_at, uuid), '[]') as value
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
    order by v.position, v.identifier), '[]') as value
  from products v left join product_modules s on s.product_uuid = v.uuid and s.module = 'stock'
    left join product_modules f on f.product_uuid = v.uuid and f.module = 'files'
  where v.parent_uuid = ${product}::uuid`

type Computed = {
  readonly [Name in ModuleName]?: (settings: Settings<Name>, uuid: string) => Effect.Effect<Json, SqlError.SqlError>
}

/** The members of a module's answer that its settings do not hold, computed when it is read. */
export const make = (pooled: SqlClient.SqlClient, publicUrl: PublicUrl["Service"]) => {
  const valueOf = (statement: Fragment) =>
    Effect.map(pooled<{ readonly value: unknown }>`${statement}`.unprepared, ([row]) => row!.value)

  const count = (expression: Fragment) => valueOf(sql`select ${expression} as value`)

  const computed: Computed = {
    api: (_: Settings<"api">, uuid: string) =>
      Effect.map(valueOf(lastCall(uuid)), (value) => ({ lastCall: value ?? undefined })),
    locations: ({ groups, locations, mode }: Settings<"locations">) =>
      Effect.map(count(countLocations[mode]!(uuidsOf(locations), uuidsOf(groups))), (resolvedCount) => ({
        resolvedCount
      })),
    permissions: ({ authorizationType, groups, locations }: Settings<"permissions">) =>
      Effect.map(count(countUsers[authorizationType]!(uuidsOf(locations), uuidsOf(groups))), (resolvedUserCount) => ({
        resolvedUserCount
      })),
    reservations: (_: Settings<"reservations">, uuid: string) =>
      Effect.map(valueOf(upcoming(uuid)), (list) => ({ upcoming: list })),
    stock: (settings: Settings<"stock">) => Effect.succeed({ available: availableOf(settings) }),
    variants: ({ defaultVariantUuid, options }: Settings<"variants">, uuid: string) =>
      Effect.map(valueOf(variantsOf(uuid, publicUrl)), (value) => {
        const list = value as Settings<"variants">["variants"]
        const isThere = list.some((variant) => variant.uuid === defaultVariantUuid)
        return {
          variants: list,
          missingCombinations: missingCombinations(options, list),
          defaultVariantUuid: isThere ? defaultVariantUuid : undefined
        }
      })
  }

  return <Name extends ModuleName>(name: Name, settings: Settings<Name>, uuid: string) =>
    computed[name]?.(settings, uuid) ?? Effect.succeed({})
}
