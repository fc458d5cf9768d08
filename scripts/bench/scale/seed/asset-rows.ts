import type { Sql } from "postgres"
import { description, fileName, type Language, projectOf, title } from "./asset-words.ts"
import { pick, type Random, randomOf } from "../../../../test/support/Random.ts"

/** Assets per project, which is the number of hits of a selective search. */
export const projectSize = 20

/** Assets per insert. */
const batch = 5000

const languages: ReadonlyArray<ReadonlyArray<Language>> = [
  ["nl"],
  ["en", "nl"],
  ["en", "nl"],
  ["de", "en", "nl"],
  ["en"],
  ["de"]
]

/** The keys of the categories; `a-b` is a child of `a`. */
const categories = ["photos", "photos-products", "photos-people", "documents", "documents-manuals", "logos"]

const mimeTypes: Readonly<Record<string, string>> = {
  jpg: "image/jpeg",
  png: "image/png",
  pdf: "application/pdf",
  mp4: "video/mp4"
}

const row = (number: number, size: number, random: Random) => {
  const name = fileName(random)
  const extension = name.slice(name.lastIndexOf(".") + 1)
  const project = projectOf(number % Math.max(1, Math.floor(size / projectSize)))
  return {
    number,
    name,
    extension,
    mime: mimeTypes[extension],
    size: Math.floor(20_000 + random() * 5_000_000),
    // The service stores them sorted by locale.
    translations: pick(random, languages).map((locale) => ({
      locale,
      name: title(locale, project, random),
      ...(random() < 0.8 ? { description: description(locale, random) } : {})
    })),
    categories: [...new Set([pick(random, categories), ...(random() < 0.4 ? [pick(random, categories)] : [])])]
  }
}

const insertCategories = (sql: Sql) => sql`
  insert into asset_categories (uuid, key, translations, position, parent_uuid)
  select md5(key)::uuid, key, jsonb_build_array(jsonb_build_object('locale', 'en', 'name', initcap(replace(key, '-', ' ')))),
    0, case when key like '%-%' then md5(split_part(key, '-', 1))::uuid end
  from unnest(${categories}::text[]) key`

/** Inserts rows of uploaded files and their assets, without bytes; uuids and age derive from the number. */
const insertBatch = async (sql: Sql, rows: ReadonlyArray<ReturnType<typeof row>>, size: number) => {
  const sent = JSON.stringify(rows)
  const from = `jsonb_to_recordset($1::text::jsonb) as r (number int, name text, extension text, mime text, size bigint,
      translations jsonb, categories text[]), lateral (select (number - $2::int) * interval '1 second' as age) a`
  await sql.begin(async (sql) => {
    await sql.unsafe(
      `insert into files (uuid, file_name, extension, mime_type, size, sha256, path_name, url_name, processing, created_at)
      select md5('file' || number)::uuid, name, extension, mime, size, encode(sha256(name::bytea), 'hex'), name, name, 'ready',
        now() + age from ${from}`,
      [sent, size]
    )
    await sql.unsafe(
      `insert into assets (uuid, file_uuid, translations, created_at, edited_at)
      select md5('asset' || number)::uuid, md5('file' || number)::uuid, translations, now() + age, now() + age from ${from}`,
      [sent, size]
    )
    await sql.unsafe(
      `insert into asset_category_links (asset_uuid, category_uuid)
      select md5('asset' || number)::uuid, md5(key)::uuid from ${from}, unnest(categories) key`,
      [sent, size]
    )
    await sql.unsafe(`select count(waypost_index_asset(md5('asset' || number)::uuid)) from ${from}`, [sent, size])
  })
}

/** Inserts the first `count` of `size` assets, in one to three languages each; identical in every run. */
export const insertAssets = async (sql: Sql, count: number, size: number, done: (assets: number) => void) => {
  const random = randomOf(42)
  await insertCategories(sql)
  for (let from = 0; from < count; from += batch) {
    const rows = Array.from({ length: Math.min(batch, count - from) }, (_, index) => row(from + index, size, random))
    await insertBatch(sql, rows, size)
    done(from + rows.length)
  }
}
