import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import * as TestServer from "../../support/TestServer.ts"
import { createAll } from "../../support/requests/BulkRequests.ts"
import { send } from "../../support/requests/Requests.ts"

const live = { excludeTestServices: true }
const list = (query: string, headers: Record<string, string> = {}) => send("GET", `/v1/locations?${query}`, { headers })

interface Row {
  readonly uuid: string
  readonly [member: string]: unknown
}

/** The rows of all pages of a list, in order. */
const walk = Effect.fnUntraced(function* (query: string, limit: number) {
  const rows: Array<Row> = []
  for (let page = 1; ; page++) {
    const { body } = yield* list(`${query}&limit=${limit}&page=${page}`)
    assert.strictEqual(body.pagination.page, page)
    assert.strictEqual(body.data.length, Math.max(0, Math.min(limit, body.pagination.total - rows.length)))
    rows.push(...body.data)
    if (page >= body.pagination.pageCount) return rows
  }
})

/** The rows of all pages of a list, in order, each behind the cursor of the one before. */
const walkAfter = Effect.fnUntraced(function* (query: string, limit: number) {
  const rows: Array<Row> = []
  for (let after: string | undefined = ""; after !== undefined;) {
    const {
      body
    }: { readonly body: { readonly data: ReadonlyArray<Row>; readonly pagination: { limit: number; next?: string } } } =
      yield* list(`${query}&limit=${limit}&after=${after}`)
    after = body.pagination.next
    assert.deepStrictEqual(body.pagination, { limit, ...(after === undefined ? {} : { next: after }) })
    assert.isAtMost(body.data.length, limit)
    if (after !== undefined) assert.lengthOf(body.data, limit)
    rows.push(...body.data)
  }
  return rows
})

const words = ["a", "B", "b", "É", "e", "z", "Ä", "a b", "a-b", "10", "9", "ß", "ss", "ø", "文", "İ", "_", "A"]
const locales = ["nl", "nl-NL", "en", "en-GB", "de", undefined]
const countries = ["NL", "BE", "DE", undefined]
const total = 300

/** Three hundred locations with many equal and many missing values, some created at the same instant. */
const seed = Effect.gen(function* () {
  const { pooled } = yield* Sql
  yield* createAll(
    "locations",
    Array.from({ length: total }, (_, index) => ({
      name: words[index % words.length],
      identifier: `${words[(index * 7) % words.length]}${index}`,
      ...(index % 5 === 0 ? {} : { address: { city: words[(index * 5) % 11], countryCode: countries[index % 4] } }),
      locale: locales[index % 6]
    }))
  )
  yield* pooled`update locations set created_at = date_trunc('milliseconds', now()) - interval '1 second' * (hashtext(identifier) % 40),
    edited_at = now() + interval '1 second' * (hashtext(name) % 5)`
})

const text = new Intl.Collator("und")
const instant = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const sorts: Readonly<Record<string, (a: string, b: string) => number>> = {
  name: text.compare,
  identifier: text.compare,
  "address.city": text.compare,
  "address.countryCode": text.compare,
  locale: text.compare,
  createdAt: instant,
  editedAt: instant
}

const valueOf = (row: Row, path: string) =>
  path.split(".").reduce<unknown>((inner, member) => (inner as Row | undefined)?.[member], row) as string | undefined

layer(TestServer.layer(), live)("Sorted lists", (it) => {
  it.effect("the seed creates three hundred locations", () =>
    Effect.gen(function* () {
      yield* seed
      assert.strictEqual((yield* list("")).body.pagination.total, total)
    })
  )

  const cases = Object.keys(sorts).flatMap((field) => ["asc", "desc"].map((order) => ({ field, order })))

  it.effect.each(cases)(
    "locations sorted by $field $order have missing values last, and ties are ordered by uuid",
    ({ field, order }) =>
      Effect.gen(function* () {
        const whole = yield* walk(`sortBy=${field}&sortOrder=${order}`, 500)
        assert.strictEqual(new Set(whole.map(({ uuid }) => uuid)).size, total)
        const compare = sorts[field]!
        const values = whole.map((row) => valueOf(row, field))
        const present = values.filter((value) => value !== undefined)
        assert.deepStrictEqual(values.slice(present.length), Array(total - present.length).fill(undefined))
        const naive = present.toSorted((a, b) => (order === "asc" ? compare(a, b) : compare(b, a)))
        assert.deepStrictEqual(present, naive)
        // Ties are ordered by uuid, always in the same direction.
        const directions = whole
          .slice(1)
          .flatMap((row, index) => (values[index + 1] === values[index] ? [row.uuid > whole[index]!.uuid] : []))
        assert.isAbove(new Set(values).size, 1)
        if (field !== "identifier") assert.isAbove(directions.length, 10)
        assert.isAtMost(new Set(directions).size, 1)
        // Pages, including deep ones, are slices of the whole list.
        for (const limit of [23, 100]) {
          const pages = yield* walk(`sortBy=${field}&sortOrder=${order}`, limit)
          assert.deepStrictEqual(
            pages.map(({ uuid }) => uuid),
            whole.map(({ uuid }) => uuid)
          )
        }
        for (const limit of [23, 100, 300]) {
          const pages = yield* walkAfter(`sortBy=${field}&sortOrder=${order}`, limit)
          assert.deepStrictEqual(
            pages.map(({ uuid }) => uuid),
            whole.map(({ uuid }) => uuid)
          )
        }
        const filtered = yield* walk(`sortBy=${field}&sortOrder=${order}&filter=name:contains:a`, 7)
        const kept = new Set(filtered.map(({ uuid }) => uuid))
        assert.isAbove(kept.size, 20)
        assert.deepStrictEqual(
          yield* walkAfter(`sortBy=${field}&sortOrder=${order}&filter=name:contains:a`, 7),
          filtered
        )
        assert.deepStrictEqual(
          filtered.map(({ uuid }) => uuid),
          whole.filter(({ uuid }) => kept.has(uuid)).map(({ uuid }) => uuid)
        )
      })
  )

  it.effect("a list returns the 25 newest records by default", () =>
    Effect.gen(function* () {
      const plain = yield* list("")
      assert.deepStrictEqual(plain.body, (yield* list("sortBy=createdAt&sortOrder=DESC&limit=25&page=1")).body)
      assert.deepStrictEqual(plain.body.pagination, { limit: 25, page: 1, total, pageCount: 12 })
      assert.strictEqual((yield* list("sortOrder=Asc")).text, (yield* list("sortOrder=asc")).text)
    })
  )

  it.effect("a page beyond the end is empty and has the exact total", () =>
    Effect.gen(function* () {
      for (const [limit, page] of [
        [25, 13],
        [300, 2],
        [500, 2],
        [1, 301],
        [500, 100_000_000],
        [500, 2_147_483_647]
      ] as const) {
        for (const sort of ["", "&sortBy=locale&sortOrder=asc", "&filter=name:contains:a"]) {
          const { body, status } = yield* list(`limit=${limit}&page=${page}${sort}`)
          assert.strictEqual(status, 200, `${limit} ${page}`)
          assert.deepStrictEqual(body.data, [])
          if (!sort.includes("filter")) {
            assert.deepStrictEqual(body.pagination, { limit, page, total, pageCount: Math.ceil(total / limit) })
          }
        }
      }
      const none = yield* list("filter=name:equals:unused")
      assert.deepStrictEqual(none.body.pagination, { limit: 25, page: 1, total: 0, pageCount: 0 })
    })
  )
})
