import { Effect } from "effect"
import { join } from "node:path"
import { Settings } from "../../src/settings/Config.ts"
import { ModuleName } from "../../src/domain/catalog/ModuleName.ts"
import { Sql } from "../../src/sql/Sql.ts"
import { send } from "../support/requests/Requests.ts"
import { type Answered, valuesAt } from "../support/filters/FilterOracle.ts"
import * as Invariants from "../support/proofs/Invariants.ts"

/** Derived data: each query returns rows that differ from their source. */
const derived: Readonly<Record<string, string>> = {
  "media of locations": `select uuid from locations l
    where not has_media and exists (select from location_media where location_uuid = l.uuid)`,
  "assets that modules name": `with named as (
      select product_uuid, module, (item->>'assetUuid')::uuid as asset_uuid
      from product_modules, jsonb_array_elements(settings->'files') item where module = 'files' and item ? 'assetUuid')
    (select * from named where exists (select from assets where uuid = asset_uuid)
      except select product_uuid, module, asset_uuid from product_assets)
    union all (select product_uuid, module, asset_uuid from product_assets except select * from named)`
}

/** Where responses reference other records: by uuid, or categories by key. */
const named: ReadonlyArray<readonly [list: string, path: string, table: string]> = [
  ["posts", "author.uuid", "users"],
  ["posts", "audience.groups.uuid", "groups"],
  ["posts", "audience.locations.uuid", "locations"],
  ["posts", "coverAssetUuid", "assets"],
  ["posts", "mediaAssetUuids", "assets"],
  ["locations", "media.logo.assetUuid", "assets"],
  ["locations", "media.items.assetUuid", "assets"],
  ["products", "parentUuid", "products"],
  ["products", "defaultVariantUuid", "products"],
  ["asset-categories", "parentUuid", "asset_categories"],
  ["meta-tags", "categories", "asset_categories"],
  ["assets", "categories", "asset_categories"],
  ["assets", "metaTags.uuid", "meta_tag_definitions"],
  ["modules", "locations.uuid", "locations"],
  ["modules", "groups.uuid", "groups"],
  ["modules", "allocations.locationUuid", "locations"],
  ["modules", "files.assetUuid", "assets"],
  ["modules", "files.fileUuid", "files"],
  ["modules", "defaultVariantUuid", "products"],
  ["modules", "steps.approvers.uuids", "users"]
]

/** All records of a list. */
const everything = Effect.fnUntraced(function* (list: string) {
  const records: Array<Answered> = []
  const include = list === "assets" ? "&include=categories,metaTags" : ""
  for (let page = 1; ; page++) {
    const { body, text } = yield* send("GET", `/v1/${list}?limit=500&page=${page}${include}`)
    if (body._tag !== "Success") return yield* Effect.die(new Error(text))
    records.push(...body.data)
    if (page >= body.pagination.pageCount) return records
  }
})

/** The active modules of products. */
const modulesOf = (products: ReadonlyArray<Answered>) =>
  Effect.map(
    Effect.forEach(products, (product) =>
      Effect.forEach(
        ModuleName.literals.filter((name) =>
          (product["modules"] as ReadonlyArray<{ module: string; active: boolean }>).some(
            ({ active, module }) => active && module === name
          )
        ),
        (name) => Effect.map(send("GET", `/v1/products/${product.uuid}/modules/${name}`), ({ body }) => body)
      )
    ),
    (answers) => answers.flat()
  )

/** References in responses to records that do not exist. */
const dangling = Effect.gen(function* () {
  const { pooled } = yield* Sql
  const lists = new Map<string, ReadonlyArray<Answered>>()
  for (const list of new Set(named.map(([list]) => list))) {
    if (list !== "modules") lists.set(list, yield* everything(list))
  }
  const modules = yield* modulesOf(lists.get("products")!)
  lists.set(
    "modules",
    modules.flatMap(({ data }) => data ?? [])
  )
  const unread = modules.filter(({ _tag }) => _tag !== "Success").map((body) => JSON.stringify(body))
  const missing = yield* Effect.forEach(
    named,
    Effect.fnUntraced(function* ([list, path, table]) {
      const references = [
        ...new Set(lists.get(list)!.flatMap((record) => valuesAt(record, path.split(".")).map(String)))
      ]
      const other = table === "asset_categories" ? "uuid::text = wanted or key = wanted" : "uuid::text = wanted"
      const rows = yield* pooled.unsafe<{ readonly wanted: string }>(
        `select wanted from unnest($1::text[]) wanted where not exists (select from ${table} where ${other})`,
        [references]
      )
      return { references: references.length, missing: rows.map(({ wanted }) => `${list} ${path} ${wanted}`) }
    })
  )
  return {
    references: missing.reduce((sum, { references }) => sum + references, 0),
    missing: [...unread, ...missing.flatMap(({ missing }) => missing)]
  }
})

/** Deleted assets that posts and modules still reference in the tables; only `force` deletes a referenced asset. */
export const goneAssets = Effect.gen(function* () {
  const { pooled } = yield* Sql
  const rows = yield* pooled<{ readonly uuid: string }>`
    select uuid::text from (
      select cover_asset_uuid as uuid from posts where cover_asset_uuid is not null
      union select unnest(media_asset_uuids)::uuid from posts
      union select (item->>'assetUuid')::uuid from product_modules, jsonb_array_elements(settings->'files') item
        where module = 'files' and item ? 'assetUuid'
    ) named where not exists (select from assets where assets.uuid = named.uuid)`
  return rows.map(({ uuid }) => uuid)
})

/** A query function for the database of the service, and the folder of its stored objects. */
export const inspected = Effect.gen(function* () {
  const { pooled } = yield* Sql
  const { DATA_DIR } = yield* Settings
  const context = yield* Effect.context()
  const query: Invariants.Query = (statement) =>
    Effect.runPromiseWith(context)(pooled.unsafe<Readonly<Record<string, unknown>>>(statement))
  return { query, objects: join(DATA_DIR, "files", "objects") }
})

/** All inconsistencies: in the tables, in derived data, and in responses. */
export const inspect = Effect.gen(function* () {
  const { pooled } = yield* Sql
  const { objects, query } = yield* inspected
  const differing = yield* Effect.forEach(Object.entries(derived), ([name, sql]) =>
    Effect.map(pooled.unsafe(sql), (rows) => rows.map((row) => `${name}: ${JSON.stringify(row)}`))
  )
  const { missing, references } = yield* dangling
  return {
    /** The number of invariants checked in the tables, and of references checked in responses. */
    invariants: (yield* Effect.promise(() => Invariants.count(query))) + differing.length,
    references,
    violations: [...(yield* Effect.promise(() => Invariants.violations(query, objects))), ...differing.flat()],
    dangling: missing
  }
})
