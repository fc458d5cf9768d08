import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { create, send, unique } from "../../support/requests/Requests.ts"

interface Page {
  readonly data: ReadonlyArray<{ readonly uuid: string; readonly name: string }>
  readonly pagination: { readonly total: number; readonly pageCount: number }
}

layer(TestServer.layer(), { excludeTestServices: true })("Pages of memberships", (it) => {
  it.effect("pages of members in both orders, before and after the middle, are slices of the whole list", () =>
    Effect.gen(function* () {
      const names = Array.from({ length: 23 }, (_, index) => `Branch ${String(index % 9)}`)
      const members = yield* Effect.forEach(names, (name) => create({ name }))
      const others = yield* Effect.forEach(names, (name) => create({ name }))
      const group = (locations: ReadonlyArray<string>) =>
        Effect.map(
          send("POST", "/v1/groups", { body: { name: unique("group"), locations } }),
          ({ body }) => body.data.uuid as string
        )
      const [uuid] = [yield* group(members), yield* group([...others, members[0]!])]
      const read = (query: string) =>
        Effect.map(send("GET", `/v1/groups/${uuid}/locations?${query}`), ({ body }) => body as Page)
      for (const order of ["sortBy=name&sortOrder=asc", "sortBy=name&sortOrder=desc", "sortBy=locale&sortOrder=desc"]) {
        const whole = (yield* read(`${order}&limit=500`)).data.map((location) => location.uuid)
        assert.sameMembers(whole, members)
        const pages = yield* Effect.forEach([1, 2, 3, 4, 5, 6], (page) => read(`${order}&limit=4&page=${page}`))
        assert.deepStrictEqual(
          pages.flatMap(({ data }) => data.map((location) => location.uuid)),
          whole
        )
        for (const { pagination } of pages) assert.deepInclude(pagination, { total: 23, pageCount: 6 })
        assert.deepStrictEqual((yield* read(`${order}&limit=4&page=7`)).data, [])
      }
    })
  )
})
