import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../src/sql/Sql.ts"
import { call, pathOf } from "../support/contract/Provoking.ts"
import { createAsset } from "../support/requests/AssetRequests.ts"
import { send, unique } from "../support/requests/Requests.ts"
import { createEverything } from "../support/proofs/Everything.ts"
import { report } from "../support/proofs/Figures.ts"
import * as TestServer from "../support/TestServer.ts"
import { accepted, canary, refused } from "./Corpus.ts"
import { lists } from "./Lists.ts"
import { prototypeKeys, wireNames } from "./Names.ts"

const execute = <A extends object>(statement: string) =>
  Effect.flatMap(Sql, ({ pooled }) => pooled.unsafe<A>(statement))

/** Adds a column to every table that no response may contain. */
const plant = Effect.gen(function* () {
  yield* createEverything
  const tables = yield* execute<{ readonly name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public'"
  )
  for (const { name } of tables)
    yield* execute(`alter table "${name}" add column secret_canary text not null default '${canary}'`)
  return tables.length
})

/** The names of all columns. */
const columns = execute<{ readonly name: string }>(
  "select distinct column_name as name from information_schema.columns where table_schema = 'public'"
)

const letters = "abcdefghijklmnopqrstuvwxyz0123456789"

/** Sixty-four prefixes of one to three characters, including those of the canary. */
const prefixes = [
  ...Array.from(letters),
  ...Array.from(letters.slice(0, 14), (letter) => `${canary.slice(0, 1)}${letter}`),
  ...Array.from(letters.slice(0, 14), (letter) => `${canary.slice(0, 2)}${letter}`)
]

const assertHidden = (text: string, label: string) => {
  assert.notInclude(text, canary, label)
  assert.notMatch(text, /secret_?canary/i, label)
}

layer(TestServer.layer(), { excludeTestServices: true })("hidden columns", (it) => {
  it.effect("no success and no error of any operation contains a hidden column", (ctx) =>
    Effect.gen(function* () {
      const tables = yield* plant
      let answers = 0
      yield* Effect.forEach(
        [...accepted, ...refused],
        Effect.fnUntraced(function* ({ operation, prepared }) {
          const { headers, text } = yield* call(operation, yield* prepared)
          assertHidden(text, operation.id)
          assertHidden(JSON.stringify([...headers]), operation.id)
          answers++
        }),
        { concurrency: 4, discard: true }
      )
      yield* Effect.promise(() => report(ctx, { tables, answers }))
      assert.isAbove(tables, 25)
      assert.isAbove(answers, 200)
    })
  )

  it.effect("no list can be filtered or sorted by a hidden column or a prototype key", (ctx) =>
    Effect.gen(function* () {
      const names = [...new Set([...(yield* columns).flatMap(({ name }) => wireNames(name)), ...prototypeKeys])]
      const requests = lists.flatMap(({ answered, operation, sortable }) => [
        ...names
          .filter((name) => !answered.has(name.toLowerCase()))
          .map((name) => ({ answered, operation, query: `?filter=${encodeURIComponent(`${name}:equals:${canary}`)}` })),
        ...names
          .filter((name) => !sortable.includes(name))
          .map((name) => ({ answered, operation, query: `?sortBy=${encodeURIComponent(name)}` }))
      ])
      const wrong = yield* Effect.forEach(
        requests,
        Effect.fnUntraced(function* ({ answered, operation, query }) {
          const { status, text } = yield* send("GET", pathOf(operation, { query }))
          // A column that the record shows under another spelling may be suggested.
          const suggested = /did you mean[^"]*?(secret\w*)/i.exec(text)?.[1]?.toLowerCase()
          return status === 400 && (suggested === undefined || answered.has(suggested))
            ? []
            : [`${operation.id}${query}: ${status}`]
        }),
        { concurrency: 8 }
      )
      yield* Effect.promise(() =>
        report(ctx, {
          lists: lists.length,
          names: names.length,
          "filters and sorts": requests.length,
          "not 400": wrong.flat().length
        })
      )
      assert.isAtLeast(lists.length, 14)
      assert.deepStrictEqual(wrong.flat(), [])
      assert.isAbove(requests.length, lists.length * names.length)
    })
  )

  it.effect("a search does not find the value of a hidden column, nor a prefix or part of it", () =>
    Effect.gen(function* () {
      const { total } = (yield* send("GET", "/v1/assets/search?limit=1")).body.pagination
      assert.isAbove(total, 0)
      const storage = yield* execute<{ readonly text: string }>(
        "select sha256 as text from files where sha256 <> '' union all select id from api_keys limit 20"
      )
      for (const term of [
        canary,
        canary.slice(3),
        ...Array.from({ length: canary.length - 4 }, (_, index) => canary.slice(0, 4 + index)),
        ...storage.map(({ text }) => text)
      ]) {
        const { body, status, text } = yield* send("GET", `/v1/assets/search?search=${term}`)
        assert.deepStrictEqual([status, body.pagination.total], [200, 0], `${term} ${text}`)
      }
    })
  )

  it.effect("a filter on a hidden column gets the same error for every prefix, in every list", (ctx) =>
    Effect.gen(function* () {
      for (const { operation } of lists) {
        const errors = new Set<string>()
        for (const prefix of prefixes) {
          const query = `?filter=${encodeURIComponent(`secretCanary:startsWith:${prefix}`)}`
          const { body, status } = yield* send("GET", pathOf(operation, { query }))
          errors.add(`${status} ${body._tag} ${body.code} ${body.message}`)
        }
        assert.deepStrictEqual(
          [...errors],
          ['400 InvalidFilterError unknownField Unknown filter field "secretCanary"'],
          operation.id
        )
      }
      yield* Effect.promise(() => report(ctx, { prefixes: prefixes.length, "lists filtered": lists.length }))
    })
  )

  it.effect("the number of search results does not depend on the value of a hidden column", () =>
    Effect.gen(function* () {
      const totals = Effect.forEach(prefixes, (prefix) =>
        Effect.map(send("GET", `/v1/assets/search?limit=1&search=${prefix}`), ({ body, status, text }) => {
          assert.strictEqual(status, 200, text)
          return `${prefix} ${body.pagination.total}`
        })
      )
      const tables = yield* execute<{ readonly name: string }>(
        "select tablename as name from pg_tables where schemaname = 'public'"
      )
      const before = yield* totals
      for (const { name } of tables) yield* execute(`update "${name}" set secret_canary = 'zzz9'`)
      assert.deepStrictEqual(yield* totals, before)
      for (const { name } of tables) yield* execute(`update "${name}" set secret_canary = '${canary}'`)
    })
  )

  it.effect("a hidden column is not disclosed by a constraint violation whose message contains the row", () =>
    Effect.gen(function* () {
      yield* execute("alter table locations add constraint no_canary check (secret_canary is null) not valid")
      const { status, text } = yield* send("POST", "/v1/locations", { body: { name: "B", identifier: unique() } })
      assert.strictEqual(status, 500)
      assertHidden(text, "POST")
    })
  )
})

/** Members that no client may set. */
const forbidden = [
  "isAdmin",
  "secret_canary",
  "secretCanary",
  "secretHash",
  "is_admin",
  "constructor",
  "__proto__",
  "prototype"
]

layer(TestServer.layer(), { excludeTestServices: true })("unknown members", (it) => {
  it.effect("every operation rejects a body with an unknown member", (ctx) =>
    Effect.gen(function* () {
      // The rows of a plan are refused by themselves.
      const writes = accepted.filter(({ operation }) => operation.hasBody && operation.id !== "plans.create")
      let rejected = 0
      yield* Effect.forEach(
        writes,
        Effect.fnUntraced(function* ({ operation, prepared }) {
          const { body, ...at } = yield* prepared
          for (const member of forbidden) {
            // As text, because `__proto__` in an object literal sets the prototype.
            const raw = JSON.stringify(body)
              .replace(/^\{/, `{${JSON.stringify(member)}:true,`)
              .replace(/,\}$/, "}")
            const answer = yield* call(operation, at, { raw })
            assert.deepStrictEqual(
              [answer.status, answer.body._tag],
              [400, "InvalidRequestError"],
              `${operation.id} ${member} ${answer.text}`
            )
            rejected++
          }
        }),
        { concurrency: 4, discard: true }
      )
      yield* Effect.promise(() => report(ctx, { "writes rejected": rejected }))
      assert.isUndefined(({} as Readonly<Record<string, unknown>>)["isAdmin"])
    })
  )
})

layer(TestServer.layer(), { excludeTestServices: true })("invalid filters", (it) => {
  const empty = [
    "",
    ",",
    ",,",
    " ",
    "name",
    "name:",
    "name:equals",
    "name:equals:",
    "name:contains:",
    "name:equals: ,",
    ":equals:a"
  ]
  const odd = [
    "undefined",
    "null",
    "[object Object]",
    "true",
    "{}",
    "[]",
    "name:equals:a,",
    ",name:equals:a",
    "*:contains:a",
    "%00"
  ]
  it.effect("every list rejects an empty or malformed filter instead of returning all rows", () =>
    Effect.gen(function* () {
      yield* createAsset()
      for (const { operation } of lists) {
        for (const filter of [...empty, ...odd]) {
          const { status, text } = yield* send(
            "GET",
            pathOf(operation, { query: `?filter=${encodeURIComponent(filter)}` })
          )
          assert.strictEqual(status, 400, `${operation.id} ${JSON.stringify(filter)} ${text}`)
        }
        for (const query of [
          "filter[name]=a",
          "filter[]=name:equals:a",
          "filter.name=a",
          "FILTER=name:equals:a",
          "where=a",
          "filter=uuid:equals:x&filter=a"
        ]) {
          const { status, text } = yield* send("GET", pathOf(operation, { query: `?${query}` }))
          assert.strictEqual(status, 400, `${operation.id} ${query} ${text}`)
        }
      }
    })
  )
})
