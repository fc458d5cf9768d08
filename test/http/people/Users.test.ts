import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import {
  create as createLocation,
  expectError,
  send,
  unique,
  unknownUuid,
  unknownUuids
} from "../../support/requests/Requests.ts"

const live = { excludeTestServices: true }
type Fields = Readonly<Record<string, unknown>>

const user = (fields: Fields = {}) => {
  const username = unique("user")
  return { username, email: `${username}@example.com`, ...fields }
}
const post = (fields: Fields = {}, key?: string) =>
  send("POST", "/v1/users", { body: user(fields), ...(key === undefined ? {} : { key }) })
const create = (fields: Fields = {}) =>
  Effect.map(post(fields), ({ body, text }) => (body.data?.uuid as string) ?? assert.fail(text))
const read = (uuid: string) => Effect.map(send("GET", `/v1/users/${uuid}`), ({ body }) => body.data)
const patch = (uuid: string, body: unknown) => send("PATCH", `/v1/users/${uuid}`, { body })
const totalOf = (filter: string) =>
  Effect.map(send("GET", `/v1/users?filter=${filter}`), ({ body }) => body.pagination.total as number)
const written = (record: object) =>
  Object.fromEntries(Object.entries(record).filter(([member]) => !["uuid", "createdAt", "editedAt"].includes(member)))
const defaults = { status: "active", role: "ROLE_USER", languageCode: "en" }

layer(TestServer.layer(), live)("Users", (it) => {
  it.effect("a user requires a username and an e-mail address, and gets defaults for the rest", () =>
    Effect.gen(function* () {
      const uuid = yield* create({ username: "bare", email: "bare@example.com", firstName: null, externalId: null })
      const record = yield* read(uuid)
      assert.deepStrictEqual(written(record), { username: "bare", email: "bare@example.com", ...defaults })
      assert.strictEqual(record.createdAt, record.editedAt)
      for (const missing of ["username", "email"]) {
        const { body, status } = yield* post({ [missing]: undefined })
        assert.strictEqual(status, 400)
        assert.deepInclude(body.issues[0], { in: "body", path: missing, code: "required" })
      }
    })
  )

  it.effect("a created user is read back normalised, and username and e-mail address keep their case", () =>
    Effect.gen(function* () {
      const uuid = yield* create({
        username: "  Anna.DeVries ",
        email: " Anna@Example.COM ",
        firstName: " Zoe\u0301 ",
        lastName: "de Vries",
        status: "pending",
        role: "ROLE_SUPER_ADMIN",
        languageCode: "EN",
        countryCode: "nl",
        phone: "+31 (0)30-123.45/67",
        externalId: "HR 1",
        lastLoginAt: "2001-02-03T04:05:06.789Z",
        uuid: unknownUuid
      })
      assert.notStrictEqual(uuid, unknownUuid)
      assert.deepStrictEqual(written(yield* read(uuid)), {
        username: "Anna.DeVries",
        email: "Anna@Example.COM",
        firstName: "Zo\u00e9",
        lastName: "de Vries",
        status: "pending",
        role: "ROLE_SUPER_ADMIN",
        languageCode: "en",
        countryCode: "NL",
        phone: "+31 (0)30-123.45/67",
        externalId: "HR 1"
      })
      assert.strictEqual(yield* totalOf("email:equals:Anna@Example.COM"), 1)
    })
  )

  it.effect(
    "a user update changes only the named members, null clears optional ones, and an unchanged value is no edit",
    () =>
      Effect.gen(function* () {
        const uuid = yield* create({
          firstName: "A",
          lastName: "B",
          phone: "123",
          countryCode: "NL",
          externalId: "x-1"
        })
        const before = yield* read(uuid)
        for (const same of [{}, { firstName: " A " }, { countryCode: "nl" }, { languageCode: "EN" }, before]) {
          assert.deepStrictEqual((yield* patch(uuid, same)).body, { _tag: "Success", data: { uuid } })
          assert.deepStrictEqual(yield* read(uuid), before)
        }
        yield* patch(uuid, { firstName: "C", email: "new@example.com", role: "ROLE_ADMIN" })
        const after = yield* read(uuid)
        assert.isTrue(after.editedAt > before.editedAt)
        const { editedAt: _, ...rest } = after
        const { editedAt: __, ...old } = before
        assert.deepStrictEqual(rest, { ...old, firstName: "C", email: "new@example.com", role: "ROLE_ADMIN" })
        yield* patch(uuid, { firstName: null, lastName: null, phone: null, countryCode: null, externalId: null })
        const { username } = before
        const cleared = { ...defaults, role: "ROLE_ADMIN", username, email: "new@example.com" }
        assert.deepStrictEqual(written(yield* read(uuid)), cleared)
        for (const required of ["username", "email", "status", "role", "languageCode"]) {
          const { body, status } = yield* patch(uuid, { [required]: null, firstName: "D" })
          assert.strictEqual(status, 400, required)
          assert.strictEqual(body.issues[0].path, required)
        }
        assert.deepStrictEqual(written(yield* read(uuid)), cleared)
      })
  )

  it.effect("a deleted user is a 404, and its username, e-mail address and externalId are free at once", () =>
    Effect.gen(function* () {
      const fields = user({ externalId: "gone" })
      const uuid = yield* create(fields)
      assert.deepStrictEqual((yield* send("DELETE", `/v1/users/${uuid}`)).body, { _tag: "Success", data: { uuid } })
      for (const [method, sent] of [
        ["GET", {}],
        ["DELETE", {}],
        ["PATCH", { body: {} }]
      ] as const) {
        const body = expectError(yield* send(method, `/v1/users/${uuid}`, sent), 404, "UserNotFoundError")
        assert.strictEqual(body.uuid, uuid)
      }
      assert.notStrictEqual(yield* create(fields), uuid)
    })
  )

  it.effect("a username and an e-mail address are unique, case-insensitively", () =>
    Effect.gen(function* () {
      const holder = yield* create({ username: "Held", email: "Held@Example.com" })
      const other = yield* create()
      const before = yield* read(other)
      for (const [member, value, tag] of [
        ["username", "hELD", "UsernameNotUniqueError"],
        ["email", "hELD@eXAMPLE.COM", "EmailNotUniqueError"]
      ] as const) {
        for (const answer of [
          yield* post({ [member]: ` ${value} ` }),
          yield* patch(other, { [member]: value, firstName: "X" })
        ]) {
          expectError(answer, 409, tag)
          assert.strictEqual(answer.body.value, value)
        }
        assert.strictEqual((yield* patch(holder, { [member]: value })).status, 200)
        assert.strictEqual((yield* read(holder))[member], value)
      }
      assert.deepStrictEqual(yield* read(other), before)
    })
  )

  it.effect("of twenty concurrent creations of one username or e-mail address exactly one succeeds", () =>
    Effect.gen(function* () {
      for (const [member, tag] of [
        ["username", "UsernameNotUniqueError"],
        ["email", "EmailNotUniqueError"]
      ] as const) {
        const value = `${unique("race")}@example.com`
        const values = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? value : value.toUpperCase()))
        const answers = yield* Effect.forEach(values, (sent) => post({ [member]: sent }), { concurrency: 20 })
        assert.strictEqual(answers.filter(({ status }) => status === 201).length, 1)
        const conflicts = answers.filter(({ body, status }) => status === 409 && body._tag === tag)
        assert.strictEqual(conflicts.length, 19)
        assert.strictEqual(yield* totalOf(`${member}:startsWith:${value}`), 1)
      }
    })
  )

  it.effect("the externalId of a user is unique if set, and the error names the member", () =>
    Effect.gen(function* () {
      yield* create({ externalId: "HR-1" })
      const other = yield* create({ externalId: "hr-1" })
      const before = yield* read(other)
      for (const response of [
        yield* post({ externalId: "HR-1" }),
        yield* patch(other, { externalId: " HR-1 ", firstName: "X" })
      ]) {
        const body = expectError(response, 400, "InvalidRequestError")
        assert.strictEqual(body.issues[0].path, "externalId")
      }
      assert.deepStrictEqual(yield* read(other), before)
    })
  )

  const states = ["pending", "active", "suspended"]
  const moves = states.flatMap((from) => states.map((to) => ({ from, to })))
  const allowed = new Set(["pending active", "active suspended", "suspended active"])
  for (const { from, to } of moves) {
    const isAllowed = from === to || allowed.has(`${from} ${to}`)
    it.effect(`a user status change from ${from} to ${to} is ${isAllowed ? "allowed" : "rejected"}`, () =>
      Effect.gen(function* () {
        const uuid = yield* create({ status: from })
        const { body, status } = yield* patch(uuid, { status: to, firstName: "Moved" })
        assert.strictEqual(status, isAllowed ? 200 : 400)
        if (!isAllowed) assert.deepStrictEqual([body._tag, body.issues[0].path], ["InvalidRequestError", "status"])
        const { firstName, status: now } = yield* read(uuid)
        assert.deepStrictEqual([now, firstName], isAllowed ? [to, "Moved"] : [from, undefined])
      })
    )
  }

  const bounds: ReadonlyArray<
    readonly [member: string, valid: ReadonlyArray<string>, invalid: ReadonlyArray<unknown>]
  > = [
    [
      "username",
      ["a", "🥐".repeat(100)],
      [
        "",
        "  ",
        "a".repeat(101),
        "a\u0000",
        "a\nb",
        1,
        ...Array.from("\u200b\u200f\u2060\ufeff\u00ad", (mark) => `a${mark}b`)
      ]
    ],
    [
      "email",
      [`${"a".repeat(242)}@example.com`, "a+b@c.d"],
      [`${"a".repeat(243)}@example.com`, "a@b", "a@@b.c", "a b@c.d", "", "@b.c"]
    ],
    ["firstName", ["é".repeat(100)], ["é".repeat(101), "", 1]],
    ["status", ["pending"], ["Active", "deleted", ""]],
    ["role", ["ROLE_MANAGER"], ["role_user", "ROLE_ROOT"]],
    ["countryCode", ["NL", " de "], ["", "N", "NLD", "XX", "UK", "ZZ"]],
    ["phone", ["123", "+".repeat(32)], ["12", "1".repeat(33), "call me", "12345a"]],
    ["externalId", ["a".repeat(255)], ["a".repeat(256), ""]]
  ]
  it.effect.each(bounds)(
    "the %s of a user is accepted within its bounds and rejected beyond them",
    ([member, valid, invalid]) =>
      Effect.gen(function* () {
        const uuid = yield* create()
        for (const value of valid) assert.strictEqual((yield* post({ [member]: value })).status, 201, value)
        for (const value of invalid) {
          for (const { body, status } of [yield* post({ [member]: value }), yield* patch(uuid, { [member]: value })]) {
            assert.deepStrictEqual([status, body.issues?.[0].path], [400, member], String(value))
          }
        }
      })
  )

  it.effect("an unknown language of a user is an InvalidLocaleError that names it, on creation and update", () =>
    Effect.gen(function* () {
      const uuid = yield* create({ languageCode: "NL" })
      for (const languageCode of ["", "xx", "nld", "n", "nl-nl", "english", "12", "🥐"]) {
        for (const response of [yield* post({ languageCode }), yield* patch(uuid, { languageCode, phone: "123" })]) {
          const body = expectError(response, 400, "InvalidLocaleError")
          assert.strictEqual(body.locale, languageCode)
          assert.notProperty(body, "supported")
        }
      }
      assert.deepInclude(yield* read(uuid), { languageCode: "nl" })
      assert.notProperty(yield* read(uuid), "phone")
    })
  )

  it.effect("checks of a user update run in order: decoding, existence, precondition, rules", () =>
    Effect.gen(function* () {
      const held = user()
      yield* create(held)
      const uuid = yield* create({ status: "suspended" })
      const headers = { "if-match": `"stale"` }
      const at = (path: string, body: unknown, sent = {}) =>
        Effect.map(send("PATCH", `/v1/users/${path}`, { body, ...sent }), ({ body }) => body._tag)
      for (const rule of [{ languageCode: "xx" }, { status: "pending" }, { username: held.username }, {}]) {
        assert.strictEqual(yield* at(unknownUuid, rule), "UserNotFoundError")
        assert.strictEqual(yield* at(unknownUuid, rule, { headers }), "UserNotFoundError")
        assert.strictEqual(yield* at(uuid, rule, { headers }), "PreconditionFailedError")
      }
      assert.strictEqual(yield* at(unknownUuid, { phone: "1" }), "InvalidRequestError")
    })
  )

  const createGroup = (name: string) =>
    Effect.map(send("POST", "/v1/groups", { body: { name } }), ({ body }) => body.data.uuid as string)
  const membershipsOf = (uuid: string, kind: "locations" | "groups") =>
    Effect.map(send("GET", `/v1/users/${uuid}/${kind}`), ({ body }) =>
      (body.data as ReadonlyArray<{ readonly uuid: string }>).map(({ uuid }) => uuid).toSorted()
    )

  it.effect("creating a user with locations or groups requires the permission to update those", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const plain = yield* key(["create:users"])
      const locations = [yield* createLocation(), yield* createLocation()]
      const groups = [yield* createGroup("First"), yield* createGroup("Second")]
      for (const [fields, missing] of [
        [{ locations }, ["update:locations"]],
        [{ groups }, ["update:groups"]],
        [{ locations: unknownUuids, groups: unknownUuids, languageCode: "xx" }, ["update:locations", "update:groups"]]
      ] as const) {
        const body = expectError(
          yield* post({ ...fields, lastName: "Rejected" }, plain),
          403,
          "MissingPermissionsError"
        )
        assert.deepStrictEqual(body.missing, missing)
      }
      assert.strictEqual(yield* totalOf("lastName:equals:Rejected"), 0)
      assert.strictEqual((yield* post({}, plain)).status, 201)
      const both = yield* key(["create:users", "update:locations", "update:groups"])
      const sent = { locations: [...locations, locations[0]!.toUpperCase()], groups }
      const { uuid } = (yield* post(sent, both)).body.data
      assert.deepStrictEqual(yield* membershipsOf(uuid, "locations"), locations.toSorted())
      assert.deepStrictEqual(yield* membershipsOf(uuid, "groups"), groups.toSorted())
      assert.strictEqual((yield* patch(uuid, { locations: [] })).status, 400)
      const none = (yield* post({ locations: null, groups: null }, both)).body.data
      assert.deepStrictEqual(
        [yield* membershipsOf(none.uuid, "locations"), yield* membershipsOf(none.uuid, "groups")],
        [[], []]
      )
    })
  )

  it.effect("unknown locations or groups of a new user are all listed, and no user is created", () =>
    Effect.gen(function* () {
      const [location, group] = [yield* createLocation(), yield* createGroup("Known")]
      for (const [fields, tag] of [
        [
          { locations: [unknownUuids[0], location, ...unknownUuids.slice(1)], groups: [group] },
          "LocationNotFoundError"
        ],
        [{ locations: [location], groups: [group, ...unknownUuids] }, "GroupNotFoundError"]
      ] as const) {
        const body = expectError(yield* post({ ...fields, username: "Nothing" }), 404, tag)
        assert.deepStrictEqual(body.uuids?.toSorted(), unknownUuids)
      }
      assert.strictEqual(yield* totalOf("username:equals:Nothing"), 0)
      const { userCount } = (yield* send("GET", `/v1/groups/${group}`)).body.data
      const { pagination } = (yield* send("GET", `/v1/locations/${location}/users`)).body
      assert.deepStrictEqual([userCount, pagination.total], [0, 0])
    })
  )

  it.effect("at creation of a user, unknown references are reported before rule violations", () =>
    Effect.gen(function* () {
      const held = user()
      yield* create(held)
      for (const fields of [{ languageCode: "xx" }, { username: held.username }, { email: held.email }]) {
        expectError(yield* post({ ...fields, locations: unknownUuids }), 404, "LocationNotFoundError")
        expectError(yield* post({ ...fields, groups: unknownUuids }), 404, "GroupNotFoundError")
      }
    })
  )
})

layer(TestServer.layer({ LOCALES: "fil-PH" }), live)(
  "Users with configured locales of languages of three letters",
  (it) => {
    it.effect("the default language of a user is accepted when a client sends it", () =>
      Effect.gen(function* () {
        const uuid = yield* create()
        const { languageCode } = yield* read(uuid)
        assert.strictEqual(languageCode, "en")
        assert.strictEqual((yield* patch(uuid, { languageCode, firstName: "Maria" })).status, 200)
        assert.strictEqual((yield* post({ languageCode: "de" })).status, 400)
      })
    )
  }
)

layer(TestServer.layer({ LOCALES: "nl-BE,de" }), live)("Users with configured locales", (it) => {
  it.effect("a user has the first configured language by default, and others are rejected", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* read(yield* create())).languageCode, "nl")
      assert.strictEqual((yield* read(yield* create({ languageCode: "DE" }))).languageCode, "de")
      const { body } = yield* post({ languageCode: "en" })
      assert.deepStrictEqual([body._tag, body.locale, body.supported], ["InvalidLocaleError", "en", ["nl-BE", "de"]])
    })
  )
})
