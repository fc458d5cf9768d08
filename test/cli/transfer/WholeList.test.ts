import { assert, layer } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { groups, locations } from "../../../src/cli/transfer/Resources.ts"
import * as WholeList from "../../../src/cli/transfer/WholeList.ts"
import { InvalidRequestError } from "../../../src/domain/write/RequestErrors.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { randomOf } from "../../support/Random.ts"
import { client, send, unique } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"

const execute = (statement: string) =>
  Effect.flatMap(Sql, ({ pooled }) => pooled.unsafe<{ readonly uuid: string }>(statement))

/** Inserts locations that were created at a few points in time, many at each. */
const insert = (count: number, created: string) =>
  execute(`insert into locations (uuid, name, identifier, postal_codes, created_at)
    select gen_random_uuid(), 'Branch', gen_random_uuid()::text, '{}', ${created} from generate_series(1, ${count}) i`)

const stored = Effect.map(execute("select uuid from locations order by created_at, uuid"), (rows) =>
  rows.map(({ uuid }) => uuid)
)

const tooMuch = InvalidRequestError.of([{ in: "query", path: "limit", code: "tooMuch", message: "Too much" }])

/** Reads the list while records are deleted and created before each request, from pages of at most `most` records. */
const readWhileChanged = Effect.fnUntraced(function* (seed: number, most: number) {
  const random = randomOf(seed)
  const services = yield* Effect.context<Sql>()
  const list = locations.list(yield* client)
  let requests = 0
  const change = Effect.gen(function* () {
    requests++
    if (requests % 3 !== 0 || requests > 60) return
    // Of the oldest more than of the others, at times most of them.
    const share = random() < 0.2 ? 0.5 : 0.02
    yield* execute(`delete from locations where uuid in (select uuid from
      (select uuid, row_number() over (order by created_at, uuid) as n, count(*) over () as total from locations) t
      where n <= ${share} * total and random() < 0.9 or random() < 0.01)`)
    yield* insert(2, "now()")
  }).pipe(Effect.orDie, Effect.provideContext(services))
  const changing: typeof list = (query) =>
    query.limit > most ? Effect.fail(tooMuch) : Effect.andThen(change, list(query))
  const before = yield* stored
  const rows = yield* Stream.runCollect(WholeList.read(locations, changing, []))
  const read = rows.map(({ uuid }) => String(uuid))
  const after = new Set(yield* stored)
  return { before, read, staying: before.filter((uuid) => after.has(uuid)) }
})

layer(TestServer.layer(), { excludeTestServices: true })("reading a whole list", (it) => {
  const cases: ReadonlyArray<readonly [number, number, number]> = [
    [1, 500, 1500],
    [2, 500, 1500],
    [3, 100, 700],
    [4, 10, 300],
    [5, 3, 120],
    [6, 2, 90],
    [7, 1, 60]
  ]
  it.effect.each(cases)(
    "every record that stays is read once while others change (seed %d, pages of %d)",
    ([seed, most, count]) =>
      Effect.gen(function* () {
        yield* execute("delete from locations")
        yield* insert(count, `timestamptz '2020-01-01' + i / ${Math.ceil(count / 3)} * interval '1 second'`)
        const { before, read, staying } = yield* readWhileChanged(seed, most)
        assert.isAtMost(staying.length, before.length - 5)
        assert.strictEqual(new Set(read).size, read.length)
        const found = new Set(read)
        assert.deepStrictEqual(
          staying.filter((uuid) => !found.has(uuid)),
          []
        )
      })
  )

  it.effect("an unchanged list of any length is read in its order, also in pages of any size", () =>
    Effect.gen(function* () {
      const whole = locations.list(yield* client)
      for (const count of [0, 1, 2, 5, 6, 30]) {
        yield* execute("delete from locations")
        yield* insert(count, "now()")
        for (const most of [1, 2, 3, 5, 500]) {
          const list: typeof whole = (query) => (query.limit > most ? Effect.fail(tooMuch) : whole(query))
          const totals: Array<number> = []
          const rows = yield* Stream.runCollect(WholeList.read(locations, list, [], (total) => void totals.push(total)))
          assert.deepStrictEqual(
            rows.map(({ uuid }) => uuid),
            yield* stored,
            `${count} in pages of ${most}`
          )
          assert.deepStrictEqual(totals, [count])
        }
      }
    })
  )

  it.effect("a record that is too large for a page of its own is reported", () =>
    Effect.gen(function* () {
      const failure = yield* Effect.flip(Stream.runDrain(WholeList.read(locations, () => Effect.fail(tooMuch), [])))
      assert.strictEqual(failure, tooMuch)
    })
  )

  it.effect("a whole list has groups with more members than a file may name", () =>
    Effect.gen(function* () {
      yield* send("POST", "/v1/groups", { body: { name: unique("Group") } })
      const users = Array.from({ length: 10_001 }, (_, index) => `user-${index}`)
      const list = groups.list(yield* client)
      const large: typeof list = (query) =>
        Effect.map(list(query), (page) => ({ ...page, data: page.data.map((group) => ({ ...Object(group), users })) }))
      const rows = yield* Stream.runCollect(WholeList.read(groups, large, []))
      assert.deepStrictEqual(
        rows.map((group) => group["users"]),
        [users]
      )
    })
  )
})
