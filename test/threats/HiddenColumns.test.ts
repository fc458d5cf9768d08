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

/** A column in every table that no answer may tell of. */
const plant = Effect.gen(function* () {
  yield* createEverything
  const tables = yield* execute<{ readonly name: string }>(
    "select tablename as name from pg_tables where schemaname = 'public'"
  )
  for (const { name } of tables)
    yield* execute(`alter table "${name}" add column secret_canary text not null default '${canary}'`)
  return tables.length
})

/** Every column there is. */
const columns = execute<{ readonly name: string }>(
  "select distinct column_name as name from information_schema.columns where table_schema = 'public'"
)

const letters = "abcdefghijklmnopqrstuvwxyz0123456789"

/** Sixty-four beginnings of one to three characters, those of the canary among them. */
const prefixes = [
  ...Array.from(letters),
  ...Array.from(letters.slice(0, 14), (letter) => `${canary.slice(0, 1)}${letter}`),
  ...Array.from(letters.slice(0, 14), (letter) => `${canary.slice(0, 2)}${letter}`)
]

const hidden = (text: string, label: string) => {
  assert.notInclude(text, canary, label)
  assert.notMatch(text, /secret_?canary/i, label)
}

layer(TestServer.layer(), { excludeTestServices: true })("A column that no answer has", (it) => {
  it.effect("is in no answer and in no refusal of any operation", (ctx) =>
    Effect.gen(function* () {
      const tables = yield* plant
      let answers = 0
      yield* Effect.forEach(
        [...accepted, ...refused],
        Effect.fnUntraced(function* ({ operation, prepared }) {
          const { headers, text } = yield* call(operation, yield* prepared)
          hidden(text, operation.id)
          hidden(JSON.stringify([...headers]), operation.id)
          answers++
        }),
        { concurrency: 4, discard: true }
      )
      yield* Effect.promise(() => report(ctx, { tables, answers }))
      assert.isAbove(tables, 25)
      assert.isAbove(answers, 200)
    })
  )

  it.effect("and no key of a prototype can be filtered or sorted by, in any list", (ctx) =>
    Effect.gen(function* () {
      const names = [...new Set([...(yield* columns).flatMap(({ name }) => wireNames(name)), ...prototypeKeys])]
      const requests = lists.flatMap(({ answered, operation, sortable }) => [
        ...names
          .filter((name) => !answered.has(name.toLowerCase()))
          .map((name) => ({ operation, query: `?filter=${encodeURIComponent(`${name}:equals:${canary}`)}` })),
        ...names
          .filter((name) => !sortable.includes(name))
          .map((name) => ({ operation, query: `?sortBy=${encodeURIComponent(name)}` }))
      ])
      const wrong = yield* Effect.forEach(
        requests,
        Effect.fnUntraced(function* ({ operation, query }) {
          const { status, text } = yield* send("GET", pathOf(operation, { query }))
          return status === 400 && !/did you mean[^"]*secret/i.test(text) ? [] : [`${operation.id}${query}: ${status}`]
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

  it.effect("is not found by a search, by its beginning or by any part of it", () =>
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

  it.effect("tells nothing by what a filter lets through: every prefix of it is refused alike, in every list", (ctx) =>
    Effect.gen(function* () {
      for (const { operation } of lists) {
        const refusals = new Set<string>()
        for (const prefix of prefixes) {
          const query = `?filter=${encodeURIComponent(`secretCanary:startsWith:${prefix}`)}`
          const { body, status } = yield* send("GET", pathOf(operation, { query }))
          refusals.add(`${status} ${body._tag} ${body.code} ${body.message}`)
        }
        assert.deepStrictEqual(
          [...refusals],
          ['400 InvalidFilterError unknownField Unknown filter field "secretCanary"'],
          operation.id
        )
      }
      yield* Effect.promise(() => report(ctx, { prefixes: prefixes.length, "lists filtered": lists.length }))
    })
  )

  it.effect("tells nothing by what a search finds: of every prefix it is as much when it holds something else", () =>
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

  it.effect("stays hidden when the database refuses a row and says all of it", () =>
    Effect.gen(function* () {
      yield* execute("alter table locations add constraint no_canary check (secret_canary is null) not valid")
      const { status, text } = yield* send("POST", "/v1/locations", { body: { name: "B", identifier: unique() } })
      assert.strictEqual(status, 500)
      hidden(text, "POST")
    })
  )
})

/** Members that nobody may set by naming them. */
const strange = [
  "isAdmin",
  "secret_canary",
  "secretCanary",
  "secretHash",
  "is_admin",
  "constructor",
  "__proto__",
  "prototype"
]

layer(TestServer.layer(), { excludeTestServices: true })("A body", (it) => {
  it.effect(
    "with a member that is none of the operation's is refused by every operation, whatever else it holds",
    (ctx) =>
      Effect.gen(function* () {
        const writes = accepted.filter(({ operation }) => operation.hasBody)
        let refusals = 0
        yield* Effect.forEach(
          writes,
          Effect.fnUntraced(function* ({ operation, prepared }) {
            const { body, ...at } = yield* prepared
            for (const member of strange) {
              // As text: an object literal would take `__proto__` for something else.
              const raw = JSON.stringify(body)
                .replace(/^\{/, `{${JSON.stringify(member)}:true,`)
                .replace(/,\}$/, "}")
              const answer = yield* call(operation, at, { raw })
              assert.deepStrictEqual(
                [answer.status, answer.body._tag],
                [400, "InvalidRequestError"],
                `${operation.id} ${member} ${answer.text}`
              )
              refusals++
            }
          }),
          { concurrency: 4, discard: true }
        )
        yield* Effect.promise(() => report(ctx, { "writes refused": refusals }))
        assert.isUndefined(({} as Readonly<Record<string, unknown>>)["isAdmin"])
      })
  )
})

layer(TestServer.layer(), { excludeTestServices: true })("A filter", (it) => {
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
  it.effect("that says nothing is refused by every list, and never gives all rows", () =>
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
