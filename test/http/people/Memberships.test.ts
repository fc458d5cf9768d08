import { assert, describe, layer } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import * as Postgres from "../../support/Postgres.ts"
import * as TestServer from "../../support/TestServer.ts"
import { createAll } from "../../support/requests/BulkRequests.ts"
import { expectError, send, unique, unknownUuid, unknownUuids } from "../../support/requests/Requests.ts"

const kinds = ["users", "locations", "groups"] as const
type Kind = (typeof kinds)[number]
const directions = kinds.flatMap((owner) =>
  kinds.filter((member) => member !== owner).map((member) => ({ owner, member }))
)
const pairs = directions.filter(({ member, owner }) => owner < member)
const naming = { users: "username", locations: "identifier", groups: "name" }
const notFound = { users: "UserNotFoundError", locations: "LocationNotFoundError", groups: "GroupNotFoundError" }
const columns = { users: "user_uuid", locations: "location_uuid", groups: "group_uuid" }
const tableOf = (...two: readonly [Kind, Kind]) =>
  !two.includes("groups") ? "user_locations" : two.includes("users") ? "user_groups" : "group_locations"
type Uuids = ReadonlyArray<string>

const some = (kind: Kind, count: number) =>
  Effect.suspend(() => {
    const records = Array.from({ length: count }, () => {
      const value = unique(kind)
      const rest = { users: { email: `${value}@example.com` }, locations: { name: "Branch" }, groups: {} }[kind]
      return { [naming[kind]]: value, ...rest }
    })
    return createAll(kind, records)
  })
const create = (kind: Kind) => Effect.map(some(kind, 1), ([uuid]) => uuid!)
const put = (owner: Kind, uuid: string, member: Kind, uuids: Uuids, key?: string) =>
  send("PUT", `/v1/${owner}/${uuid}/${member}`, { body: { [member]: uuids }, ...(key === undefined ? {} : { key }) })
const list = (owner: Kind, uuid: string, member: Kind, query = "limit=500") =>
  Effect.map(send("GET", `/v1/${owner}/${uuid}/${member}?${query}`), ({ body }) => ({
    uuids: body.data.map((record: { readonly uuid: string }) => record.uuid) as Uuids,
    pagination: body.pagination
  }))
const members = (owner: Kind, uuid: string, member: Kind) =>
  Effect.map(list(owner, uuid, member), ({ uuids }) => uuids.toSorted())
const query = <A extends object>(text: string, values: ReadonlyArray<unknown> = []) =>
  Effect.flatMap(Sql, ({ pooled }) => pooled.unsafe<A>(text, values))

/** Orphaned join rows, and groups whose counts differ from the join tables. */
const inconsistent = `select user_uuid from user_locations where user_uuid not in (select uuid from users)
    or location_uuid not in (select uuid from locations)
  union all select user_uuid from user_groups where user_uuid not in (select uuid from users)
    or group_uuid not in (select uuid from groups)
  union all select group_uuid from group_locations where group_uuid not in (select uuid from groups)
    or location_uuid not in (select uuid from locations)
  union all select uuid from groups
    left join (select group_uuid, count(*) from user_groups group by 1) users (uuid, total) using (uuid)
    left join (select group_uuid, count(*) from group_locations group by 1) locations (uuid, total) using (uuid)
    where user_count <> coalesce(users.total, 0) or location_count <> coalesce(locations.total, 0)`
const inconsistencies = query(inconsistent)
const statuses = (answers: ReadonlyArray<{ readonly status: number }>) =>
  [...new Set(answers.map(({ status }) => status))].toSorted((a, b) => a - b)

layer(TestServer.layer(), { excludeTestServices: true })("Memberships", (it) => {
  it.effect.each(directions)(
    "the $member of $owner start empty, and a PUT replaces the whole set, visible from both sides",
    ({ member, owner }) =>
      Effect.gen(function* () {
        const [[one, other], all] = [yield* some(owner, 2), yield* some(member, 4)]
        const empty = yield* list(owner, one!, member, "")
        assert.deepStrictEqual(empty, { uuids: [], pagination: { limit: 25, page: 1, total: 0, pageCount: 0 } })
        for (const set of [all.slice(0, 2), all.slice(1), [], [...all, all[0]!.toUpperCase(), all[1]!]]) {
          const { body, status } = yield* put(owner, one!.toUpperCase(), member, set)
          assert.deepStrictEqual([status, body], [200, { _tag: "Success", data: { uuid: one } }])
          const expected = all.filter((uuid) => set.includes(uuid))
          assert.deepStrictEqual(yield* members(owner, one!, member), expected.toSorted())
          assert.strictEqual((yield* list(owner, one!, member, "limit=1")).pagination.total, expected.length)
          for (const uuid of all) {
            assert.deepStrictEqual(yield* members(member, uuid, owner), expected.includes(uuid) ? [one] : [])
          }
        }
        assert.deepStrictEqual(yield* members(owner, other!, member), [])
        assert.deepStrictEqual(yield* inconsistencies, [])
      })
  )

  it.effect.each(directions)(
    "the $member of $owner are paged, sorted and filtered like any list",
    ({ member, owner }) =>
      Effect.gen(function* () {
        const [uuid, all, [outside]] = [yield* create(owner), yield* some(member, 5), yield* some(member, 1)]
        yield* put(owner, uuid, member, all)
        const name = naming[member]
        const nameOf = (uuid: string) => Effect.map(send("GET", `/v1/${member}/${uuid}`), ({ body }) => body.data[name])
        const names = new Map(
          yield* Effect.forEach(all, (uuid) => Effect.map(nameOf(uuid), (name) => [uuid, name] as const))
        )
        const order = new Intl.Collator("und")
        const sorted = all.toSorted((a, b) => order.compare(names.get(a), names.get(b)))
        for (const [sortOrder, expected] of [
          ["asc", sorted],
          ["desc", sorted.toReversed()]
        ] as const) {
          for (const [page, slice] of [
            [1, [0, 2]],
            [2, [2, 4]],
            [3, [4, 5]],
            [4, [5, 5]],
            [900, [5, 5]]
          ] as const) {
            const answer = yield* list(
              owner,
              uuid,
              member,
              `sortBy=${name}&sortOrder=${sortOrder}&limit=2&page=${page}`
            )
            assert.deepStrictEqual(answer.uuids, expected.slice(...slice))
            assert.deepStrictEqual(answer.pagination, { limit: 2, page, total: 5, pageCount: 3 })
          }
        }
        const filtered = (filter: string) => list(owner, uuid, member, `filter=${filter}`)
        const hit = yield* filtered(`${name}:equals:${names.get(all[2]!)}`)
        assert.deepStrictEqual([hit.uuids, hit.pagination.total], [[all[2]], 1])
        assert.strictEqual((yield* filtered(`${name}:equals:${yield* nameOf(outside!)}`)).pagination.total, 0)
        assert.strictEqual((yield* filtered("createdAt:gte:2000-01-01")).pagination.total, 5)
        assert.strictEqual((yield* send("GET", `/v1/${owner}/${uuid}/${member}?sortBy=nope`)).status, 400)
      })
  )

  it.effect.each(directions)(
    "the list of $member of $owner with a matching If-None-Match is a 304 until the set changes",
    ({ member, owner }) =>
      Effect.gen(function* () {
        const [uuid, all] = [yield* create(owner), yield* some(member, 2)]
        const get = (tag: string) =>
          send("GET", `/v1/${owner}/${uuid}/${member}`, { headers: { "if-none-match": tag } })
        let tag = `"none"`
        for (const set of [[], [all[0]!], [all[1]!], all]) {
          yield* put(owner, uuid, member, set)
          const { headers, status } = yield* get(tag)
          assert.strictEqual(status, 200)
          tag = headers.get("etag") ?? assert.fail("no tag")
          assert.strictEqual((yield* get(tag)).status, 304)
        }
      })
  )

  it.effect.each(directions)(
    "unknown $member or $owner are all listed in the error, and nothing is written",
    ({ member, owner }) =>
      Effect.gen(function* () {
        const [uuid, all] = [yield* create(owner), yield* some(member, 2)]
        yield* put(owner, uuid, member, [all[0]!])
        const many = Array.from(
          { length: 10_000 },
          (_, index) => `${unknownUuid.slice(0, -8)}${String(index).padStart(8, "0")}`
        )
        for (const [sent, expected] of [
          [[unknownUuids[0]!.toUpperCase(), all[1]!, ...unknownUuids.slice(1), unknownUuids[1]!], unknownUuids],
          [many, many]
        ] as const) {
          const body = expectError(yield* put(owner, uuid, member, sent), 404, notFound[member])
          assert.deepStrictEqual(body.uuids.toSorted(), expected)
        }
        for (const response of [
          yield* put(owner, unknownUuid, member, all),
          yield* put(owner, unknownUuid, member, unknownUuids),
          yield* send("GET", `/v1/${owner}/${unknownUuid}/${member}`)
        ]) {
          const body = expectError(response, 404, notFound[owner])
          assert.strictEqual(body.uuid, unknownUuid)
        }
        for (const body of [{}, { [member]: null }, { [member]: [null] }, { [member]: ["x"] }, { [owner]: [] }, []]) {
          assert.strictEqual((yield* send("PUT", `/v1/${owner}/${uuid}/${member}`, { body })).status, 400)
        }
        assert.deepStrictEqual(yield* members(owner, uuid, member), [all[0]])
      })
  )

  it.effect.each(directions)(
    "reading or writing $member of $owner requires the permissions of both",
    ({ member, owner }) =>
      Effect.gen(function* () {
        const { key } = yield* TestServer.TestServer
        const [uuid, all] = [yield* create(owner), yield* some(member, 1)]
        for (const action of ["read", "update"] as const) {
          const required = [`${action}:${owner}`, `${action}:${member}`] as const
          const held = [[], [required[0]], [required[1]], required] as const
          for (const permissions of held) {
            const calling = yield* key(["read:posts", ...permissions])
            const answer =
              action === "read"
                ? yield* send("GET", `/v1/${owner}/${uuid}/${member}`, { key: calling })
                : yield* put(owner, uuid, member, all, calling)
            const missing = required.filter((permission) => !permissions.some((one) => one === permission))
            assert.strictEqual(answer.status, missing.length === 0 ? 200 : 403)
            if (missing.length > 0)
              assert.deepStrictEqual([answer.body.required, answer.body.missing], [required, missing])
          }
        }
      })
  )

  it.effect.each(directions)("replacing the $member of $owner writes only the rows that change", ({ member, owner }) =>
    Effect.gen(function* () {
      const [uuid, all] = [yield* create(owner), yield* some(member, 5)]
      const own = columns[owner]
      const joined = query<{ readonly uuid: string }>(
        `select ${columns[member]}::text as uuid, xmin::text, ctid::text from ${tableOf(owner, member)} where ${own} = $1 order by 1`,
        [uuid]
      )
      const rows = query(
        `select uuid, xmin::text, ctid::text from ${member} where uuid = any ($1::uuid[])
          union all select uuid, xmin::text, ctid::text from ${owner} where uuid = $2 order by 1`,
        [[all[1], all[2]], uuid]
      )
      yield* put(owner, uuid, member, all.slice(0, 3))
      const before = [yield* joined, yield* rows]
      yield* put(owner, uuid, member, all.slice(0, 3).toReversed())
      assert.deepStrictEqual([yield* joined, yield* rows], before)
      yield* put(owner, uuid, member, [all[1]!, all[2]!, all[3]!])
      const kept = (found: ReadonlyArray<{ readonly uuid: string }>) =>
        found.filter(({ uuid }) => [all[1], all[2]].includes(uuid))
      assert.deepStrictEqual(kept(yield* joined), kept(before[0] as never))
      if (owner !== "groups") assert.deepStrictEqual(yield* rows, before[1])
    })
  )

  it.effect.each(directions)(
    "deleting one of the $member of $owner removes it from lists, totals and counts",
    ({ member, owner }) =>
      Effect.gen(function* () {
        const [uuid, all] = [yield* create(owner), yield* some(member, 3)]
        yield* put(owner, uuid, member, all)
        yield* send("DELETE", `/v1/${member}/${all[0]}`)
        const { pagination, uuids } = yield* list(owner, uuid, member)
        assert.deepStrictEqual([pagination.total, uuids.toSorted()], [2, all.slice(1).toSorted()])
        assert.strictEqual((yield* put(owner, uuid, member, all)).body.uuids[0], all[0])
        yield* send("DELETE", `/v1/${owner}/${uuid}`)
        assert.deepStrictEqual(yield* members(member, all[1]!, owner), [])
        assert.deepStrictEqual(yield* inconsistencies, [])
      })
  )

  it.effect.each(directions)(
    "two concurrent replacements of the $member of $owner end as one of the two",
    ({ member, owner }) =>
      Effect.gen(function* () {
        const [uuid, all] = [yield* create(owner), yield* some(member, 6)]
        const sets = [all.slice(0, 4).toSorted(), all.slice(2).toSorted()]
        for (let round = 0; round < 8; round++) {
          const answers = yield* Effect.forEach(sets, (set) => put(owner, uuid, member, set), { concurrency: 2 })
          assert.deepStrictEqual(statuses(answers), [200])
          assert.deepInclude(sets, yield* members(owner, uuid, member))
          if (round % 2 === 0) yield* put(owner, uuid, member, [])
        }
        assert.deepStrictEqual(yield* inconsistencies, [])
      })
  )

  it.effect.each(directions)(
    "replacing the $member of $owner while they are deleted is a 200 or a 404, and leaves no orphan",
    ({ member, owner }) =>
      Effect.gen(function* () {
        for (let round = 0; round < 5; round++) {
          const [owners, all] = [yield* some(owner, 3), yield* some(member, 8)]
          yield* Effect.forEach(owners, (uuid) => put(owner, uuid, member, all.slice(0, 4)))
          const answers = yield* Effect.all(
            all
              .slice(2, 6)
              .flatMap((victim, index) => [
                put(owner, owners[index % 3]!, member, all),
                send("DELETE", `/v1/${member}/${victim}`),
                put(owner, owners[(index + 1) % 3]!, member, all.slice(4))
              ]),
            { concurrency: "unbounded" }
          )
          assert.deepStrictEqual(
            statuses(answers).filter((status) => status !== 404),
            [200]
          )
          for (const { body, status } of answers) if (status === 404) assert.strictEqual(body._tag, notFound[member])
          assert.deepStrictEqual(yield* inconsistencies, [])
        }
      })
  )

  it.effect.each(pairs)(
    "concurrent replacements of $owner and $member from both sides all succeed",
    ({ member, owner }) =>
      Effect.gen(function* () {
        const [owners, all] = [yield* some(owner, 4), yield* some(member, 4)]
        for (let round = 0; round < 5; round++) {
          const answers = yield* Effect.all(
            owners.flatMap((uuid, index) => [
              put(owner, uuid, member, round % 2 === 0 ? all : all.slice(index)),
              put(member, all[index]!, owner, round % 2 === 0 ? owners.slice(index) : owners)
            ]),
            { concurrency: "unbounded" }
          )
          assert.deepStrictEqual(statuses(answers), [200])
          assert.deepStrictEqual(yield* inconsistencies, [])
        }
      })
  )

  it.effect("a replacement that waits for a group delays no replacement of other groups", () =>
    Effect.gen(function* () {
      const [[one, other], [locked, free]] = [yield* some("users", 2), yield* some("groups", 2)]
      const { pooled } = yield* Sql
      const waiting = yield* pooled.withTransaction(
        Effect.gen(function* () {
          yield* query("select from groups where uuid = $1 for update", [locked])
          const waiting = yield* Effect.forkChild(put("users", one!, "groups", [locked!]))
          assert.strictEqual((yield* put("users", other!, "groups", [free!])).status, 200)
          assert.deepStrictEqual(yield* members("users", other!, "groups"), [free])
          assert.isUndefined(waiting.pollUnsafe())
          return waiting
        })
      )
      assert.strictEqual((yield* Fiber.join(waiting)).status, 200)
      assert.deepStrictEqual(yield* members("users", one!, "groups"), [locked])
    })
  )
})

/** Inserts 10,001 records by SQL. */
const fill = Effect.fnUntraced(function* (kind: Kind) {
  const into = {
    users: `users (uuid, username, email, status, role, language_code)
      select gen_random_uuid(), 'u' || i, 'u' || i || '@example.com', 'active', 'ROLE_USER', 'en'`,
    locations: "locations (uuid, name, identifier) select gen_random_uuid(), 'l', 'l' || i",
    groups: "groups (uuid, name) select gen_random_uuid(), 'g' || i"
  }
  const insert = `insert into ${into[kind]} from generate_series(1, 10001) i returning uuid::text`
  const rows = yield* Postgres.execute<{ readonly uuid: string }>(insert)
  return rows.map(({ uuid }) => uuid)
})

/** Tables of which a deletion takes ten seconds. */
const slow = ["groups", "asset_categories", "meta_tag_definitions"] as const
const slowServer = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* query(`create function wait() returns trigger language plpgsql as
      $$ begin perform pg_sleep(10); return null; end $$`)
    for (const table of slow)
      yield* query(`create trigger wait after delete on ${table} for each statement execute function wait()`)
  })
).pipe(
  Layer.provideMerge(TestServer.limited()),
  // A statement has the time of production, and a database that hangs is known as soon.
  Layer.provide([Postgres.patienceBut({ millis: 5000 }), TestServer.patience])
)

// Each waits for its deletion at the same time, on a database of its own.
describe.concurrent("Large memberships that are deleted", () => {
  layer(slowServer, { excludeTestServices: true })("alone", (it) => {
    it.effect(
      "the deletion of a group, an asset category or a meta tag has more time than other statements, and than a database that hangs",
      () =>
        Effect.gen(function* () {
          const bodies = {
            groups: { name: unique("group") },
            asset_categories: { key: "large" },
            meta_tag_definitions: { key: "large", type: "text", translations: [{ locale: "en", name: "Large" }] }
          }
          const paths = { groups: "groups", asset_categories: "asset-categories", meta_tag_definitions: "meta-tags" }
          const remove = Effect.fnUntraced(function* (table: (typeof slow)[number]) {
            const created = yield* send("POST", `/v1/${paths[table]}`, { body: bodies[table] })
            return yield* send("DELETE", `/v1/${paths[table]}/${created.body.data.uuid}`)
          })
          const answers = yield* Effect.forEach(slow, remove, { concurrency: 3 })
          assert.deepStrictEqual(
            answers.map(({ status }) => status),
            [200, 200, 200]
          )
        })
    )
  })

  layer(slowServer, { excludeTestServices: true })("in bulk", (it) => {
    it.effect("groups that are deleted in bulk have as long as their request", () =>
      Effect.gen(function* () {
        const groups = yield* some("groups", 2)
        const operations = groups.map((uuid) => ({ op: "delete", uuid }))
        const { body, text } = yield* send("POST", "/v1/groups/bulk", { body: { operations } })
        assert.deepStrictEqual(body.counts, { 200: 2 }, text)
      })
    )
  })

  layer(slowServer, { excludeTestServices: true })("with a plan", (it) => {
    it.effect("groups that a plan deletes have as long as its application", () =>
      Effect.gen(function* () {
        const prefix = unique("planned")
        for (const name of [`${prefix}-1`, `${prefix}-2`]) yield* send("POST", "/v1/groups", { body: { name } })
        const plans = `/v1/plans?resource=groups&mode=full&filter=name:startsWith:${prefix}`
        const { body } = yield* send("POST", plans, { body: [] })
        assert.strictEqual(body.data.counts.delete, 2)
        const applied = yield* send("POST", `/v1/plans/${body.data.uuid}/apply`, { body: { force: true } })
        assert.strictEqual(applied.status, 200, applied.text)
      })
    )
  })
})

layer(TestServer.layer(), { excludeTestServices: true })("Large memberships", (it) => {
  it.effect.each(kinds)("ten thousand %s are accepted for either owner, and one more is rejected", (member) =>
    Effect.gen(function* () {
      const all = yield* fill(member)
      for (const owner of kinds.filter((kind) => kind !== member)) {
        const uuid = yield* create(owner)
        const { body, status } = yield* put(owner, uuid, member, all)
        assert.deepStrictEqual([status, body.issues?.[0].path], [400, member])
        assert.strictEqual((yield* list(owner, uuid, member, "limit=1")).pagination.total, 0)
        assert.strictEqual((yield* put(owner, uuid, member, all.slice(1))).status, 200)
        assert.strictEqual((yield* list(owner, uuid, member, "limit=1")).pagination.total, 10_000)
        assert.strictEqual((yield* put(owner, uuid, member, all.slice(0, -1))).status, 200)
        assert.strictEqual((yield* put(owner, uuid, member, [all[0]!])).status, 200)
        assert.deepStrictEqual(yield* members(owner, uuid, member), [all[0]])
      }
      // In thousands of groups on a busy machine, that takes long.
      assert.deepStrictEqual(yield* Postgres.execute(inconsistent), [])
    })
  )
})
