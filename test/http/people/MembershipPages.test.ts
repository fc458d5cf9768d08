import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { client, unique } from "../../support/requests/Requests.ts"

const orders = [
  { sortBy: "name", sortOrder: "asc" },
  { sortBy: "name", sortOrder: "desc" },
  { sortBy: "locale", sortOrder: "desc" }
] as const

layer(TestServer.layer(), { excludeTestServices: true })("Pages of memberships", (it) => {
  it.effect("pages of members in both orders, before and after the middle, are slices of the whole list", () =>
    Effect.gen(function* () {
      const { groups, locations } = yield* client
      const names = Array.from({ length: 23 }, (_, index) => `Branch ${String(index % 9)}`)
      const create = (name: string) =>
        Effect.map(locations.create({ payload: { name, identifier: unique() } }), ({ uuid }) => uuid)
      const members = yield* Effect.forEach(names, create)
      const others = yield* Effect.forEach(names, create)
      const { uuid } = yield* groups.create({ payload: { name: unique("group"), locations: members } })
      yield* groups.create({ payload: { name: unique("group"), locations: [...others, members[0]!] } })
      for (const order of orders) {
        const read = (limit: number, page = 1) =>
          groups.listLocations({ params: { uuid }, query: { ...order, limit, page } })
        const whole = (yield* read(500)).data.map((location) => location.uuid)
        assert.sameMembers(whole, members)
        const pages = yield* Effect.forEach([1, 2, 3, 4, 5, 6], (page) => read(4, page))
        assert.deepStrictEqual(
          pages.flatMap(({ data }) => data.map((location) => location.uuid)),
          whole
        )
        for (const { pagination } of pages) assert.deepInclude(pagination, { total: 23, pageCount: 6 })
        assert.deepStrictEqual((yield* read(4, 7)).data, [])
      }
    })
  )
})
