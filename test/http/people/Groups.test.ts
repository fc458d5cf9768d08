import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import * as TestServer from "../../support/TestServer.ts"
import {
  create as createLocation,
  expectError,
  send,
  unique,
  unknownUuid,
  unknownUuids
} from "../../support/requests/Requests.ts"

type Fields = Readonly<Record<string, unknown>>

const post = (fields: Fields = {}, key?: string) =>
  send("POST", "/v1/groups", { body: { name: unique("Group"), ...fields }, ...(key === undefined ? {} : { key }) })
const create = (fields: Fields = {}) =>
  Effect.map(post(fields), ({ body, text }) => (body.data?.uuid as string) ?? assert.fail(text))
const read = (uuid: string) => Effect.map(send("GET", `/v1/groups/${uuid}`), ({ body }) => body.data)
const patch = (uuid: string, body: unknown) => send("PATCH", `/v1/groups/${uuid}`, { body })
const createUser = Effect.suspend(() => {
  const username = unique("user")
  const body = { username, email: `${username}@example.com` }
  return Effect.map(send("POST", "/v1/users", { body }), ({ body }) => body.data.uuid as string)
})
const some = <A, E, R>(count: number, one: Effect.Effect<A, E, R>) =>
  Effect.replicateEffect(one, count, { concurrency: 5 })
const membersOf = (uuid: string, kind: "users" | "locations") =>
  Effect.map(
    send("GET", `/v1/groups/${uuid}/${kind}?limit=500`),
    ({ body }) => body.data.map((member: { readonly uuid: string }) => member.uuid).toSorted() as ReadonlyArray<string>
  )
const countsOf = (uuid: string) =>
  Effect.map(read(uuid), ({ locationCount, userCount }) => [userCount, locationCount] as const)
/** Groups whose counts differ from the join tables. */
const miscounted = Effect.flatMap(Sql, ({ pooled }) =>
  pooled.unsafe(`select uuid, user_count, location_count from groups g
    where user_count <> (select count(*) from user_groups where group_uuid = g.uuid)
      or location_count <> (select count(*) from group_locations where group_uuid = g.uuid)`)
)

layer(TestServer.layer(), { excludeTestServices: true })("Groups", (it) => {
  it.effect("a group requires only a name, is read back normalised, and starts without members", () =>
    Effect.gen(function* () {
      const bare = yield* read(yield* create({ name: "  Region North ", description: null, userCount: 7 }))
      const { createdAt, editedAt, uuid, ...rest } = bare
      assert.deepStrictEqual(rest, { name: "Region North", userCount: 0, locationCount: 0 })
      assert.strictEqual(createdAt, editedAt)
      assert.notStrictEqual(uuid, unknownUuid)
      const full = yield* read(yield* create({ name: "Full", description: " a\nb ", externalId: " e " }))
      assert.deepInclude(full, { description: "a\nb", externalId: "e" })
      const invalidNames = [
        { name: undefined },
        { name: " " },
        { name: "a".repeat(151) },
        { name: "a\nb" },
        { name: null }
      ]
      for (const fields of [...invalidNames, { description: "a".repeat(1001) }, { externalId: "a".repeat(256) }]) {
        const { body, status } = yield* post(fields)
        assert.deepStrictEqual([status, body.issues?.[0].path], [400, Object.keys(fields)[0]])
      }
    })
  )

  it.effect("a group update changes only the named members, null clears, and an unchanged value is no edit", () =>
    Effect.gen(function* () {
      const uuid = yield* create({ name: "Update", description: "a", externalId: "update" })
      const before = yield* read(uuid)
      for (const same of [{}, { name: " Update " }, before]) {
        assert.deepStrictEqual((yield* patch(uuid, same)).body, { _tag: "Success", data: { uuid } })
        assert.deepStrictEqual(yield* read(uuid), before)
      }
      yield* patch(uuid, { name: "UPDATE", description: null })
      const { editedAt, ...after } = yield* read(uuid)
      const { description: _, editedAt: old, ...rest } = before
      assert.deepStrictEqual(after, { ...rest, name: "UPDATE" })
      assert.isTrue(editedAt > old)
      assert.strictEqual((yield* patch(uuid, { name: null })).status, 400)
    })
  )

  it.effect("the name of a group is unique, case-insensitively, and so is its externalId if set", () =>
    Effect.gen(function* () {
      yield* create({ name: "Held Éclair", externalId: "held" })
      const other = yield* create()
      const before = yield* read(other)
      for (const response of [yield* post({ name: " hELD éCLAIR" }), yield* patch(other, { name: "hELD éCLAIR" })]) {
        const body = expectError(response, 400, "DuplicateGroupNameError")
        assert.strictEqual(body.name, "hELD éCLAIR")
      }
      for (const response of [yield* post({ externalId: "held" }), yield* patch(other, { externalId: "held" })]) {
        const body = expectError(response, 400, "InvalidRequestError")
        assert.strictEqual(body.issues[0].path, "externalId")
      }
      assert.deepStrictEqual(yield* read(other), before)
      const race = Array.from({ length: 20 }, (_, index) => post({ name: index % 2 === 0 ? "race" : "RACE" }))
      const answers = yield* Effect.all(race, { concurrency: 20 })
      assert.strictEqual(answers.filter(({ status }) => status === 201).length, 1)
      assert.strictEqual(answers.filter(({ body }) => body._tag === "DuplicateGroupNameError").length, 19)
    })
  )

  it.effect("a group is created and updated with whole sets of members, and keeps those not sent", () =>
    Effect.gen(function* () {
      const [users, locations] = [yield* some(3, createUser), yield* some(3, createLocation())]
      const uuid = yield* create({ users: [...users, users[0]!.toUpperCase()], locations: locations.slice(0, 2) })
      assert.deepStrictEqual(yield* membersOf(uuid, "users"), users.toSorted())
      assert.deepStrictEqual(yield* countsOf(uuid), [3, 2])
      yield* patch(uuid, { users: [users[1]], locations: [locations[2]], name: unique("Changed") })
      assert.deepStrictEqual(yield* membersOf(uuid, "users"), [users[1]!])
      assert.deepStrictEqual(yield* membersOf(uuid, "locations"), [locations[2]!])
      yield* patch(uuid, { description: "a" })
      assert.deepStrictEqual(yield* countsOf(uuid), [1, 1])
      yield* patch(uuid, { users: [] })
      assert.deepStrictEqual(yield* countsOf(uuid), [0, 1])
    })
  )

  it.effect("null clears the members of a group, as an empty list does, and needs the permission to update them", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const plain = yield* key(["create:groups", "update:groups"])
      const members = { users: yield* some(2, createUser), locations: yield* some(2, createLocation()) }
      const none = { users: null, locations: null }
      const uuid = yield* create(members)
      const rejected = yield* send("PATCH", `/v1/groups/${uuid}`, { body: none, key: plain })
      const missing = ["update:users", "update:locations"]
      assert.deepStrictEqual(expectError(rejected, 403, "MissingPermissionsError").missing, missing)
      assert.deepStrictEqual(yield* countsOf(uuid), [2, 2])
      assert.strictEqual((yield* patch(uuid, { users: null })).status, 200)
      assert.deepStrictEqual(yield* countsOf(uuid), [0, 2])
      yield* patch(uuid, members)
      const body = { operations: [{ op: "update", uuid, data: none }] }
      const bulk = yield* send("POST", "/v1/groups/bulk", { body })
      assert.strictEqual(bulk.body.data[0].status, 200, bulk.text)
      assert.deepStrictEqual(yield* countsOf(uuid), [0, 0])
      assert.deepStrictEqual(yield* countsOf(yield* create(none)), [0, 0])
    })
  )

  it.effect("setting members of a group requires the permission to update them", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const plain = yield* key(["create:groups", "update:groups"])
      const uuid = yield* create()
      const before = yield* read(uuid)
      for (const [body, missing] of [
        [{ users: [] }, ["update:users"]],
        [{ locations: [yield* createLocation()] }, ["update:locations"]],
        [{ users: unknownUuids, locations: unknownUuids }, ["update:users", "update:locations"]]
      ] as const) {
        const responses = [yield* post(body, plain), yield* send("PATCH", `/v1/groups/${uuid}`, { body, key: plain })]
        for (const answer of responses) assert.deepStrictEqual([answer.status, answer.body.missing], [403, missing])
      }
      assert.deepStrictEqual(yield* read(uuid), before)
      assert.strictEqual((yield* post({}, plain)).status, 201)
      const all = yield* key(["create:groups", "update:users", "update:locations"])
      assert.strictEqual((yield* post({ users: [yield* createUser], locations: [] }, all)).status, 201)
    })
  )

  it.effect("unknown members of a group are all listed, and nothing is written", () =>
    Effect.gen(function* () {
      const [user, location] = [yield* createUser, yield* createLocation()]
      const uuid = yield* create({ users: [user], locations: [location] })
      const before = yield* read(uuid)
      for (const [member, tag, known] of [
        ["users", "UserNotFoundError", user],
        ["locations", "LocationNotFoundError", location]
      ] as const) {
        const fields = {
          name: unique("Never"),
          users: [],
          locations: [],
          [member]: [unknownUuids[0], known, ...unknownUuids.slice(1)]
        }
        for (const response of [yield* post(fields), yield* patch(uuid, fields)]) {
          const body = expectError(response, 404, tag)
          assert.deepStrictEqual(body.uuids.toSorted(), unknownUuids)
        }
        assert.deepStrictEqual(yield* read(uuid), before)
        const { body } = yield* send("GET", `/v1/groups?filter=name:equals:${fields.name}`)
        assert.strictEqual(body.pagination.total, 0)
      }
      assert.deepStrictEqual(yield* membersOf(uuid, "users"), [user])
      assert.deepStrictEqual(yield* membersOf(uuid, "locations"), [location])
    })
  )

  it.effect("unknown groups and members are reported before a duplicate name", () =>
    Effect.gen(function* () {
      const { name } = yield* read(yield* create())
      const uuid = yield* create()
      assert.strictEqual((yield* patch(unknownUuid, { name, users: unknownUuids })).body.uuid, unknownUuid)
      expectError(yield* patch(uuid, { name, users: unknownUuids }), 404, "UserNotFoundError")
      expectError(yield* post({ name, locations: unknownUuids }), 404, "LocationNotFoundError")
    })
  )

  it.effect("a deleted group is a 404 and its name is free, and its members stay", () =>
    Effect.gen(function* () {
      const [user, location, name] = [yield* createUser, yield* createLocation(), unique("Deleted")]
      const uuid = yield* create({ name, users: [user], locations: [location] })
      assert.deepStrictEqual((yield* send("DELETE", `/v1/groups/${uuid}`)).body, { _tag: "Success", data: { uuid } })
      for (const path of [`/v1/users/${user}`, `/v1/locations/${location}`]) {
        assert.strictEqual((yield* send("GET", path)).status, 200)
        assert.strictEqual((yield* send("GET", `${path}/groups`)).body.pagination.total, 0)
      }
      for (const [method, sent] of [
        ["GET", {}],
        ["DELETE", {}],
        ["PATCH", { body: { name } }]
      ] as const) {
        const body = expectError(yield* send(method, `/v1/groups/${uuid}`, sent), 404, "GroupNotFoundError")
        assert.strictEqual(body.uuid, uuid)
      }
      assert.notStrictEqual(yield* create({ name }), uuid)
    })
  )

  it.effect("the counts of groups are exact after concurrent replacements and deletions", () =>
    Effect.gen(function* () {
      const [users, locations] = [yield* some(12, createUser), yield* some(12, createLocation())]
      const groups = yield* some(
        6,
        Effect.suspend(() => create({ users, locations }))
      )
      yield* send("DELETE", `/v1/users/${users[0]}`)
      yield* send("DELETE", `/v1/locations/${locations[0]}`)
      for (const uuid of groups) assert.deepStrictEqual(yield* countsOf(uuid), [11, 11])
      const put = (path: string, member: string, uuids: ReadonlyArray<string | undefined>) =>
        send("PUT", `/v1/${path}/${member}`, { body: { [member]: uuids } })
      const answers = yield* Effect.all(
        groups.flatMap((uuid, index) => [
          put(`groups/${uuid}`, "users", users.slice(6 + (index % 3))),
          put(`groups/${uuid}`, "locations", locations.slice(6)),
          put(`users/${users[6 + index]}`, "groups", groups.slice(0, 4)),
          put(`locations/${locations[6 + index]}`, "groups", groups.slice(1, 4)),
          patch(uuid, { users: users.slice(7), locations: [] }),
          send("DELETE", `/v1/users/${users[1 + index]}`),
          send("DELETE", `/v1/locations/${locations[1 + index]}`),
          ...(index > 3 ? [send("DELETE", `/v1/groups/${uuid}`)] : [])
        ]),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        answers.filter(({ status }) => status !== 200 && status !== 404).map(({ text }) => text),
        []
      )
      assert.deepStrictEqual(yield* miscounted, [])
      for (const uuid of groups.slice(0, 4)) {
        const sizes = [(yield* membersOf(uuid, "users")).length, (yield* membersOf(uuid, "locations")).length]
        assert.deepStrictEqual(sizes, [...(yield* countsOf(uuid))])
      }
    })
  )

  it.effect("groups are sorted and filtered by their counts", () =>
    Effect.gen(function* () {
      const users = yield* some(4, createUser)
      const uuids = yield* Effect.forEach([2, 0, 4, 1], (count) =>
        create({ name: unique("Sized"), users: users.slice(0, count) })
      )
      const list = (query: string) =>
        Effect.map(
          send("GET", `/v1/groups?${query}`),
          ({ body }) =>
            body.data.map(({ uuid }: { readonly uuid: string }) => uuids.indexOf(uuid)) as ReadonlyArray<number>
        )
      const sized = "filter=name:startsWith:Sized"
      assert.deepStrictEqual(yield* list(`sortBy=userCount&sortOrder=asc&${sized}`), [1, 3, 0, 2])
      assert.deepStrictEqual(yield* list(`sortBy=userCount&${sized}`), [2, 0, 3, 1])
      assert.deepStrictEqual(yield* list(`sortBy=userCount&${sized},userCount:gte:2`), [2, 0])
      assert.deepStrictEqual(yield* list(`${sized},userCount:equals:1,locationCount:lt:1`), [3])
      yield* send("PUT", `/v1/users/${users[3]}/groups`, { body: { groups: [uuids[1]] } })
      assert.deepStrictEqual(yield* list(`sortBy=userCount&${sized},userCount:gt:2`), [2])
      assert.deepStrictEqual(yield* list(`${sized},userCount:equals:1&sortBy=createdAt`), [3, 1])
    })
  )
})
