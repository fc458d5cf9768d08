import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { filterableOf } from "../../../src/domain/query/FilterFields.ts"
import { operatorsOf } from "../../../src/domain/query/FilterConditions.ts"
import { Post } from "../../../src/domain/posts/Post.ts"
import * as Postgres from "../../support/Postgres.ts"
import * as TestServer from "../../support/TestServer.ts"
import { createPost, patchPost } from "../../support/requests/PostRequests.ts"
import { send, unknownUuid } from "../../support/requests/Requests.ts"

const list = (query: string) => send("GET", `/v1/posts?${query}`)
const total = 60
const text = new Intl.Collator("und")
const words = ["b", "A", "é", "Z", "a b", "10", "9", "ß"]

interface Row {
  readonly uuid: string
  readonly title: string | undefined
  readonly [member: string]: unknown
}

/** All pages of a list; each row also has its title in the default language. */
const walk = Effect.fnUntraced(function* (query: string, limit: number) {
  const rows: Array<Row> = []
  for (let page = 1; ; page++) {
    const { body } = yield* list(`${query}&limit=${limit}&page=${page}`)
    for (const row of body.data) {
      const translation = row.translations.find(({ locale }: { readonly locale: string }) => locale === "en")
      rows.push({ ...row, title: (translation ?? row.translations[0]).title })
    }
    if (page >= body.pagination.pageCount) return rows
  }
})

const seed = Effect.forEach(
  Array.from({ length: total }, (_, index) => index),
  Effect.fnUntraced(function* (index: number) {
    const uuid = yield* createPost({
      type: index % 3 === 0 ? "page" : "news",
      translations: [
        { locale: index % 4 === 0 ? "ar" : "en", title: words[index % words.length] },
        { locale: "nl", title: `vertaald ${index}` }
      ],
      tags: index % 2 === 0 ? ["even"] : [],
      pinned: index % 5 === 0,
      ...(index % 3 === 0 ? {} : { publishAt: `2090-01-${String((index % 9) + 10)}T00:00:00.000Z` })
    })
    if (index % 6 === 1) yield* patchPost(uuid, { status: "scheduled" })
  }),
  { concurrency: 8 }
)

const sorts: Readonly<Record<string, (a: string, b: string) => number>> = {
  title: text.compare,
  status: text.compare,
  publishAt: (a, b) => Number(a > b) - Number(a < b),
  createdAt: (a, b) => Number(a > b) - Number(a < b),
  editedAt: (a, b) => Number(a > b) - Number(a < b)
}
const cases = Object.keys(sorts).flatMap((field) => (["asc", "desc"] as const).map((order) => ({ field, order })))

/** A valid value for a filter on a field. */
const sampleOf = (kind: string, operator: string, values: ReadonlyArray<string>) => {
  if (operator === "exists") return "true"
  const value = { number: "1", boolean: "true", date: "2090-01-10", uuid: unknownUuid, enum: values[0] }[kind] ?? "abc"
  return operator === "in" ? `(${value})` : value
}
const conditions = filterableOf(Post).flatMap(({ kind, path, values }) =>
  operatorsOf[kind].map((operator) => `${path}:${operator}:${sampleOf(kind, operator, values)}`)
)

layer(TestServer.layer(), { excludeTestServices: true })("Lists of posts", (it) => {
  it.effect("the seed creates sixty posts", () =>
    Effect.gen(function* () {
      yield* seed
      assert.strictEqual((yield* list("")).body.pagination.total, total)
    })
  )

  it.effect.each(cases)(
    "the post list sorted by $field $order has posts without the value last, and disjoint pages",
    (sort) =>
      Effect.gen(function* () {
        const query = `sortBy=${sort.field}&sortOrder=${sort.order}`
        const whole = yield* walk(query, 500)
        const values = whole.map((row) => row[sort.field] as string | undefined)
        const present = values.filter((value) => value !== undefined)
        assert.deepStrictEqual(values.slice(present.length), Array(total - present.length).fill(undefined))
        const compare = sorts[sort.field]!
        assert.deepStrictEqual(
          present,
          present.toSorted((a, b) => (sort.order === "asc" ? compare(a, b) : compare(b, a)))
        )
        assert.isAbove(new Set(values).size, 1)
        for (const pages of [yield* walk(query, 7), yield* walk(`${query}&locale=nl`, 13)]) {
          assert.deepStrictEqual(
            pages.map(({ uuid }) => uuid),
            whole.map(({ uuid }) => uuid)
          )
        }
        const filtered = yield* walk(`${query}&filter=tags:equals:even`, 4)
        assert.deepStrictEqual(
          filtered.map(({ uuid }) => uuid),
          whole.filter(({ tags }) => (tags as ReadonlyArray<string>).includes("even")).map(({ uuid }) => uuid)
        )
      })
  )

  it.effect("post filters match the expected number of posts, and conditions are combined with and", () =>
    Effect.gen(function* () {
      const totals: ReadonlyArray<readonly [string, number]> = [
        ["status:equals:scheduled", 10],
        ["status:equals:draft,pinned:equals:true", 10],
        ["type:equals:page", 20],
        ["pinned:equals:true", 12],
        ["tags:contains:VE", 30],
        ["translations.locale:equals:ar", 15],
        ["translations.title:startsWith:VERTAALD 1", 11],
        ["publishAt:lt:2090-01-12", 7],
        ["audience.authorizationType:equals:everyone", 0],
        ["translations.title:equals:A", 8]
      ]
      for (const [filter, expected] of totals) {
        const { body } = yield* list(`filter=${encodeURIComponent(filter)}`)
        assert.strictEqual(body.pagination?.total, expected, filter)
      }
    })
  )

  it.effect.each(conditions)("the post filter %s is valid", (condition) =>
    Effect.map(list(`filter=${condition}`), ({ status, text }) => assert.strictEqual(status, 200, text))
  )

  it.effect("a page of posts that is too large for one response is rejected, and other requests succeed", () =>
    Effect.gen(function* () {
      // They write twenty megabytes, for which a busy machine needs longer than the time limit of a statement.
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`update posts set translations = jsonb_build_array(jsonb_build_object('locale', 'en', 'title', 'big',
          'body', repeat('a', 200000))) where uuid in (select uuid from posts limit 10)`
        yield* sql`update posts set translations = (select jsonb_agg(jsonb_build_object('locale', 'x' || i, 'title', 'big',
          'body', repeat('b', 200000))) from generate_series(1, 10) i) where translations->0->>'title' = 'big'`
      }).pipe(Effect.provide(Postgres.untimed))
      for (const query of ["limit=60", "limit=60&filter=translations.title:equals:big"]) {
        const answers = yield* Effect.all([list(query), list("limit=1"), list("limit=1&page=30")], { concurrency: 3 })
        assert.deepStrictEqual([answers[0].status, answers[0].body._tag], [400, "InvalidRequestError"])
        assert.deepInclude(answers[0].body.issues[0], { in: "query", path: "limit", code: "tooMuch" })
        assert.deepStrictEqual([answers[1].status, answers[2].status], [200, 200])
      }
      assert.strictEqual((yield* list("limit=5&filter=translations.title:equals:big")).body.data.length, 5)
    })
  )
})
