import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { create, expectError, send, unique } from "../../support/requests/Requests.ts"

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

layer(TestServer.layer(), live)("Lists", (it) => {
  it.effect("a parameter of another API is rejected with the one of the same meaning", () =>
    Effect.gen(function* () {
      const suggested = Effect.fnUntraced(function* (path: string, name: string) {
        const { issues, message } = expectError(yield* send("GET", `${path}?${name}=x`), 400, "InvalidRequestError")
        const suggestions = issues[0].suggestions ?? []
        if (suggestions.length > 0) assert.include(message, `did you mean ${suggestions.join(" or ")}?`)
        return suggestions
      })
      for (const name of ["q", "query", "Query", "keyword"]) {
        assert.deepStrictEqual(yield* suggested("/v1/assets/search", name), ["search"], name)
        assert.deepStrictEqual(yield* suggested("/v1/locations", name), ["filter"], name)
      }
      assert.deepStrictEqual(yield* suggested("/v1/locations", "order_by"), ["sortBy"])
      assert.deepStrictEqual(yield* suggested("/v1/locations", "per_page"), ["limit"])
      assert.deepStrictEqual(yield* suggested("/v1/locations", "locale"), [])
    })
  )

  it.effect("limit and page outside of their bounds are rejected, not clamped", () =>
    Effect.gen(function* () {
      for (const limit of ["1", "500", "007"]) assert.strictEqual((yield* list(`limit=${limit}`)).status, 200, limit)
      const numbers = ["0", "-1", "", "1.5", "1e2", "0x10", " 5", "5 ", "abc", "NaN", "Infinity", "٣", "1,2", "null"]
      for (const name of ["limit", "page"]) {
        for (const value of name === "limit" ? [...numbers, "501", "9".repeat(30)] : numbers) {
          const body = expectError(
            yield* list(`${name}=${encodeURIComponent(value)}`),
            400,
            "InvalidRequestError",
            `${name}=${value}`
          )
          assert.deepInclude(body.issues[0], { in: "query", path: name })
        }
      }
    })
  )

  it.effect("an unknown sort field, sort order or parameter is rejected with the nearest name", () =>
    Effect.gen(function* () {
      const cases = [
        ["sortBy=nmae", "sortBy", "name"],
        ["sortBy=adress.city", "sortBy", "address.city"],
        ["sortOrder=dsc", "sortOrder", "desc"],
        ["limt=5", "limt", "limit"],
        ["sortby=name", "sortby", "sortBy"],
        ["search=", "search", undefined],
        ["locale=nl", "locale", undefined]
      ] as const
      for (const [query, path, suggestion] of cases) {
        const body = expectError(yield* list(query), 400, "InvalidRequestError", query)
        assert.deepInclude(body.issues[0], { in: "query", path })
        if (suggestion !== undefined) assert.include(body.issues[0].suggestions, suggestion, query)
      }
      const hidden = ["uuid", "postalCodes", "other.extraDna1", "__proto__", "constructor", "toString", "created_at"]
      for (const field of [...hidden, "", "createdAt;", "1", "name,uuid", "secret_hash"]) {
        assert.strictEqual((yield* list(`sortBy=${encodeURIComponent(field)}`)).status, 400, field)
      }
    })
  )

  it.effect("a repeated query parameter is rejected", () =>
    Effect.gen(function* () {
      const twice = ["limit=1&limit=1", "page=1&page=2", "sortBy=name&sortBy=name", "sortOrder=asc&sortOrder=desc"]
      for (const query of [...twice, "filter=name:equals:a&filter=name:equals:b", "limit=1&page=1&limit=2"]) {
        const { body, status } = yield* list(query)
        assert.strictEqual(status, 400, query)
        assert.include(["InvalidRequestError", "InvalidFilterError"], body._tag)
      }
    })
  )

  it.effect("a filter by a day at the edge of the calendar is a 200 or a 400, never a 500", () =>
    Effect.gen(function* () {
      yield* create()
      for (const path of ["/v1/locations", "/v1/api-keys"]) {
        for (const operator of ["equals", "gt", "gte", "lt", "lte"]) {
          for (const day of ["0000-01-01", "0000-12-31", "0001-01-01", "9999-12-31"]) {
            for (const value of [day, `${day}T00:00:00.000Z`]) {
              const { body, status } = yield* send("GET", `${path}?filter=createdAt:${operator}:${value}`)
              const isOutside = day.startsWith("0000")
              assert.include(isOutside ? [200, 400] : [200], status, `${path} ${operator} ${value}`)
              if (status !== 200) continue
              const all = operator.startsWith(day.startsWith("9") ? "lt" : "gt")
              assert.strictEqual(body.pagination.total > 0, all, `${path} ${operator} ${value}`)
            }
          }
        }
      }
    })
  )

  it.effect("the total is exact after concurrent creations, conflicts and deletions", () =>
    Effect.gen(function* () {
      const totalOf = Effect.map(list("limit=1"), ({ body }) => body.pagination.total as number)
      const before = yield* totalOf
      const doomed = yield* Effect.replicateEffect(create(), 20, { concurrency: 10 })
      assert.strictEqual(yield* totalOf, before + 20)
      const body = { name: "a", identifier: unique("same") }
      yield* Effect.all(
        [
          ...doomed.map((uuid) => send("DELETE", `/v1/locations/${uuid}`)),
          ...doomed.map((uuid) => send("DELETE", `/v1/locations/${uuid}`)),
          ...Array.from({ length: 30 }, () => create()),
          ...Array.from({ length: 10 }, () => send("POST", "/v1/locations", { body }))
        ],
        { concurrency: 25 }
      )
      assert.strictEqual(yield* totalOf, before + 31)
      assert.strictEqual((yield* walk("sortBy=name", 7)).length, before + 31)
      assert.strictEqual((yield* list("filter=createdAt:gte:2000-01-01")).body.pagination.total, before + 31)
    })
  )
})
