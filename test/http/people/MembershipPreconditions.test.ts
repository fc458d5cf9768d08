import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import * as TestServer from "../../support/TestServer.ts"
import { expectError, send, unique, unknownUuid } from "../../support/requests/Requests.ts"

const kinds = ["users", "locations", "groups"] as const
type Kind = (typeof kinds)[number]
const directions = kinds.flatMap((owner) =>
  kinds.filter((member) => member !== owner).map((member) => ({ owner, member }))
)

const create = (kind: Kind) =>
  Effect.gen(function* () {
    const value = unique(kind)
    const body = {
      users: { username: value, email: `${value}@example.com` },
      locations: { identifier: value, name: "Branch" },
      groups: { name: value }
    }[kind]
    const answer = yield* send("POST", `/v1/${kind}`, { body })
    return (answer.body.data?.uuid as string) ?? assert.fail(answer.text)
  })

/** A record without members, records that can be its members, and its relation writes. */
const stage = Effect.fnUntraced(function* (owner: Kind, member: Kind, count: number) {
  const [uuid, all] = [yield* create(owner), yield* Effect.replicateEffect(create(member), count)]
  const path = `/v1/${owner}/${uuid}/${member}`
  const get = (query = "", headers = {}) => send("GET", `${path}?${query}`, { headers })
  const tagOf = (query = "") => Effect.map(get(query), ({ headers }) => headers.get("etag")!)
  const members = Effect.map(get("limit=500"), ({ body }) =>
    (body.data as ReadonlyArray<{ readonly uuid: string }>).map((record) => record.uuid)
  )
  const put = (uuids: ReadonlyArray<string>, tag: string) =>
    send("PUT", path, { body: { [member]: uuids }, headers: { "if-match": tag } })
  return { all, get, members, path, put, tagOf, uuid }
})

layer(TestServer.layer(), { excludeTestServices: true })("Preconditions of memberships", (it) => {
  it.effect.each(directions)(
    "of two replacements of the $member of $owner with the same If-Match the second is a 412",
    ({ member, owner }) =>
      Effect.gen(function* () {
        const { all, members, path, put, tagOf } = yield* stage(owner, member, 3)
        const [one, two, three] = all
        const first = yield* tagOf()
        assert.match(first, /^W\/"[\x21\x23-\x7e]+"$/)
        const written = yield* put([one!, two!], first)
        assert.strictEqual(written.status, 200)
        // As many members as before: only the set differs.
        const error = expectError(yield* put([two!, three!], first), 412, "PreconditionFailedError")
        assert.include(error.message, `GET ${path}`)
        assert.sameMembers(yield* members, [one, two])
        const answered = written.headers.get("etag")!
        assert.strictEqual((yield* put([two!, three!], `"other", ${answered}`)).status, 200)
        for (const stale of [first, answered, `"stale"`, ""]) {
          assert.strictEqual((yield* put([one!], stale)).status, 412, stale)
        }
        for (const query of ["limit=1&page=2", "filter=createdAt:gte:2020-01-01", "sortOrder=asc"]) {
          const tag = yield* tagOf(query)
          assert.strictEqual((yield* put([two!, three!], tag)).status, 200, query)
          assert.strictEqual((yield* put([three!, two!], tag.slice("W/".length))).status, 200, query)
        }
        assert.strictEqual((yield* put([], "*")).status, 200)
      })
  )

  it.effect.each(directions)(
    "of concurrent replacements of the $member of $owner with the same If-Match one succeeds",
    ({ member, owner }) =>
      Effect.gen(function* () {
        const { all, members, put, tagOf } = yield* stage(owner, member, 8)
        const tag = yield* tagOf()
        const answers = yield* Effect.forEach(all, (uuid) => put([uuid], tag), { concurrency: "unbounded" })
        assert.sameMembers(
          answers.map(({ status }) => status),
          [200, ...all.slice(1).map(() => 412)]
        )
        const winner = answers.findIndex(({ status }) => status === 200)
        assert.deepStrictEqual(yield* members, [all[winner]])
      })
  )

  it.effect.each(directions)(
    "a change of the $member of $owner from the other side is a 412, and a change of the records is not",
    ({ member, owner }) =>
      Effect.gen(function* () {
        const { all, get, put, tagOf, uuid } = yield* stage(owner, member, 3)
        const [one, two, three] = all
        yield* put([one!, two!], "*")
        const changes = [
          send("PUT", `/v1/${member}/${three}/${owner}`, { body: { [owner]: [uuid] } }),
          send("PUT", `/v1/${member}/${one}/${owner}`, { body: { [owner]: [] } }),
          send("DELETE", `/v1/${member}/${two}`)
        ]
        for (const change of changes) {
          const tag = yield* tagOf()
          assert.strictEqual((yield* change).status, 200)
          expectError(yield* put([], tag), 412, "PreconditionFailedError")
        }
        const tag = yield* tagOf()
        assert.strictEqual((yield* get("", { "if-none-match": tag })).status, 304)
        const name = { users: "firstName", locations: "name", groups: "description" }[member]
        yield* send("PATCH", `/v1/${member}/${three}`, { body: { [name]: "Changed" } })
        const changed = yield* get("", { "if-none-match": tag })
        assert.strictEqual(changed.status, 200)
        assert.notStrictEqual(changed.headers.get("etag"), tag)
        assert.strictEqual((yield* put([], tag)).status, 200)
      })
  )

  it.effect.each(directions)("the tag of $owner does not name their $member: a 412", ({ member, owner }) =>
    Effect.gen(function* () {
      const { all, put, uuid } = yield* stage(owner, member, 1)
      const tag = (yield* send("GET", `/v1/${owner}/${uuid}`)).headers.get("etag")!
      expectError(yield* put(all, tag), 412, "PreconditionFailedError")
      const missing = { headers: { "if-match": tag }, body: { [member]: all } }
      assert.strictEqual((yield* send("PUT", `/v1/${owner}/${unknownUuid}/${member}`, missing)).status, 404)
    })
  )

  it.effect.each(directions)(
    "the tag of a list of the $member of $owner with fields or include is for If-None-Match only: a 412",
    ({ member, owner }) =>
      Effect.gen(function* () {
        const { all, get, members, put, tagOf } = yield* stage(owner, member, 2)
        yield* put(all, "*")
        for (const query of ["fields=uuid", `include=${owner}`, `fields=uuid,${owner}.uuid&include=${owner}`]) {
          const tag = yield* tagOf(query)
          assert.strictEqual((yield* get(query, { "if-none-match": tag })).status, 304, query)
          expectError(yield* put([], tag), 412, "PreconditionFailedError")
        }
        assert.sameMembers(yield* members, all)
        assert.strictEqual((yield* put([], yield* tagOf())).status, 200)
      })
  )

  it.effect("the set of the members of a group that is stored is the one of its rows", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      assert.deepStrictEqual(
        yield* pooled`select uuid from groups g
          where user_set <> coalesce((select bit_xor(uuid_hash_extended(user_uuid, 0)) from user_groups where group_uuid = g.uuid), 0)
            or location_set <> coalesce((select bit_xor(uuid_hash_extended(location_uuid, 0)) from group_locations where group_uuid = g.uuid), 0)`,
        []
      )
      assert.notDeepEqual(yield* pooled`select distinct user_set from groups where user_count > 0`, [])
    })
  )
})
