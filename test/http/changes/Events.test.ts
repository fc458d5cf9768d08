import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import { create, end, having, page } from "../../support/changes/Feed.ts"
import { eventually } from "../../support/Until.ts"
import { expectError, problemsOf, send, unique, unknownUuid } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"
import { waitsForLargePages } from "../../support/Turns.ts"

const location = Effect.suspend(() => create("locations", { name: "Branch", identifier: unique("l") }))

/** A location whose creation the log has. */
const logged = Effect.tap(location, (uuid) => having(1, `/v1/locations/${uuid}/history`))

/** All events of a feed, read by pages of so many. */
const all = Effect.fnUntraced(function* (query: string, limit: number) {
  const read: Array<string> = []
  let [after, more] = ["", true]
  while (more) {
    const part = yield* page(`/v1/events?${query}&limit=${limit}&after=${after}`)
    assert.isAtMost(part.data.length, limit)
    read.push(...part.data.map(({ id }) => id))
    ;[after, more] = [part.cursor, part.more]
  }
  return read
})

layer(TestServer.layer(), { excludeTestServices: true })("the feed of a log without events", (it) => {
  it.effect("the feed of a log without events has a cursor in both orders behind which the first event comes", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      // The first key is an event.
      yield* eventually("the log is sealed", pooled`select 1 from pending_changes`, (rows) => rows.length === 0)
      yield* pooled`truncate events, event_links`
      yield* pooled`update event_log set position = 0`
      const cursors = [yield* page("/v1/events?order=desc"), yield* page("/v1/events")].map(({ cursor }) => cursor)
      const uuid = yield* logged
      for (const cursor of cursors) {
        const { data } = yield* page(`/v1/events?after=${cursor}`)
        assert.deepStrictEqual(
          data.map(({ record }) => record.uuid),
          [uuid]
        )
      }
    })
  )
})

layer(TestServer.layer(), { excludeTestServices: true })("the feed of events", (it) => {
  it.effect("the feed of events has every event once in both orders, whatever the size of its pages", () =>
    Effect.gen(function* () {
      yield* logged
      const begin = yield* end
      yield* Effect.replicateEffect(location, 10, { concurrency: 4 })
      const { data } = yield* having(10, `/v1/events?after=${begin}`)
      const ids = data.map(({ id }) => id)
      for (const limit of [1, 3, 500]) {
        assert.deepStrictEqual((yield* all("order=asc", limit)).slice(-10), ids)
        assert.deepStrictEqual((yield* all("order=desc", limit)).slice(0, 10), ids.toReversed())
      }
    })
  )

  it.effect("filters by type, record, actor and time; `since` is inclusive and `until` exclusive", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* logged, yield* logged]
      yield* send("DELETE", `/v1/locations/${one}`)
      const { data } = yield* having(2, `/v1/events?record=${one}`)
      const [created, deleted] = data as ReadonlyArray<(typeof data)[number] & { readonly occurredAt: string }>
      const typesOf = (query: string) =>
        Effect.map(page(`/v1/events?record=${one}&${query}`), (found) => found.data.map(({ type }) => type))
      assert.deepStrictEqual(yield* typesOf("types=*.deleted"), ["location.deleted"])
      assert.deepStrictEqual(yield* typesOf("types=user.*"), [])
      assert.deepStrictEqual(yield* typesOf(`since=${deleted!.occurredAt}`), ["location.deleted"])
      assert.deepStrictEqual(yield* typesOf(`until=${deleted!.occurredAt}`), ["location.created"])
      assert.deepStrictEqual(yield* typesOf(`order=desc&since=${created!.occurredAt}`), [
        "location.deleted",
        "location.created"
      ])
      assert.deepStrictEqual(yield* typesOf(`actor=${other}`), [])
      const actor = (yield* send("GET", "/v1/me")).body.data.uuid
      assert.deepStrictEqual(yield* typesOf(`actor=${actor}`), ["location.created", "location.deleted"])
    })
  )

  it.effect("finds an event by a relation only for keys that may read the other side", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const user = yield* create("users", { username: unique("u"), email: `${unique("u")}@example.com` })
      const branch = yield* location
      const begin = yield* end
      const body = { name: unique("Board"), users: [user], locations: [branch] }
      const group = yield* create("groups", body)
      yield* having(1, `/v1/groups/${group}/history`)
      yield* send("PATCH", `/v1/groups/${group}`, { body: { name: unique("Board"), users: [], locations: [] } })
      yield* having(2, `/v1/groups/${group}/history`)
      yield* send("PATCH", `/v1/groups/${group}`, { body })
      yield* having(3, `/v1/groups/${group}/history`)
      yield* send("DELETE", `/v1/groups/${group}`)
      yield* having(4, `/v1/groups/${group}/history`)
      yield* send("POST", `/v1/groups/${group}/restore`, { body: {} })
      const ofGroup = yield* having(5, `/v1/groups/${group}/history?order=asc`)
      const all = ofGroup.data.map(({ id }) => id)
      const none = yield* key(["read:events", "read:groups"])
      const users = yield* key(["read:events", "read:groups", "read:users"])
      const both = yield* key(["read:events", "read:groups", "read:users", "read:locations"])
      const found = (record: string, own: string, order = "asc") =>
        Effect.map(page(`/v1/events?record=${record}&types=group.*&order=${order}`, own), ({ data }) =>
          data.map(({ id }) => id)
        )
      for (const own of [none, users, both]) assert.deepStrictEqual(yield* found(group, own), all)
      for (const order of ["asc", "desc"]) {
        const expected = order === "asc" ? all : all.toReversed()
        assert.deepStrictEqual([yield* found(user, none, order), yield* found(branch, none, order)], [[], []])
        assert.deepStrictEqual([yield* found(user, users, order), yield* found(branch, users, order)], [expected, []])
        assert.deepStrictEqual(
          [yield* found(user, both, order), yield* found(branch, both, order)],
          [expected, expected]
        )
      }
      // The cursor does not say where the events are.
      const { pooled } = yield* Sql
      yield* eventually("the log is sealed", pooled`select 1 from pending_changes`, (rows) => rows.length === 0)
      const query = (record: string) => `/v1/events?limit=1&after=${begin}&record=${record}`
      assert.deepStrictEqual(yield* page(query(user), none), yield* page(query(unknownUuid), none))
    })
  )

  it.effect("moves its cursor past events that it leaves out", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const begin = yield* end
      yield* logged
      const own = yield* key(["read:events", "read:users"])
      const { cursor, data } = yield* page(`/v1/events?after=${begin}`, own)
      assert.deepStrictEqual(data, [])
      assert.notStrictEqual(cursor, begin)
      yield* send("POST", "/v1/users", { body: { username: unique("u"), email: `${unique("u")}@example.com` } })
      const found = yield* having(1, `/v1/events?after=${cursor}`, own)
      assert.deepStrictEqual(
        found.data.map(({ type }) => type),
        ["user.created"]
      )
    })
  )

  it.effect("waits for the first event that matches, and at most as long as it is asked to", () =>
    Effect.gen(function* () {
      const begin = yield* end
      const ends = performance.now() + 1000
      const empty = yield* page(`/v1/events?wait=1&types=post.deleted&after=${begin}`)
      assert.deepStrictEqual([empty.data, empty.more], [[], false])
      assert.isAtLeast(performance.now(), ends - 50)
      const waiting = page(`/v1/events?wait=25&types=location.deleted&after=${empty.cursor}`)
      const deletes = Effect.tap(logged, (uuid) => send("DELETE", `/v1/locations/${uuid}`))
      const [found, uuid] = yield* Effect.all([waiting, deletes], { concurrency: 2 })
      assert.deepStrictEqual(
        found.data.map(({ record }) => record.uuid),
        [uuid]
      )
    })
  )

  it.effect("rejects waiting in descending order, and values that it does not know", () =>
    Effect.gen(function* () {
      const problems = (query: string) => Effect.map(send("GET", `/v1/events?${query}`), problemsOf)
      const invalid = [400, "InvalidRequestError"]
      assert.deepStrictEqual(yield* problems("wait=1&order=desc"), [...invalid, "wait notAllowed"])
      assert.deepStrictEqual((yield* problems("wait=26")).slice(0, 2), invalid)
      assert.deepStrictEqual((yield* problems("types=shop.created")).slice(0, 2), invalid)
      assert.deepStrictEqual((yield* problems("limit=501")).slice(0, 2), invalid)
      assert.deepStrictEqual(yield* problems("after=AAAA"), [...invalid, "after invalidFormat"])
    })
  )

  it.effect("the feed has no page above 8 MiB and no values of an event above 1 MiB, which its history has", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const begin = yield* end
      const [large, huge] = [900 * 1024, 1100 * 1024]
      const sizes = [...Array.from({ length: 12 }, () => large), huge]
      const uuids = yield* Effect.forEach(sizes, () => location)
      yield* having(sizes.length, `/v1/events?types=location.created&after=${begin}`)
      yield* Effect.forEach(
        uuids,
        (uuid, index) =>
          pooled`update locations set other = jsonb_build_object('extraDna1', repeat('a', ${sizes[index]!}::int))
            where uuid = ${uuid}`,
        { discard: true }
      )
      const last = uuids.at(-1)!
      yield* having(2, `/v1/locations/${last}/history?limit=2`)
      let [after, more, pages] = [begin, true, 0]
      const updated: Array<string> = []
      while (more) {
        const path = `/v1/events?types=location.updated&limit=500&after=${after}`
        const { body, text } = yield* send("GET", path)
        assert.isAtMost(text.length, 8.5 * 1024 * 1024)
        for (const event of body.data) {
          updated.push(event.record.uuid)
          assert.deepStrictEqual(
            [event.truncated, event.changes[0].after === undefined],
            event.record.uuid === last ? [true, true] : [undefined, false]
          )
        }
        ;[after, more, pages] = [body.cursor, body.more, pages + 1]
      }
      assert.deepStrictEqual([updated, pages], [uuids, 2])
      const history = yield* page(`/v1/locations/${last}/history?limit=1`)
      assert.strictEqual(String(history.data[0]!.changes[0]!.after).length, huge)
    })
  )

  it.effect("ends a page before an event that would take it above 8 MiB, and has one of 17 MiB by itself", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const uuid = yield* logged
      for (const mebibytes of [3, 6, 11]) {
        yield* pooled`update locations set other = jsonb_build_object('extraDna1', repeat('a', ${mebibytes * 1024 ** 2}::int))
          where uuid = ${uuid}`
        yield* eventually("the log is sealed", pooled`select 1 from pending_changes`, (rows) => rows.length === 0)
      }
      yield* pooled`update locations set other = null where uuid = ${uuid}`
      yield* logged
      for (const path of [`/v1/locations/${uuid}/history?order=asc`, `/v1/events?record=${uuid}`]) {
        const sizes: Array<number> = []
        let [after, more] = ["", true]
        while (more) {
          const part = yield* page(`${path}&limit=500&after=${after}`)
          if (part.data.length > 0) sizes.push(part.data.length)
          ;[after, more] = [part.cursor, part.more]
        }
        // The creation and 3 MiB, then 9 MiB before and after together, 17 MiB, and the 11 MiB that are removed.
        assert.deepStrictEqual(sizes, [2, 1, 1, 1], path)
      }
    })
  )

  it.effect(
    "waits for its turn among large pages only if a page or its first event has more than 2 MiB of values",
    () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const [parts, whole] = [yield* logged, yield* logged]
        const grow = (uuid: string, kibibytes: number) =>
          Effect.andThen(
            pooled`update locations set other = jsonb_build_object('extraDna1', repeat('a', ${kibibytes * 1024}::int))
            where uuid = ${uuid}`,
            eventually("the log is sealed", pooled`select 1 from pending_changes`, (rows) => rows.length === 0)
          )
        const begin = yield* end
        for (const kibibytes of [700, 500, 700]) yield* grow(parts, kibibytes)
        yield* grow(whole, 2200)
        const waits = (path: string, millis?: number) => waitsForLargePages(page(path), millis)
        for (const path of [`/v1/locations/${parts}/history?order=asc`, `/v1/events?record=${parts}`]) {
          assert.isFalse(yield* waits(`${path}&limit=3`, 240_000), path)
          assert.isTrue(yield* waits(path), path)
          assert.lengthOf((yield* page(path)).data, 4, path)
        }
        const ofWhole = `/v1/events?record=${whole}&after=${begin}`
        for (const path of [`/v1/locations/${whole}/history?limit=1`, ofWhole, `${ofWhole}&wait=1`]) {
          assert.isTrue(yield* waits(path), path)
          assert.lengthOf((yield* page(path)).data, 1, path)
        }
      })
  )

  it.effect("rejects a cursor of events that were pruned with 410, and names the oldest that is valid", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const first = yield* page("/v1/events?limit=1")
      yield* logged
      yield* pooled`update event_log set pruned_position = 3`
      const answer = yield* send("GET", `/v1/events?after=${first.cursor}`)
      const { oldest } = expectError(answer, 410, "CursorExpiredError")
      const rest = yield* page(`/v1/events?after=${oldest}`)
      assert.deepStrictEqual(rest.data[0]!.id, (yield* page("/v1/events")).data[0]!.id)
    })
  )
})
