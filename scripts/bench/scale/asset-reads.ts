import assert from "node:assert/strict"
import type { Sql } from "postgres"
import { projectSize } from "./seed/asset-rows.ts"
import { allWords, commonWords, projectOf } from "./seed/asset-words.ts"
import type { Service } from "../../../test/support/Services.ts"

/** The default size of a page. */
const limit = 25

const searchPath = (query: Readonly<Record<string, string>>) =>
  `/v1/assets/search?${new URLSearchParams({ limit: String(limit), ...query }).toString()}`

/** The share of assets that contain each common word. */
const frequencies = async (sql: Sql, size: number) => {
  const rows = await sql<Array<{ readonly word: string; readonly share: number }>>`
    select word, (select count(*) from asset_texts where language = ''
      and document @@ to_tsquery('simple', word || ':*'))::float8 / ${size}::int as share
    from unnest(${commonWords}::text[]) word`
  return rows
}

interface Search {
  readonly name: string
  readonly paths: ReadonlyArray<string>
  /** Whether the number of hits is independent of the size of the table. */
  readonly isBounded?: boolean
}

const totalOf = async (service: Service, key: string, path: string) => {
  const response = await fetch(service.url + path, { headers: { authorization: key } })
  const body = (await response.json()) as { readonly pagination?: { readonly total: number } }
  assert.equal(response.status, 200, `${path}: ${JSON.stringify(body)}`)
  return body.pagination?.total ?? 1
}

const misspelt = (word: string) => {
  const typo = `${word.slice(0, 3)}q${word.slice(4)}`
  assert.ok(!allWords.has(typo))
  return typo
}

/** The searches at one size. Words are chosen by their share of the assets, so that both sizes have comparable hits. */
export const readsOf = async (
  service: Service,
  key: string,
  sql: Sql,
  size: number
): Promise<ReadonlyArray<Search>> => {
  const projects = Array.from({ length: 64 }, (_, index) =>
    projectOf(Math.floor((index * Math.max(1, Math.floor(size / projectSize))) / 64))
  )
  const shares = await frequencies(sql, size)
  const common = shares.filter(({ share }) => share >= 0.05 && share <= 0.1).map(({ word }) => word)
  assert.ok(common.length >= 4, "The vocabulary needs at least 4 words that 5 to 10 % of the assets contain")
  const pairs = common.map((word, index) => `${common[(index + 1) % common.length]} ${word}`)
  const lastPages: Array<string> = []
  // Sequential: concurrent searches of a large table would time out.
  for (const search of common) {
    const total = await totalOf(service, key, searchPath({ search }))
    lastPages.push(searchPath({ search, page: String(Math.ceil(total / limit)) }))
  }
  const search = (words: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}) =>
    words.map((search) => searchPath({ search, ...more }))
  const byName = { sortBy: "name", sortOrder: "asc" }
  const searches: ReadonlyArray<Search> = [
    { name: "search: a rare word", paths: search(projects), isBounded: true },
    { name: "search: a rare word, with locale", paths: search(projects, { locale: "nl" }), isBounded: true },
    { name: "search: a typo", paths: search(projects.map(misspelt)), isBounded: true },
    { name: "search: the first letters of a word", paths: search(projects.map((word) => word.slice(0, 5))) },
    { name: "search: one letter", paths: search(["s", "k", "b", "p"]) },
    { name: "search: two common words", paths: search(pairs) },
    { name: "search: a common word", paths: search(common) },
    { name: "search: a common word, with locale", paths: search(common, { locale: "nl" }) },
    { name: "search: a common word, in a category", paths: search(common, { category: "photos" }) },
    { name: "search: a common word, by name", paths: search(common, byName) },
    { name: "search: a common word, by name in a locale", paths: search(common, { locale: "nl", ...byName }) },
    { name: "search: a common word, the last page", paths: lastPages },
    { name: "search: no word, in a category", paths: [searchPath({ category: "photos" })] },
    { name: "search: no word, by name in a locale", paths: [searchPath({ locale: "nl", ...byName })] }
  ]
  for (const { name, paths } of searches) {
    for (const path of paths.slice(0, 3)) assert.ok((await totalOf(service, key, path)) > 0, `${name} finds nothing`)
  }
  return searches
}
