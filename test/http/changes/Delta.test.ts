import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import { create } from "../../support/changes/Feed.ts"
import { changedBy, end, listed, Mirror, page, rest, sealAll } from "../../support/changes/Mirror.ts"
import { expectError, send, unique } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"
import { waitsForLargePages } from "../../support/Turns.ts"

const resources = ["users", "locations", "groups", "products", "posts", "assets", "meta-tags", "asset-categories"]

const location = (name = "Branch") => create("locations", { name, identifier: unique("l") })
const rename = (uuid: string, name: string) => send("PATCH", `/v1/locations/${uuid}`, { body: { name } })

const locales = "nl en de fr es it pt sv da fi pl cs sk hu ro bg el et lv lt".split(" ")
const translations = locales.map((locale) => ({ locale, name: "Large", description: "x".repeat(10_000) }))

/** Creates products of 200 kB. */
const largeProducts = (count: number) =>
  Effect.replicateEffect(
    Effect.suspend(() => create("products", { type: "default", name: "Large", identifier: unique("p"), translations })),
    count
  )

layer(TestServer.layer(), { excludeTestServices: true })("The delta of a resource", (it) => {
  it.effect("begins with every record, and goes on with those that changed, as they are now", () =>
    Effect.gen(function* () {
      const [one, two, three] = [yield* location("1"), yield* location("2"), yield* location("3")]
      const mirror = new Mirror("locations", { limit: 2 })
      yield* mirror.toEnd
      assert.deepStrictEqual(mirror.records, yield* listed("locations"))
      yield* rename(one, "1b")
      yield* rename(two, "2b")
      yield* rename(one, "1c")
      yield* send("DELETE", `/v1/locations/${three}`)
      const four = yield* location("4")
      yield* sealAll
      const { data } = yield* rest("locations", mirror.cursor)
      const names = data.map(({ deleted, record, uuid }) => [uuid, deleted ?? record?.["name"]])
      assert.deepStrictEqual(names, [
        [one, "1c"],
        [two, "2b"],
        [three, true],
        [four, "4"]
      ])
      yield* mirror.toEnd
      assert.deepStrictEqual(mirror.records, yield* listed("locations"))
    })
  )

  it.effect.each(resources)("of %s is empty at its end, and its cursor stays there", (resource) =>
    Effect.gen(function* () {
      const cursor = yield* end(resource)
      const { data, more } = yield* page(resource, cursor)
      assert.deepStrictEqual([data, more], [[], false])
    })
  )

  it.effect("returns a record that changes several times between two pages once, with pages of one record too", () =>
    Effect.gen(function* () {
      const [one, two] = [yield* location(), yield* location()]
      const cursor = yield* end("locations")
      for (const name of ["a", "b", "c"]) {
        yield* rename(one, name)
        yield* rename(two, name)
        yield* sealAll
      }
      const { data } = yield* rest("locations", cursor, { limit: 1 })
      assert.deepStrictEqual(
        data.map(({ record, uuid }) => [uuid, record?.["name"]]),
        [
          [one, "c"],
          [two, "c"]
        ]
      )
    })
  )

  it.effect("returns what changes while its pages are read", () =>
    Effect.gen(function* () {
      const uuids = yield* Effect.forEach(["1", "2", "3", "4"], location)
      const mirror = new Mirror("locations", { limit: 1 })
      for (const [turn, uuid] of uuids.entries()) {
        yield* mirror.step
        yield* rename(uuid, `${turn} again`)
        yield* rename(uuids[0]!, `first ${turn}`)
        yield* sealAll
      }
      yield* mirror.toEnd
      assert.deepStrictEqual(mirror.records, yield* listed("locations"))
    })
  )

  it.effect("leaves nothing out when a page comes from a replica that is further behind than the one before", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      yield* location()
      const uuid = yield* location("Before")
      yield* sealAll
      yield* rename(uuid, "After")
      yield* sealAll
      /** Shows the state before the last event, or that after it. */
      const show = (name: string, moved: number) =>
        pooled.withTransaction(
          Effect.all(
            [
              pooled`select set_config('waypost.trial', 'on', true)`,
              pooled`update locations set name = ${name} where uuid = ${uuid}`,
              pooled`update event_log set position = position + ${moved}::int`
            ],
            { discard: true }
          )
        )
      const mirror = new Mirror("locations", { limit: 1 })
      const positions: Array<bigint> = []
      const step = Effect.tap(mirror.step, () =>
        Effect.sync(() => positions.push(Buffer.from(mirror.cursor, "base64url").readBigUInt64BE(16)))
      )
      yield* step
      assert.isFalse(mirror.records.has(uuid))
      yield* show("Before", -1)
      yield* Effect.repeat(step, { until: (more) => !more })
      assert.deepInclude(mirror.records.get(uuid), { name: "Before" })
      yield* show("After", 1)
      yield* Effect.repeat(step, { until: (more) => !more })
      assert.deepStrictEqual(mirror.records, yield* listed("locations"))
      // What restores a backup that ends before a change of the copy recognizes its cursor.
      assert.deepStrictEqual(
        positions,
        positions.toSorted((a, b) => Number(a - b))
      )
    })
  )

  it.effect("ends a page at 8 MiB, and has at least one record", () =>
    Effect.gen(function* () {
      const cursor = yield* end("products")
      yield* largeProducts(50)
      yield* sealAll
      const first = yield* page("products", cursor)
      assert.isTrue(first.more && first.data.length < 50 && first.data.length > 30, String(first.data.length))
      assert.isTrue(Buffer.byteLength(JSON.stringify(first.data)) <= 8 * 1024 * 1024)
      assert.strictEqual((yield* rest("products", first.cursor)).data.length, 50 - first.data.length)
    })
  )

  it.effect("waits for its turn among large pages only if a page has more than 2 MiB, whatever the limit", () =>
    Effect.gen(function* () {
      const cursor = yield* end("products")
      yield* largeProducts(15)
      yield* sealAll
      assert.isFalse(yield* waitsForLargePages(page("locations", "", { limit: 500 }), 240_000))
      assert.isFalse(yield* waitsForLargePages(page("products", cursor, { limit: 5 }), 240_000))
      assert.isTrue(yield* waitsForLargePages(page("products", cursor)))
      const { data, more } = yield* page("products", cursor)
      assert.deepStrictEqual([data.length, more], [15, false])
      const { pooled } = yield* Sql
      const begin = yield* end("meta-tags")
      const tag = yield* create("meta-tags", { key: "large", type: "select" })
      // Labels in five locales make 3 MiB, more than one request can send.
      yield* pooled`
        update meta_tag_definitions set options = (
          select jsonb_agg(jsonb_build_object('uuid', gen_random_uuid(), 'key', 'o' || n, 'position', n, 'active', true, 'translations', (
              select jsonb_agg(jsonb_build_object('locale', locale, 'label', repeat('a', 100)))
                from unnest('{nl,en,de,fr,es}'::text[]) locale)))
            from generate_series(1, 5000) n) where uuid = ${tag}`
      yield* sealAll
      assert.isTrue(yield* waitsForLargePages(page("meta-tags", begin)))
      assert.lengthOf((yield* page("meta-tags", begin)).data, 1)
    })
  )

  it.effect("the delta of a resource has cursors of its own", () =>
    Effect.gen(function* () {
      const cursor = yield* end("locations")
      const feed = (yield* send("GET", "/v1/events?limit=1")).body.cursor
      for (const path of [`users/delta?after=${cursor}`, `events?after=${cursor}`, `locations/delta?after=${feed}`]) {
        const { issues } = expectError(yield* send("GET", `/v1/${path}`), 400, "InvalidRequestError", path)
        assert.strictEqual(issues[0].path, "after")
      }
    })
  )

  it.effect.each(["0", "501", "x"])("rejects the limit %s", (limit) =>
    Effect.gen(function* () {
      expectError(yield* send("GET", `/v1/locations/delta?limit=${limit}`), 400, "InvalidRequestError")
    })
  )

  it.effect("leaves a user out whose relations changed, for a key that does not see them", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const users = yield* key(["read:users"])
      const both = yield* key(["read:users", "read:groups"])
      const user = yield* create("users", { username: unique("u"), email: `${unique("u")}@example.com` })
      const group = yield* create("groups", { name: unique("g") })
      const join = (groups: ReadonlyArray<string>) => send("PUT", `/v1/users/${user}/groups`, { body: { groups } })
      assert.deepStrictEqual(yield* changedBy("users", join([group]), users), [])
      assert.deepStrictEqual(yield* changedBy("users", join([]), both), [user])
    })
  )
})
