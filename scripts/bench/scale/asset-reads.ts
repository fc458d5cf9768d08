import assert from "node:assert/strict"
import type { Sql } from "postgres"
import { projectSize } from "./asset-rows.ts"
import { allWords, commonWords, projectOf } from "./asset-words.ts"
import { type Operation, reading } from "../../../test/support/Operations.ts"
import type { Service } from "../../../test/support/Services.ts"

/** How many of a page: a page of the documentation's size. */
const limit = 25

const searchPath = (query: Readonly<Record<string, string>>) =>
  `/v1/assets/search?${new URLSearchParams({ limit: String(limit), ...query }).toString()}`

/** How many assets have each of the common words. */
const frequencies = async (sql: Sql, size: number) => {
  const rows = await sql<Array<{ readonly word: string; readonly share: number }>>`
    select word, (select count(*) from asset_texts where language = ''
      and document @@ to_tsquery('simple', word || ':*'))::float8 / ${size}::int as share
    from unnest(${commonWords}::text[]) word`
  return rows
}

export interface Read {
  readonly operation: Operation<string>
  /** How many assets it finds, on average of its queries. */
  readonly hits: number
  /** Whether it finds as many in a larger table. */
  readonly isBounded: boolean
}

interface Query {
  readonly name: string
  readonly paths: ReadonlyArray<string>
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

/** What is read at one size. The words are those whose share the database tells, so that both sizes have equal ones. */
export const readsOf = async (service: Service, key: string, sql: Sql, size: number): Promise<ReadonlyArray<Read>> => {
  const projects = Array.from({ length: 64 }, (_, index) =>
    projectOf(Math.floor((index * Math.max(1, Math.floor(size / projectSize))) / 64))
  )
  const shares = await frequencies(sql, size)
  const common = shares.filter(({ share }) => share >= 0.05 && share <= 0.1).map(({ word }) => word)
  assert.ok(common.length >= 4, "The vocabulary has no words that 5 to 10 % of the assets have")
  const pairs = common.map((word, index) => `${common[(index + 1) % common.length]} ${word}`)
  const uuids = await sql<Array<{ readonly uuid: string }>>`
    select uuid from assets order by md5(uuid::text) limit 2048`
  const lastPages: Array<string> = []
  // One after the other: together they would keep a large table from answering in time.
  for (const search of common) {
    const total = await totalOf(service, key, searchPath({ search }))
    lastPages.push(searchPath({ search, page: String(Math.ceil(total / limit)) }))
  }
  const search = (words: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}) =>
    words.map((search) => searchPath({ search, ...more }))
  const byName = { sortBy: "name", sortOrder: "asc" }
  const queries: ReadonlyArray<Query> = [
    { name: "list", paths: [`/v1/assets?limit=${limit}`], isBounded: true },
    { name: "list by name", paths: [`/v1/assets?limit=${limit}&sortBy=name&sortOrder=asc`], isBounded: true },
    { name: "get", paths: uuids.map(({ uuid }) => `/v1/assets/${uuid}`), isBounded: true },
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
  const reads: Array<Read> = []
  for (const { isBounded = false, name, paths } of queries) {
    const totals: Array<number> = []
    for (const path of paths.slice(0, 3)) totals.push(await totalOf(service, key, path))
    assert.ok(Math.min(...totals) > 0, `${name} finds nothing`)
    const hits = totals.reduce((sum, total) => sum + total, 0) / totals.length
    reads.push({ operation: reading(name, paths), hits: Math.round(hits), isBounded })
  }
  return reads
}
