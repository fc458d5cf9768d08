import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { ModuleName } from "../../domain/catalog/ModuleName.ts"
import type { PublicUrl } from "../../settings/PublicUrl.ts"
import { type Fragment, sql } from "../../sql/Fragment.ts"
import { urlsSql } from "../assets/Files.ts"
import { lockAssets, lockFiles } from "../assets/FileLocks.ts"

/** The files and assets that the settings of a module refer to, by uuid. */
interface Named {
  readonly files: ReadonlyArray<string>
  readonly assets: ReadonlyArray<string>
}

/** The files and assets of products: each is kept while a module refers to it. Both functions run within the module's write. */
export const make = (pooled: SqlClient.SqlClient) => {
  /** Locks the assets, and the files that the module referred to before or refers to now; fails with all that do not exist. */
  const hold = Effect.fnUntraced(function* (uuid: string, name: ModuleName, { assets, files }: Named) {
    const previous = yield* pooled<{ readonly uuid: string }>`
      select file_uuid as uuid from product_files where product_uuid = ${uuid} and module = ${name}`
    yield* lockAssets(pooled, assets)
    yield* lockFiles(pooled, [...files, ...previous.map((file) => file.uuid)])
  })

  /** Stores the references of the written settings; unchanged references keep their rows. */
  const note = Effect.fnUntraced(function* (uuid: string, name: ModuleName, { assets, files }: Named) {
    for (const [table, column, uuids] of [
      [sql`product_assets`, sql`asset_uuid`, assets],
      [sql`product_files`, sql`file_uuid`, files]
    ] as const) {
      yield* pooled`
        with gone as (
          delete from ${table} where product_uuid = ${uuid} and module = ${name} and not ${column} = any (${uuids}::uuid[])
        ) insert into ${table} (product_uuid, module, ${column})
          select ${uuid}::uuid, ${name}::text, named from unnest(${uuids}::uuid[]) named
          where named not in (select ${column} from ${table} where product_uuid = ${uuid} and module = ${name}) order by named`
    }
  })

  return { hold, note }
}

/** The members of a file `f` in a response. */
const facts = (publicUrl: PublicUrl["Service"]) => sql`jsonb_build_object('fileUuid', f.uuid,
  'fileNameOriginal', f.file_name, 'fileExtension', f.extension, 'mimeType', f.mime_type, 'fileSize', f.size,
  'sha256', f.sha256, 'urls', ${urlsSql(publicUrl)})`

/** The facts about files, about assets (their current file) and about categories, by key. */
export const factsSql = (
  publicUrl: PublicUrl["Service"],
  files: ReadonlyArray<string>,
  assets: ReadonlyArray<string>,
  categories: ReadonlyArray<string>
): Fragment => sql`
  select kind, id::text, ${facts(publicUrl)} as facts
  from (
    select 'files' as kind, uuid as id, uuid as file_uuid from unnest(${files}::uuid[]) uuid
    union all select 'assets', uuid, file_uuid from assets where uuid = any (${assets}::uuid[])
  ) named join files f on f.uuid = named.file_uuid
  union all select 'categories', key, '{}' from asset_categories where key = any (${categories}::text[])`

/**
 * The SQL of the thumbnail of a product whose files module holds the list `files`: that of the first file in the role
 * `preview`, or else of the first image; null without either.
 */
export const thumbnailSql = (publicUrl: PublicUrl["Service"], files: Fragment): Fragment => sql`(
  select ${urlsSql(publicUrl)}->>'thumbnail' from (
    select f.* from jsonb_array_elements(${files}) with ordinality listed (item, place),
    lateral (select case when item ? 'assetUuid'
      then (select a.file_uuid from assets a where a.uuid = (item->>'assetUuid')::uuid)
      else (item->>'fileUuid')::uuid end as file_uuid offset 0) named
    join files f on f.uuid = named.file_uuid
    where item->>'role' = 'preview' or f.mime_type like 'image/%'
    order by item->>'role' = 'preview' desc, (item->>'position')::int, place limit 1) f)`
