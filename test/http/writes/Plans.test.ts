import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Permission } from "../../../src/domain/keys/Permission.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { createAsset } from "../../support/requests/AssetRequests.ts"
import { createPost } from "../../support/requests/PostRequests.ts"
import {
  createProduct,
  createVariant,
  deleteModule,
  patchProduct,
  putModule
} from "../../support/requests/ProductRequests.ts"
import { expectError, problemsOf, send, unique, unknownUuid } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"

const keyWith = (...permissions: ReadonlyArray<Permission>) =>
  Effect.flatMap(TestServer.TestServer, ({ key }) => key(permissions))

type Fields = Readonly<Record<string, unknown>>

/** A plan of a key that has no other plans, unless one is given. */
const plan = Effect.fnUntraced(function* (query: string, rows: ReadonlyArray<unknown> | string, given?: string) {
  const key = given ?? (yield* keyWith(...Permission.literals))
  return yield* send("POST", `/v1/plans?${query}`, {
    ...(typeof rows === "string" ? { raw: rows } : { body: rows }),
    key,
    headers: { "content-type": typeof rows === "string" ? "application/x-ndjson" : "application/json" }
  })
})

/** A prefix of identifiers, and the filter that finds them. */
const collection = () => {
  const prefix = unique("plan")
  return {
    prefix,
    query: `resource=locations&filter=identifier:startsWith:${prefix}`,
    id: (name: string) => `${prefix}-${name}`
  }
}

const branches = (rows: ReadonlyArray<Fields>) =>
  Effect.gen(function* () {
    const operations = rows.map((data) => ({ op: "create", data: { name: "Branch", ...data } }))
    const { body } = yield* send("POST", "/v1/locations/bulk", { body: { operations } })
    assert.deepStrictEqual(body.counts, { 201: rows.length })
    return body.data.map(({ uuid }: { readonly uuid: string }) => uuid) as ReadonlyArray<string>
  })

const changesOf = (uuid: string, query = "") =>
  Effect.map(send("GET", `/v1/plans/${uuid}/changes?limit=100${query}`), ({ body }) => body.data)

const apply = (uuid: string, body: Fields = {}) => send("POST", `/v1/plans/${uuid}/apply`, { body })

const listOf = (prefix: string) =>
  Effect.map(
    send("GET", `/v1/locations?filter=identifier:startsWith:${prefix}&sortBy=identifier&sortOrder=asc&limit=100`),
    ({ body }) => body.data as ReadonlyArray<Fields>
  )

const zero = { create: 0, update: 0, unchanged: 0, delete: 0, refused: 0 }

layer(TestServer.layer(), { excludeTestServices: true })("plans", (it) => {
  it.effect("a plan shows what a file would change, to the leaves, and writes nothing", () =>
    Effect.gen(function* () {
      const { id, prefix, query } = collection()
      const [one] = yield* branches([
        { identifier: id("1"), contact: { phone: "+31301234567" } },
        { identifier: id("2") }
      ])
      const before = yield* listOf(prefix)
      const made = yield* plan(query, [
        { identifier: id("1"), address: { city: "Utrecht" }, contact: { phone: null } },
        { identifier: id("2"), name: "Branch" },
        { identifier: id("3"), name: "New", postalCodes: ["3511 AB"] }
      ])
      assert.strictEqual(made.status, 201, made.text)
      const { uuid, ...shown } = made.body.data
      assert.deepStrictEqual(
        { ...shown, expiresAt: "" },
        {
          resource: "locations",
          mode: "partial",
          state: "ready",
          counts: { ...zero, create: 1, update: 1, unchanged: 1 },
          guards: [],
          expiresAt: ""
        }
      )
      assert.deepStrictEqual(yield* changesOf(uuid), [
        {
          key: id("1"),
          kind: "update",
          uuid: one,
          row: 1,
          changes: [
            { path: "address.city", after: "Utrecht" },
            { path: "contact.phone", before: "+31301234567" }
          ]
        },
        {
          key: id("3"),
          kind: "create",
          row: 3,
          changes: [
            { path: "name", after: "New" },
            { path: "identifier", after: id("3") },
            { path: "postalCodes", after: ["3511 AB"] }
          ]
        }
      ])
      assert.deepStrictEqual(yield* listOf(prefix), before)
      assert.deepStrictEqual((yield* send("GET", `/v1/plans/${uuid}`)).body.data, made.body.data)
    })
  )

  it.effect("a plan that is applied does what it shows, once, and the same file then has only unchanged rows", () =>
    Effect.gen(function* () {
      const { id, prefix, query } = collection()
      yield* branches([{ identifier: id("1") }, { identifier: id("gone") }])
      const file = [
        { identifier: id("1"), name: "Renamed" },
        { identifier: id("2"), name: "New" }
      ]
      const full = `${query}&mode=full&maxDeletes=50`
      const { body } = yield* plan(full, file)
      const { counts, uuid } = body.data
      assert.deepStrictEqual(counts, { ...zero, create: 1, update: 1, delete: 1 })
      const applied = yield* apply(uuid)
      assert.deepStrictEqual([applied.status, applied.body.data], [200, { uuid, counts }])
      const records = yield* listOf(prefix)
      assert.deepStrictEqual(
        records.map(({ identifier, name }) => [identifier, name]),
        [
          [id("1"), "Renamed"],
          [id("2"), "New"]
        ]
      )
      assert.deepStrictEqual((yield* apply(uuid)).body.data, { uuid, counts })
      assert.deepStrictEqual(yield* listOf(prefix), records)
      const { appliedAt, state } = (yield* send("GET", `/v1/plans/${uuid}`)).body.data
      assert.deepStrictEqual([state, typeof appliedAt], ["applied", "string"])
      assert.deepStrictEqual((yield* plan(full, file)).body.data.counts, { ...zero, unchanged: 2 })
    })
  )

  it.effect("a page of changes of more than 15 MiB is an error of its limit", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const { id, query } = collection()
      const rows = ["1", "2", "3"].map((name) => ({ identifier: id(name), name: "Branch" }))
      const { uuid } = (yield* plan(query, rows)).body.data
      yield* pooled`update plan_rows set changes = jsonb_build_array(jsonb_build_object('path', 'name', 'after',
        repeat('a', ${6 * 1024 ** 2}::int))) where plan = ${uuid}::uuid`
      const answer = yield* send("GET", `/v1/plans/${uuid}/changes`)
      assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", "limit tooMuch"])
      const { body } = yield* send("GET", `/v1/plans/${uuid}/changes?limit=2&page=2`)
      assert.deepStrictEqual([body.data.length, body.pagination.total], [1, 3])
    })
  )

  it.effect("each record that a plan writes has one event, with the key that applies it", () =>
    Effect.gen(function* () {
      const { id, prefix, query } = collection()
      const [one] = yield* branches([{ identifier: id("1") }])
      const { body } = yield* plan(query, [{ identifier: id("1"), name: "Renamed", address: { city: "Zeist" } }])
      yield* apply(body.data.uuid)
      const { pooled } = yield* Sql
      yield* pooled`select waypost_seal_all()`
      const history = yield* send("GET", `/v1/locations/${one}/history?order=asc`)
      assert.deepStrictEqual(
        history.body.data
          .map(({ actor, changes, type }: Fields) => [type, (actor as Fields)["type"], changes])
          .slice(1),
        [
          [
            "location.updated",
            "apiKey",
            [
              { path: "name", before: "Branch", after: "Renamed" },
              { path: "address.city", after: "Zeist" }
            ]
          ]
        ]
      )
      assert.lengthOf(yield* listOf(prefix), 1)
    })
  )

  it.effect(
    "a plan tries creations and changes out without writing the log, in a transaction of its own and of its request",
    () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        // Groups are tried out by writing them.
        const prefix = unique("plan")
        const group = (name: string) => send("POST", "/v1/groups", { body: { name } })
        yield* group(`${prefix} 1`)
        const query = `resource=groups&filter=name:startsWith:${prefix}`
        const key = yield* keyWith(...Permission.literals)
        const logged = Effect.map(
          pooled<{ readonly last: string }>`select last_value::text as last from pending_changes_id_seq`,
          ([row]) => row!.last
        )
        const before = yield* logged
        for (const headers of [{}, { "idempotency-key": unique("trial") }]) {
          const { body } = yield* send("POST", `/v1/plans?${query}`, {
            body: [{ name: `${prefix} 1`, description: "Changed" }, { name: `${prefix} 2` }],
            key,
            headers
          })
          assert.deepStrictEqual(body.data.counts, { ...zero, create: 1, update: 1 })
        }
        assert.strictEqual(yield* logged, before)
        // Writes of the same connections are logged.
        yield* Effect.forEach(Array.from({ length: 20 }), () => group(unique("logged")), { concurrency: 2 })
        assert.strictEqual(Number(yield* logged), Number(before) + 20)
      })
  )

  it.effect("rows that cannot be written are refused with their issues, all at once, and their numbers", () =>
    Effect.gen(function* () {
      const { id, query } = collection()
      const made = yield* plan(
        query,
        [
          JSON.stringify({ _row: 7, identifier: id("1"), name: "A" }),
          JSON.stringify({ _row: 8, identifier: id("1"), name: "B" }),
          JSON.stringify({ identifier: id("2"), name: "", locale: 5 }),
          JSON.stringify({ name: "No key" }),
          JSON.stringify({ identifier: id("3"), name: "C", coordinates: { latitude: 1 } }),
          JSON.stringify({ identifier: id("4"), name: "D", locale: "xx-YY-ZZ" }),
          "not json"
        ].join("\n")
      )
      assert.deepStrictEqual(made.body.data.counts, { ...zero, create: 1, refused: 6 })
      assert.deepStrictEqual(made.body.data.guards, [{ code: "refusedRows", message: "6 rows cannot be written" }])
      const refused = (yield* changesOf(made.body.data.uuid, "&kind=refused")) as ReadonlyArray<{
        readonly row: number
        readonly issues: ReadonlyArray<{ readonly path: string; readonly code: string; readonly message: string }>
      }>
      assert.deepStrictEqual(
        refused.map(({ issues, row }) => [row, ...issues.map(({ code, path }) => `${path} ${code}`)]),
        [
          [8, "identifier duplicate"],
          [3, "name tooShort", "locale wrongType"],
          [4, "identifier required"],
          [5, "coordinates incomplete"],
          [6, " InvalidLocaleError"],
          [7, " notJson"]
        ]
      )
      assert.include(refused[0]!.issues[0]!.message, "Rows 7 and 8")
    })
  )

  it.effect("a row without a valid key is refused with all of its issues", () =>
    Effect.gen(function* () {
      const { query } = collection()
      const rows = ["", 5, "x".repeat(101), null].map((identifier) => ({ identifier, name: "", unknown: 1 }))
      const { body } = yield* plan(query, rows)
      assert.deepStrictEqual(body.data.counts, { ...zero, refused: 4 })
      for (const { issues } of yield* changesOf(body.data.uuid)) {
        assert.includeMembers(
          issues.map(({ path }: Fields) => path),
          ["unknown", "name", "identifier"]
        )
      }
    })
  )

  it.effect("a row that is nested 100,000 levels deep is refused", () =>
    Effect.gen(function* () {
      const { id, query } = collection()
      const name = `${"[".repeat(100_000)}${"]".repeat(100_000)}`
      const row = `{"identifier":"${id("deep")}","name":${name}}`
      for (const [raw, type] of [
        [row, "application/x-ndjson"],
        [`[${row}]`, "application/json"]
      ] as const) {
        const { body } = yield* send("POST", `/v1/plans?${query}`, { raw, headers: { "content-type": type } })
        assert.deepStrictEqual(body.data.counts, { ...zero, refused: 1 }, type)
        yield* send("DELETE", `/v1/plans/${body.data.uuid}`)
      }
    })
  )

  type Named = Readonly<Record<"identifier" | "name", string>>

  const formats: ReadonlyArray<readonly [type: string, file: (rows: ReadonlyArray<Named>) => string]> = [
    ["application/x-ndjson", (rows) => rows.map((row) => JSON.stringify(row)).join("\r\n")],
    ["application/json", (rows) => JSON.stringify(rows)],
    [
      "text/csv",
      (rows) => ["identifier,name", ...rows.map(({ identifier, name }) => `${identifier},"${name}"`)].join("\r\n")
    ]
  ]

  it.effect.each(formats)("a row of %s has at most 1 MiB, and a larger one is an error that names it", ([type, file]) =>
    Effect.gen(function* () {
      const { id, query } = collection()
      const sending = (length: number, header: Readonly<Record<string, string>>) => {
        const small = { identifier: id("1"), name: "A" }
        const empty = { identifier: id("3"), name: "" }
        const rest = length - (type === "text/csv" ? `${id("3")},""`.length : JSON.stringify(empty).length)
        const rows = [small, { ...small, identifier: id("2") }, { ...empty, name: "x".repeat(rest) }, small]
        return send("POST", `/v1/plans?${query}`, { raw: file(rows), headers: { "content-type": type, ...header } })
      }
      for (const header of [{}, { "idempotency-key": unique("row") }]) {
        const fits = yield* sending(1024 ** 2, header)
        assert.deepStrictEqual(fits.body.data?.counts, { ...zero, create: 2, refused: 2 }, fits.text.slice(0, 300))
        yield* send("DELETE", `/v1/plans/${fits.body.data.uuid}`)
      }
      for (const length of [1024 ** 2 + 1, 3 * 1024 ** 2]) {
        const { body, status } = yield* sending(length, {})
        assert.deepStrictEqual(
          [status, body.issues],
          [
            400,
            [{ in: "body", path: "", code: "tooLarge", message: "Row 3 has more than 1 MiB, the maximum of a row" }]
          ]
        )
      }
    })
  )

  it.effect("the number of a row is from 1 to 2,147,483,647", () =>
    Effect.gen(function* () {
      const { id, query } = collection()
      const numbers = [2_147_483_647, 2_147_483_648, 1e300, 0, 1.5, null]
      const { body } = yield* plan(
        query,
        numbers.map((_row, index) => ({ identifier: id(`${index}`), name: "A", _row }))
      )
      assert.deepStrictEqual(body.data.counts, { ...zero, create: 1, refused: 5 })
      const refused = yield* changesOf(body.data.uuid, "&kind=refused")
      const message = "Expected a whole number from 1 to 2147483647"
      for (const { issues } of refused)
        assert.deepStrictEqual(issues, [{ in: "body", path: "_row", code: "wrongType", message }])
    })
  )

  it.effect("a record that a refused row names is not deleted", () =>
    Effect.gen(function* () {
      const { id, prefix, query } = collection()
      yield* branches(["1", "2", "3", "4"].map((name) => ({ identifier: id(name) })))
      const _refused = [{ path: "contact.phone", code: "invalidFormat", message: "Expected a phone number" }]
      const { body } = yield* plan(`${query}&mode=full&maxDeletes=100`, [
        { identifier: id("1"), name: "" },
        { identifier: id("2"), _refused },
        { identifier: id("3"), name: "Branch", _row: "x" }
      ])
      assert.deepStrictEqual(body.data.counts, { ...zero, delete: 1, refused: 3 })
      const [, second] = yield* changesOf(body.data.uuid, "&kind=refused")
      assert.deepStrictEqual(second.issues, [{ in: "body", ..._refused[0] }])
      assert.strictEqual((yield* apply(body.data.uuid, { force: true })).status, 200)
      assert.deepStrictEqual(
        (yield* listOf(prefix)).map(({ identifier }) => identifier),
        [id("1"), id("2"), id("3")]
      )
    })
  )

  it.effect("a plan deletes nothing while the key of a row cannot be read", () =>
    Effect.gen(function* () {
      const { id, query } = collection()
      yield* branches([{ identifier: id("1") }])
      const csv = (text: string) =>
        Effect.flatMap(keyWith(...Permission.literals), (key) =>
          send("POST", `/v1/plans?${query}&mode=full&maxDeletes=100`, {
            raw: text,
            key,
            headers: { "content-type": "text/csv" }
          })
        )
      const full = `${query}&mode=full&maxDeletes=100`
      const row = JSON.stringify({ identifier: id("2"), name: "New" })
      const unread = [
        yield* plan(full, `${row}\n{"identifier":`),
        yield* plan(full, `${row}\n{"_refused":[{"code":"wrongWidth","message":"The row has 3 cells"}]}`),
        yield* csv(`identifier,name\n${id("2")},New\n${id("1")},a,b\n`),
        // A number can be the key that a record has as text.
        yield* plan(full, `${row}\n{"identifier":4711,"name":"Branch"}`),
        yield* plan(full, `${row}\n{"identifier":4711,"_refused":[{"code":"wrongType","message":"Expected text"}]}`)
      ]
      for (const { body } of unread) {
        assert.deepStrictEqual(body.data.counts, { ...zero, create: 1, refused: 1 })
        const message = "1 row cannot be written; nothing is deleted, because the key of row 2 cannot be read"
        assert.deepStrictEqual(body.data.guards, [{ code: "refusedRows", message }])
      }
      const { body } = yield* plan(full, `${row}\n{"identifier":null,"name":"Branch"}`)
      assert.deepStrictEqual(body.data.counts, { ...zero, create: 1, delete: 1, refused: 1 })
    })
  )

  it.effect("an empty filter is rejected", () =>
    Effect.gen(function* () {
      const made = yield* plan("resource=locations&mode=full&filter=", [{ identifier: unique("empty"), name: "A" }])
      assert.deepStrictEqual([made.status, made.body._tag, made.body.code], [400, "InvalidFilterError", "syntax"])
    })
  )

  it.effect.each([
    ["addres.city", "unknownMember", 'Unknown member "addres.city"; did you mean address.city?'],
    [
      "name,openingHours.day",
      "notAllowed",
      '"openingHours.day" is in a list, which is compared as a whole; ignore "openingHours"'
    ]
  ] as const)("rejects the path %s to ignore", ([ignore, code, message]) =>
    Effect.gen(function* () {
      const made = yield* plan(`resource=locations&ignore=${ignore}`, [{ identifier: unique("ignored"), name: "A" }])
      assert.strictEqual(made.status, 400)
      assert.deepInclude(made.body.issues[0], { in: "query", path: "ignore", code, message })
    })
  )

  it.effect("rows with text that PostgreSQL cannot store are refused, and the others are planned", () =>
    Effect.gen(function* () {
      const { id, query } = collection()
      const made = yield* plan(query, [
        { identifier: id("1"), name: "A\0" },
        { identifier: `${id("2")}\0`, name: "A" },
        { identifier: id("3"), name: "A", other: { extraDna1: "\0" } },
        { identifier: id("4"), name: "A", "un\0known": 1 },
        { identifier: id("5"), name: "A \ud800" },
        { identifier: id("😀".repeat(200)), name: "A" },
        { identifier: id("7"), name: "A" }
      ])
      assert.strictEqual(made.status, 201, made.text)
      assert.deepStrictEqual(made.body.data.counts, { ...zero, create: 1, refused: 6 })
    })
  )

  it.effect("rows whose ignored members have text that PostgreSQL cannot store are planned and applied", () =>
    Effect.gen(function* () {
      const { id, query } = collection()
      const made = yield* plan(query, [{ identifier: id("1"), name: "A", uuid: "\0", media: "\ud800" }])
      assert.deepStrictEqual(made.body.data?.counts, { ...zero, create: 1 }, made.text)
      const applied = yield* apply(made.body.data.uuid)
      assert.deepStrictEqual(applied.body.data?.counts, { ...zero, create: 1 }, applied.text)
    })
  )

  it.effect("rows that break a rule between members are refused with the issues of the writes of one record", () =>
    Effect.gen(function* () {
      const { id, query } = collection()
      const openingHours = [{ day: 1, opens: "09:00", closes: "17:00" }]
      const [open, placed] = yield* branches([
        { identifier: id("1"), timezone: "Europe/Amsterdam", openingHours },
        { identifier: id("2"), coordinates: { latitude: 52.09, longitude: 5.12 } }
      ])
      const rows: ReadonlyArray<readonly [method: "POST" | "PATCH", uuid: string | undefined, data: Fields]> = [
        ["POST", undefined, { identifier: id("3"), name: "Without a zone", openingHours }],
        ["POST", undefined, { identifier: id("4"), name: "Unknown zone", timezone: "Europe/Atlantis", openingHours }],
        ["POST", undefined, { identifier: id("5"), name: "Half a place", coordinates: { longitude: 5 } }],
        ["PATCH", open, { identifier: id("1"), timezone: null }],
        ["PATCH", placed, { identifier: id("2"), coordinates: { latitude: null } }]
      ]
      const alone = yield* Effect.forEach(rows, ([method, uuid, body]) =>
        send(method, `/v1/locations${uuid === undefined ? "" : `/${uuid}`}`, { body })
      )
      const made = yield* plan(query, [...rows.map(([, , data]) => data), { identifier: id("6"), name: "Valid" }])
      assert.deepStrictEqual(made.body.data.counts, { ...zero, create: 1, refused: rows.length })
      const refused = yield* changesOf(made.body.data.uuid, "&kind=refused")
      assert.deepStrictEqual(
        refused.map(({ issues }: Fields) => issues),
        alone.map(({ body, status }) => {
          assert.strictEqual(status, 400)
          return body.issues
        })
      )
    })
  )

  it.effect("a plan with a failed safety check is applied with force only, without the refused rows", () =>
    Effect.gen(function* () {
      const { id, prefix, query } = collection()
      yield* branches([1, 2, 3].map((number) => ({ identifier: id(String(number)) })))
      const made = yield* plan(`${query}&mode=full`, [{ identifier: id("1"), name: "A" }, { identifier: id("9") }])
      const { guards, uuid } = made.body.data
      assert.deepStrictEqual(
        guards.map(({ code }: Fields) => code),
        ["refusedRows", "tooManyDeletes"]
      )
      const guarded = expectError(yield* apply(uuid), 409, "PlanGuardedError")
      assert.deepStrictEqual(guarded.guards, guards)
      assert.lengthOf(yield* listOf(prefix), 3)
      assert.strictEqual((yield* apply(uuid, { force: true })).status, 200)
      assert.deepStrictEqual(
        (yield* listOf(prefix)).map(({ name }) => name),
        ["A"]
      )
      const empty = yield* plan(query, [])
      assert.deepStrictEqual(empty.body.data.guards, [{ code: "emptyFile", message: "The file has no rows" }])
    })
  )

  it.effect(
    "a record of the plan that changed, or was created or deleted since, makes the plan outdated; nothing is written",
    () =>
      Effect.gen(function* () {
        const { id, prefix, query } = collection()
        const [one, two] = yield* branches([{ identifier: id("1") }, { identifier: id("2") }, { identifier: id("3") }])
        const { body } = yield* plan(query, [
          ...["1", "2"].map((number) => ({ identifier: id(number), name: "New" })),
          { identifier: id("3"), name: "Branch" },
          { identifier: id("4"), name: "New" }
        ])
        yield* send("PATCH", `/v1/locations/${one}`, { body: { address: { city: "Zeist" } } })
        yield* send("DELETE", `/v1/locations/${two}`)
        yield* branches([{ identifier: id("4") }])
        const before = yield* listOf(prefix)
        const outdated = expectError(yield* apply(body.data.uuid, { force: true }), 409, "PlanOutdatedError")
        assert.sameMembers(outdated.changed, [id("1"), id("2"), id("4")])
        assert.deepStrictEqual(yield* listOf(prefix), before)
      })
  )

  it.effect("a changed module of a product, and changed members of a group, make a plan outdated", () =>
    Effect.gen(function* () {
      const [prefix, user] = [unique("outdated"), unique("member")]
      const product = yield* createProduct({ identifier: prefix })
      const { body: group } = yield* send("POST", "/v1/groups", { body: { name: prefix } })
      const { body: member } = yield* send("POST", "/v1/users", {
        body: { username: user, email: `${user}@example.com` }
      })
      const planned = (query: string) =>
        Effect.map(plan(`${query}&mode=full&maxDeletes=100`, []), ({ body }) => {
          assert.deepStrictEqual(body.data.counts, { ...zero, delete: 1 })
          return body.data.uuid as string
        })
      const products = `resource=products&filter=identifier:equals:${prefix}`
      const groups = `resource=groups&filter=name:equals:${prefix}`
      for (const [query, change] of [
        [products, putModule(product, "price", { model: "fixed", amountMinor: 5 })],
        [products, deleteModule(product, "price")],
        [groups, send("PUT", `/v1/groups/${group.data.uuid}/users`, { body: { users: [member.data.uuid] } })]
      ] as const) {
        const before = yield* planned(query)
        assert.strictEqual((yield* change).status, 200)
        const outdated = expectError(yield* apply(before, { force: true }), 409, "PlanOutdatedError")
        assert.deepStrictEqual(outdated.changed, [prefix])
      }
      assert.strictEqual((yield* apply(yield* planned(products), { force: true })).status, 200)
    })
  )

  /** Creates a record, and returns its uuid. */
  const made = (resource: string, body: Fields) =>
    Effect.map(send("POST", `/v1/${resource}`, { body }), ({ body }) => body.data.uuid as string)

  /** A plan of one row that changes a record. */
  const planned = (resource: string, row: Fields) =>
    Effect.map(plan(`resource=${resource}`, [row]), ({ body }) => {
      assert.deepStrictEqual(body.data.counts, { ...zero, update: 1 })
      return body.data.uuid as string
    })

  /** Applies a plan after another request, whose change is sealed or not. */
  const appliedAfter = (other: ReturnType<typeof send>, uuid: string, isSealed: boolean) =>
    Effect.flatMap(Sql, ({ pooled }) => {
      const change = Effect.map(other, ({ status, text }) => assert.strictEqual(status, 200, text))
      const applied = Effect.suspend(() => apply(uuid))
      if (isSealed) return Effect.andThen(Effect.andThen(change, pooled`select waypost_seal_all()`), applied)
      // Nothing is sealed while this transaction has the lock.
      const lock = pooled`select from event_log for update`
      return pooled.withTransaction(Effect.andThen(Effect.andThen(lock, change), applied))
    })

  it.effect.each([
    ["users", true],
    ["users", false],
    ["groups", true],
    ["groups", false]
  ] as const)(
    "members of %s that were replaced from the other side make a plan outdated (sealed: %s)",
    ([side, isSealed]) =>
      Effect.gen(function* () {
        const [user, group] = [unique("member"), unique("group")]
        const email = (name: string) => `${name}@example.com`
        const userUuid = yield* made("users", { username: user, email: email(user) })
        const groupUuid = yield* made("groups", { name: group })
        const other = unique("other")
        const [resource, row, path, body] =
          side === "users"
            ? ([
                "groups",
                { name: group, users: [userUuid] },
                `users/${yield* made("users", { username: other, email: email(other) })}/groups`,
                { groups: [groupUuid] }
              ] as const)
            : ([
                "users",
                { username: user, groups: [groupUuid] },
                `groups/${yield* made("groups", { name: other })}/users`,
                { users: [userUuid] }
              ] as const)
        const answer = yield* appliedAfter(
          send("PUT", `/v1/${path}`, { body }),
          yield* planned(resource, row),
          isSealed
        )
        assert.deepStrictEqual(expectError(answer, 409, "PlanOutdatedError").changed, [side === "users" ? group : user])
      })
  )

  it.effect.each([true, false])("a login does not make a plan outdated (sealed: %s)", (isSealed) =>
    Effect.gen(function* () {
      const username = unique("login")
      const uuid = yield* made("users", { username, email: `${username}@example.com` })
      const login = send("POST", `/v1/users/${uuid}/logins`, { body: {} })
      const answer = yield* appliedAfter(login, yield* planned("users", { username, firstName: "Anna" }), isSealed)
      assert.strictEqual(answer.status, 200, answer.text)
    })
  )

  it.effect("a changed record among the unchanged does not make a plan outdated", () =>
    Effect.gen(function* () {
      const { id, query } = collection()
      const [one] = yield* branches([{ identifier: id("1") }])
      const { body } = yield* plan(query, [
        { identifier: id("1"), name: "Branch" },
        { identifier: id("2"), name: "New" }
      ])
      yield* send("PATCH", `/v1/locations/${one}`, { body: { name: "Other" } })
      assert.strictEqual((yield* apply(body.data.uuid)).status, 200)
    })
  )

  it.effect(
    "rows of records outside the filter, or without its member, are refused, and only records that it finds are deleted",
    () =>
      Effect.gen(function* () {
        const { id, prefix } = collection()
        yield* branches([
          { identifier: id("nl"), address: { countryCode: "NL" } },
          { identifier: id("nl2"), address: { countryCode: "NL" } },
          { identifier: id("be"), address: { countryCode: "BE" } },
          { identifier: id("none") }
        ])
        const query = `resource=locations&mode=full&maxDeletes=100&filter=identifier:startsWith:${prefix},address.countryCode:equals:NL`
        const { body } = yield* plan(query, [
          { identifier: id("nl"), name: "Renamed" },
          { identifier: id("be"), name: "Renamed" },
          { identifier: id("none"), name: "Renamed" }
        ])
        assert.deepStrictEqual(body.data.counts, { ...zero, update: 1, delete: 1, refused: 2 })
        const refused: ReadonlyArray<{ key: string; issues: ReadonlyArray<{ code: string }> }> = yield* changesOf(
          body.data.uuid,
          "&kind=refused"
        )
        assert.deepStrictEqual(
          refused.map(({ issues, key }) => [key, issues[0]!.code]),
          [
            [id("be"), "outsideFilter"],
            [id("none"), "outsideFilter"]
          ]
        )
        yield* apply(body.data.uuid, { force: true })
        assert.deepStrictEqual(
          (yield* listOf(prefix)).map(({ identifier, name }) => [identifier, name]),
          [
            [id("be"), "Branch"],
            [id("nl"), "Renamed"],
            [id("none"), "Branch"]
          ]
        )
      })
  )

  it.effect("a filter of posts finds what the key sees of them, as a filter of their list does", () =>
    Effect.gen(function* () {
      const users = yield* Effect.forEach(["Anna", "Bert"], (firstName) =>
        Effect.map(
          send("POST", "/v1/users", {
            body: { username: unique("author"), email: `${unique("author")}@example.com`, firstName }
          }),
          ({ body }) => body.data.uuid as string
        )
      )
      const name = unique("Group")
      const group = (yield* send("POST", "/v1/groups", { body: { name } })).body.data.uuid
      const asset = yield* createAsset()
      const prefix = unique("filtered")
      const [ofAnna, ofBert] = yield* Effect.forEach(users, (uuid, index) =>
        createPost({
          slug: `${prefix}-${index}`,
          author: { uuid },
          audience: { groups: index === 0 ? [{ uuid: group }] : [] },
          mediaAssetUuids: [asset]
        })
      )
      yield* send("DELETE", `/v1/assets/${asset}?force=true`)
      const deletes = Effect.fnUntraced(function* (filter: string, key?: string) {
        const query = `filter=slug:startsWith:${prefix},${filter}`
        const { body } = yield* plan(`resource=posts&mode=full&${query}`, [], key)
        const changes = yield* changesOf(body.data.uuid)
        const planned = changes.map(({ uuid }: { readonly uuid: string }) => uuid).toSorted()
        const listed = yield* send("GET", `/v1/posts?${query}`, key === undefined ? {} : { key })
        assert.deepStrictEqual(planned, listed.body.data.map(({ uuid }: { uuid: string }) => uuid).toSorted())
        return planned
      })
      assert.deepStrictEqual(yield* deletes("author.name:equals:Anna"), [ofAnna])
      assert.deepStrictEqual(yield* deletes("author.name:not equals:Anna"), [ofBert])
      assert.deepStrictEqual(yield* deletes(`audience.groups.name:equals:${name}`), [ofAnna])
      assert.deepStrictEqual(yield* deletes(`mediaAssetUuids:equals:${asset}`), [])
      const writer = yield* keyWith("read:posts", "create:posts", "update:posts", "delete:posts")
      assert.deepStrictEqual(yield* deletes(`audience.groups.name:equals:${name}`, writer), [])
      assert.deepStrictEqual(yield* deletes(`audience.groups.uuid:equals:${group}`, writer), [ofAnna])
    })
  )

  it.effect("paths to ignore stay unchanged in existing records, and are written in new ones", () =>
    Effect.gen(function* () {
      const { id, query } = collection()
      yield* branches([{ identifier: id("1"), contact: { phone: "+31301234567" } }])
      const row = { name: "New", contact: { phone: "+31300000000", email: "a@example.com" } }
      const { body } = yield* plan(`${query}&ignore=contact.phone,name`, [
        { identifier: id("1"), ...row },
        { identifier: id("2"), ...row }
      ])
      const [updated, created] = yield* changesOf(body.data.uuid)
      assert.deepStrictEqual(updated.changes, [{ path: "contact.email", after: "a@example.com" }])
      assert.include(
        created.changes.map(({ path }: Fields) => path),
        "contact.phone"
      )
    })
  )

  it.effect("null for an object clears its members except the paths to ignore", () =>
    Effect.gen(function* () {
      const { id, prefix, query } = collection()
      const contact = { phone: "+31301234567", email: "a@example.com" }
      const address = { city: "Utrecht", countryCode: "NL" }
      yield* branches([
        { identifier: id("1"), contact, legal: { address }, invoice: { name: "Bakery", address } },
        { identifier: id("2"), contact: { phone: "+31301234567" } }
      ])
      const ignore = "contact.phone,legal.address.city,invoice.name,invoice.address"
      const { body } = yield* plan(`${query}&ignore=${ignore}`, [
        { identifier: id("1"), name: "New", contact: null, legal: null, invoice: { address: null } },
        { identifier: id("2"), contact: null, invoice: null }
      ])
      assert.deepStrictEqual(body.data.counts, { ...zero, update: 1, unchanged: 1 })
      const [{ changes }] = yield* changesOf(body.data.uuid)
      assert.deepStrictEqual(changes.map(({ path }: Fields) => path).toSorted(), [
        "contact.email",
        "legal.address.countryCode",
        "name"
      ])
      yield* apply(body.data.uuid)
      const [first] = yield* listOf(prefix)
      assert.deepStrictEqual(
        [first!["contact"], first!["legal"], first!["invoice"]],
        [{ phone: "+31301234567" }, { address: { city: "Utrecht" } }, { name: "Bakery", address }]
      )
      const author = { uuid: yield* made("users", { username: unique("author"), email: `${unique("a")}@example.com` }) }
      const slug = unique("ignored")
      yield* createPost({ slug, author })
      const posts = yield* plan("resource=posts&ignore=author.uuid", [{ slug, author: null }])
      assert.deepStrictEqual(posts.body.data.counts, { ...zero, unchanged: 1 })
    })
  )

  it.effect("users are found by their username in any case, and groups get the members that a row names", () =>
    Effect.gen(function* () {
      const name = unique("Anna")
      const [location] = yield* branches([{ identifier: unique("member") }])
      yield* send("POST", "/v1/users", { body: { username: name, email: `${name}@example.com` } })
      const users = yield* plan("resource=users", [
        { username: name.toUpperCase(), firstName: "Anna" },
        { username: unique("new"), email: `${name}@EXAMPLE.com` }
      ])
      assert.deepStrictEqual(users.body.data.counts, { ...zero, update: 1, refused: 1 })
      const group = unique("Region")
      const groups = yield* plan("resource=groups", [{ name: group, locations: [location] }])
      assert.deepStrictEqual(groups.body.data.counts, { ...zero, create: 1 })
      yield* apply(groups.body.data.uuid)
      const { body } = yield* send("GET", `/v1/groups?filter=name:equals:${group}`)
      assert.strictEqual(body.data[0].locationCount, 1)
      const again = yield* plan("resource=groups", [{ name: group, locations: [location] }])
      assert.deepStrictEqual(again.body.data.counts, { ...zero, unchanged: 1 })
    })
  )

  it.effect("rows replace the locations and groups of users that exist, and the sets are compared with theirs", () =>
    Effect.gen(function* () {
      const name = unique("member")
      const [first, second] = yield* branches([{ identifier: unique("first") }, { identifier: unique("second") }])
      const { body: group } = yield* send("POST", "/v1/groups", { body: { name: unique("Region") } })
      const { body: user } = yield* send("POST", "/v1/users", {
        body: { username: name, email: `${name}@example.com`, locations: [first] }
      })
      const row = { username: name, locations: [second], groups: [group.data.uuid] }
      const made = yield* plan("resource=users", [row, { username: unique("unknown"), locations: [unknownUuid] }])
      assert.deepStrictEqual(made.body.data.counts, { ...zero, update: 1, refused: 1 })
      const [change] = yield* changesOf(made.body.data.uuid)
      assert.deepStrictEqual(change.changes, [
        { path: "locations", added: [second], removed: [first] },
        { path: "groups", added: [group.data.uuid], removed: [] }
      ])
      const membersOf = (kind: string) =>
        Effect.map(send("GET", `/v1/users/${user.data.uuid}/${kind}`), ({ body }) =>
          body.data.map(({ uuid }: { readonly uuid: string }) => uuid)
        )
      assert.deepStrictEqual(yield* membersOf("locations"), [first])
      yield* apply(made.body.data.uuid, { force: true })
      assert.deepStrictEqual(yield* membersOf("locations"), [second])
      assert.deepStrictEqual(yield* membersOf("groups"), [group.data.uuid])
      const again = yield* plan("resource=users", [row])
      assert.deepStrictEqual(again.body.data.counts, { ...zero, unchanged: 1 })
      const key = yield* keyWith("read:users", "create:users", "update:users", "update:locations")
      const error = expectError(yield* plan("resource=users", [row], key), 403, "MissingPermissionsError")
      assert.deepStrictEqual(error.missing, ["update:groups"])
      expectError(
        yield* send("PATCH", `/v1/users/${user.data.uuid}`, { body: { locations: [first] } }),
        400,
        "InvalidRequestError"
      )
    })
  )

  it.effect("changes show the locations and groups of a record to keys that read these", () =>
    Effect.gen(function* () {
      const [location] = yield* branches([{ identifier: unique("seen") }])
      const group = yield* made("groups", { name: unique("Seen") })
      const usernames = [unique("seen"), unique("seen")]
      yield* Effect.forEach(usernames, (username) => made("users", { username, email: `${username}@example.com` }))
      const [both, related] = usernames
      const { uuid } = (yield* plan("resource=users", [
        { username: both, firstName: "Anna", locations: [location], groups: [group] },
        { username: related, locations: [location] }
      ])).body.data
      const name = { path: "firstName", after: "Anna" }
      const locations = { path: "locations", added: [location], removed: [] }
      const groups = { path: "groups", added: [group], removed: [] }
      for (const [permissions, shown] of [
        [
          ["read:users", "read:locations", "read:groups"],
          [[name, locations, groups], [locations]]
        ],
        [
          ["read:users", "read:groups"],
          [[name, groups], []]
        ],
        [["read:users"], [[name], []]]
      ] as const) {
        const key = yield* keyWith(...permissions)
        const { body } = yield* send("GET", `/v1/plans/${uuid}/changes`, { key })
        assert.deepStrictEqual(
          body.data.map(({ changes, key }: Fields) => [key, changes]),
          [
            [both, shown[0]],
            [related, shown[1]]
          ]
        )
      }
    })
  )

  it.effect("products and posts are planned by identifier and slug", () =>
    Effect.gen(function* () {
      const identifier = unique("product")
      const product = { type: "default", identifier, name: "Flyer" }
      const products = yield* plan("resource=products", [product])
      yield* apply(products.body.data.uuid)
      assert.deepStrictEqual((yield* plan("resource=products", [product])).body.data.counts, { ...zero, unchanged: 1 })
      const post = { slug: unique("post"), type: "news", translations: [{ locale: "nl-NL", title: "Nieuws" }] }
      const posts = yield* plan("resource=posts", [post, { type: "news", translations: post.translations }])
      assert.deepStrictEqual(posts.body.data.counts, { ...zero, create: 1, refused: 1 })
      yield* apply(posts.body.data.uuid, { force: true })
      assert.deepStrictEqual((yield* plan("resource=posts", [post])).body.data.counts, { ...zero, unchanged: 1 })
    })
  )

  it.effect("a full plan of products deletes variants before their parents, whichever is older", () =>
    Effect.gen(function* () {
      const prefix = unique("family")
      const query = `resource=products&mode=full&maxDeletes=100&filter=identifier:startsWith:${prefix}`
      const id = (name: string) => `${prefix}-${name}`
      const first = yield* createProduct({ type: "variantParent", identifier: id("first") })
      const variant = yield* createVariant(first, { identifier: id("variant") })
      const second = yield* createProduct({ type: "variantParent", identifier: id("second") })
      assert.strictEqual((yield* patchProduct(variant, { parentUuid: second })).status, 200)
      const { body } = yield* plan(query, [])
      assert.deepStrictEqual(body.data.counts, { ...zero, delete: 3 })
      const changes = yield* changesOf(body.data.uuid)
      assert.deepStrictEqual(
        changes.map(({ key }: { readonly key: string }) => key),
        [id("variant"), id("second"), id("first")]
      )
      assert.strictEqual((yield* apply(body.data.uuid, { force: true })).status, 200)
      assert.deepStrictEqual((yield* plan(query, [])).body.data.counts, zero)
    })
  )

  it.effect("a full plan of products refuses to delete a parent whose variants remain", () =>
    Effect.gen(function* () {
      const prefix = unique("family")
      const query = `resource=products&mode=full&maxDeletes=100&filter=identifier:startsWith:${prefix}`
      const id = (name: string) => `${prefix}-${name}`
      const parent = (name: string) => createProduct({ type: "variantParent", identifier: id(name) })
      const parents = yield* Effect.forEach(["kept", "refused", "left", "target", "new"], parent)
      const [kept, refused, left, target, fresh] = parents
      const options = (value: string) => [{ option: "size", value }]
      const variant = (name: string, parentUuid: string) =>
        createVariant(parentUuid, { identifier: id(name), name: "Flyer", optionValues: options(name) })
      yield* variant("kept-1", kept!)
      yield* variant("kept-2", kept!)
      yield* variant("kept-3", kept!)
      yield* variant("refused-1", refused!)
      yield* variant("left-1", left!)
      yield* variant("left-2", left!)
      const row = (name: string, parentUuid: string | undefined) => ({
        type: "variant",
        identifier: id(name),
        name: "Flyer",
        optionValues: options(name),
        parentUuid
      })
      const rows = [
        row("kept-1", kept),
        { ...row("kept-2", undefined), name: "Poster" },
        { identifier: id("refused-1"), name: "" },
        row("left-1", target?.toUpperCase()),
        row("new-1", fresh)
      ]
      const { body } = yield* plan(query, rows)
      assert.deepStrictEqual(body.data.counts, { create: 1, update: 2, unchanged: 1, delete: 3, refused: 5 })
      assert.deepStrictEqual(body.data.guards[0], {
        code: "refusedRows",
        message: "1 row cannot be written; 4 records cannot be deleted"
      })
      const issues = (yield* changesOf(body.data.uuid, "&kind=refused")).flatMap(
        ({
          issues,
          key,
          row
        }: {
          readonly issues: ReadonlyArray<Fields>
          readonly key: string
          readonly row?: number
        }) => (row === undefined ? [[key, issues]] : [])
      )
      const issue = (message: string) => [{ in: "path", path: "uuid", code: "hasVariants", message }]
      const one = issue("The product has 1 variant; delete them first")
      assert.deepStrictEqual(issues, [
        [id("new"), one],
        [id("target"), one],
        [id("refused"), one],
        [id("kept"), issue("The product has 2 variants; delete them first")]
      ])
      const applied = yield* apply(body.data.uuid, { force: true })
      assert.strictEqual(applied.status, 200, applied.text)
      const products = yield* send("GET", `/v1/products?filter=identifier:startsWith:${prefix}&limit=100`)
      assert.sameMembers(
        products.body.data.map(({ identifier }: Fields) => identifier),
        ["kept", "refused", "target", "new", "kept-1", "kept-2", "refused-1", "left-1", "new-1"].map(id)
      )
      // The parent alone is found by the filter; its variants remain.
      const alone = yield* plan(`${query},type:equals:variantParent`, [])
      assert.deepStrictEqual(alone.body.data.counts, { ...zero, refused: 4 })
      assert.deepStrictEqual(
        alone.body.data.guards.map(({ code }: Fields) => code),
        ["emptyFile", "refusedRows"]
      )
      assert.strictEqual((yield* apply(alone.body.data.uuid, { force: true })).status, 200)
    })
  )

  it.effect("a full plan of products reads a parentUuid with white space around it", () =>
    Effect.gen(function* () {
      const prefix = unique("family")
      const query = `resource=products&mode=full&maxDeletes=100&filter=identifier:startsWith:${prefix}`
      const id = (name: string) => `${prefix}-${name}`
      const parent = yield* createProduct({ type: "variantParent", identifier: id("parent") })
      const other = yield* createProduct({ type: "variantParent", identifier: id("other") })
      const variant = {
        type: "variant",
        identifier: id("variant"),
        name: "Flyer",
        optionValues: [{ option: "size", value: "a4" }],
        parentUuid: `\u00a0 ${parent}\n`
      }
      const { body } = yield* plan(query, [variant])
      assert.deepStrictEqual(body.data.counts, { ...zero, create: 1, delete: 1, refused: 1 })
      assert.strictEqual((yield* apply(body.data.uuid, { force: true })).status, 200)
      assert.strictEqual((yield* send("GET", `/v1/products/${parent}`)).status, 200)
      expectError(yield* send("GET", `/v1/products/${other}`), 404, "ProductNotFoundError")
    })
  )

  it.effect(
    "a plan needs read, create and update of its resource, delete with mode full, and update of what rows name",
    () =>
      Effect.gen(function* () {
        const all = ["read:locations", "create:locations", "update:locations"] as const
        const able = yield* keyWith(...all)
        assert.strictEqual((yield* plan("resource=locations", [], able)).status, 201)
        for (const missing of all) {
          const key = yield* keyWith(
            ...all.filter((permission) => permission !== missing),
            "create:users",
            "read:users"
          )
          const error = expectError(yield* plan("resource=locations", [], key), 403, "MissingPermissionsError", missing)
          assert.deepStrictEqual(error.missing, [missing])
        }
        expectError(yield* plan("resource=locations&mode=full", [], able), 403, "MissingPermissionsError")
        const grouping = yield* keyWith("read:groups", "create:groups", "update:groups")
        const group = { name: unique("Region"), users: [] }
        const named = expectError(yield* plan("resource=groups", [group], grouping), 403, "MissingPermissionsError")
        assert.deepStrictEqual(named.missing, ["update:users"])
        const { uuid } = (yield* plan("resource=locations", [])).body.data
        const reader = yield* keyWith("read:locations")
        assert.strictEqual((yield* send("GET", `/v1/plans/${uuid}`, { key: reader })).status, 200)
        for (const key of [reader, grouping]) {
          expectError(yield* send("POST", `/v1/plans/${uuid}/apply`, { key, body: {} }), 403, "MissingPermissionsError")
          expectError(yield* send("DELETE", `/v1/plans/${uuid}`, { key }), 403, "MissingPermissionsError")
        }
        expectError(yield* send("GET", `/v1/plans/${uuid}/changes`, { key: grouping }), 403, "MissingPermissionsError")
      })
  )

  it.effect("a plan that was deleted or has expired, and one that never was, is not found", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const { uuid } = (yield* plan("resource=locations", [])).body.data
      assert.deepStrictEqual((yield* send("DELETE", `/v1/plans/${uuid}`)).body.data, { uuid })
      const expired = (yield* plan("resource=locations", [])).body.data.uuid
      yield* pooled`update plans set created_at = now() - interval '24 hours' where uuid = ${expired}`
      for (const gone of [uuid, expired, unknownUuid]) {
        expectError(yield* send("GET", `/v1/plans/${gone}`), 404, "PlanNotFoundError")
        expectError(yield* send("GET", `/v1/plans/${gone}/changes`), 404, "PlanNotFoundError")
        expectError(yield* apply(gone), 404, "PlanNotFoundError")
        expectError(yield* send("DELETE", `/v1/plans/${gone}`), 404, "PlanNotFoundError")
      }
    })
  )

  it.effect(
    "of two plans that are made at once, with an Idempotency-Key each, a key keeps the one that is its tenth",
    () =>
      Effect.gen(function* () {
        const key = yield* keyWith("read:locations", "create:locations", "update:locations")
        for (let number = 0; number < 9; number++) yield* plan("resource=locations", [], key)
        const body = Array.from({ length: 600 }, (_, index) => ({ identifier: unique(`p${index}`), name: "Branch" }))
        const request = Effect.suspend(() =>
          send("POST", "/v1/plans?resource=locations", { body, key, headers: { "idempotency-key": unique("plan") } })
        )
        const answers = yield* Effect.all([request, request], { concurrency: 2 })
        const [made, refused] = answers.toSorted((a, b) => a.status - b.status)
        assert.strictEqual(made!.status, 201)
        assert.deepStrictEqual(problemsOf(refused!), [400, "InvalidRequestError", " tooManyOpen"])
      })
  )

  it.effect(
    "the records that a plan deletes are each in it once, count as bytes of its key, and are removed with it",
    () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const { id, prefix, query } = collection()
        yield* pooled`insert into locations (uuid, name, identifier)
        select uuidv7(), repeat('A', 200), ${`${prefix}-`} || i from generate_series(1, 1201) i`
        const made = yield* plan(`${query}&mode=full`, [{ identifier: id("7"), name: "B" }])
        assert.deepStrictEqual(made.body.data.counts, { ...zero, update: 1, delete: 1200 })
        const { uuid } = made.body.data
        const [stored] = yield* pooled<{ readonly records: number; readonly bytes: number }>`
        select count(distinct record)::int as records, max(p.bytes)::int as bytes
          from plans p join plan_rows r on r.plan = p.uuid where p.uuid = ${uuid}::uuid`
        assert.strictEqual(stored!.records, 1201)
        assert.isAbove(stored!.bytes, 1200 * 200)
        yield* pooled`insert into plan_rows (plan, place, key, compared, kind, changes)
        select ${uuid}::uuid, 2000 + i, '', '', 'unchanged', '[]' from generate_series(1, 10000) i`
        assert.strictEqual((yield* send("DELETE", `/v1/plans/${uuid}`)).status, 200)
        assert.deepStrictEqual(yield* pooled`select place from plan_rows where plan = ${uuid}::uuid`, [])
      })
  )

  it.effect("a key has ten plans that are not applied; another key has its own", () =>
    Effect.gen(function* () {
      const [key, other] = yield* Effect.all(
        [0, 1].map(() => keyWith("read:locations", "create:locations", "update:locations"))
      )
      const uuids: Array<string> = []
      for (let number = 0; number < 10; number++) {
        uuids.push((yield* plan("resource=locations", [], key)).body.data.uuid)
      }
      const eleventh = yield* plan("resource=locations", [], key)
      assert.deepStrictEqual(problemsOf(eleventh), [400, "InvalidRequestError", " tooManyOpen"])
      assert.strictEqual((yield* plan("resource=locations", [], other)).status, 201)
      yield* apply(uuids[0]!, { force: true })
      assert.strictEqual((yield* plan("resource=locations", [], key)).status, 201)
    })
  )

  it.effect(
    "a file of another type, encoding or form, or with unknown words in the query, is an error that says so",
    () =>
      Effect.gen(function* () {
        for (const type of ["text/html", "constructor", "__proto__"]) {
          const other = yield* send("POST", "/v1/plans?resource=locations", {
            raw: "x",
            headers: { "content-type": type }
          })
          expectError(other, 415, "UnsupportedMediaTypeError")
        }
        for (const key of [undefined, unique("key")]) {
          const compressed = yield* send("POST", "/v1/plans?resource=locations", {
            raw: "\u001f\u008b",
            headers: {
              "content-type": "application/x-ndjson",
              "content-encoding": "gzip",
              ...(key === undefined ? {} : { "idempotency-key": key })
            }
          })
          expectError(compressed, 415, "UnsupportedMediaTypeError")
        }
        assert.deepStrictEqual(
          problemsOf(yield* send("POST", "/v1/plans?resource=locations", { raw: '{"name":"x"}' })),
          [400, "InvalidRequestError", " wrongType"]
        )
        assert.deepStrictEqual(problemsOf(yield* plan("resource=places", [])), [
          400,
          "InvalidRequestError",
          "resource notAllowed"
        ])
        assert.deepStrictEqual(problemsOf(yield* plan("resource=locations&mode=all", [])), [
          400,
          "InvalidRequestError",
          "mode notAllowed"
        ])
        expectError(yield* plan("resource=locations&filter=name:x:y", []), 400, "InvalidFilterError")
      })
  )

  it.effect("erasing a user removes the plans that name it, in any case, and no others", () =>
    Effect.gen(function* () {
      const erased = unique("erased")
      const other = `${erased}-other`
      const rowOf = (username: string) => ({ username, email: `${username}@example.com` })
      const { body } = yield* send("POST", "/v1/users", { body: rowOf(erased) })
      const plans = yield* Effect.forEach([erased, other], (username) =>
        Effect.map(
          plan("resource=users", [{ ...rowOf(username.toUpperCase()), firstName: "Anna" }]),
          ({ body }) => body.data.uuid
        )
      )
      yield* send("DELETE", `/v1/users/${body.data.uuid}?erase=true`)
      const answers = yield* Effect.forEach(plans, (uuid) => send("GET", `/v1/plans/${uuid}`))
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [404, 200]
      )
    })
  )

  it.effect("a row with an unknown member is refused, with the nearest name", () =>
    Effect.gen(function* () {
      const { id, query } = collection()
      const { body } = yield* plan(query, [{ identifier: id("1"), naem: "Branch", name: "Branch" }])
      const [refused] = yield* changesOf(body.data.uuid)
      assert.deepInclude(refused.issues[0], { path: "naem", code: "unknownMember", suggestions: ["name"] })
    })
  )

  it.effect(
    "a CSV file has commas and the paths of members as titles; an unknown title is an error with the nearest one",
    () =>
      Effect.gen(function* () {
        const { id, query } = collection()
        const csv = (raw: string) =>
          send("POST", `/v1/plans?${query}`, { raw, headers: { "content-type": "text/csv" } })
        const made = yield* csv(
          `identifier,name,address.city,postalCodes\r\n${id("1")},"Smit, Utrecht",Utrecht,3511 AB;3512 AB\r\n\r\n${id("2")},Zeist\r\n`
        )
        const [created, refused] = yield* changesOf(made.body.data.uuid)
        assert.deepStrictEqual(created.changes, [
          { path: "name", after: "Smit, Utrecht" },
          { path: "identifier", after: id("1") },
          { path: "postalCodes", after: ["3511 AB", "3512 AB"] },
          { path: "address.city", after: "Utrecht" }
        ])
        assert.deepStrictEqual([refused.row, refused.issues[0].code], [2, "wrongWidth"])
        const unknown = yield* csv("identifier,naam\n1,2\n")
        assert.deepStrictEqual(problemsOf(unknown), [400, "InvalidRequestError", "naam unknownMember"])
        assert.include(unknown.body.message, "did you mean name?")
        yield* send("DELETE", `/v1/plans/${made.body.data.uuid}`)
      })
  )

  it.effect("a request for a plan that is repeated with its Idempotency-Key makes one plan", () =>
    Effect.gen(function* () {
      const { id, query } = collection()
      const headers = { "idempotency-key": unique("plan") }
      const request = send("POST", `/v1/plans?${query}`, { body: [{ identifier: id("1"), name: "A" }], headers })
      const first = yield* request
      const second = yield* request
      assert.deepStrictEqual([second.status, second.text], [first.status, first.text])
      assert.strictEqual(second.headers.get("idempotent-replayed"), "true")
      assert.strictEqual((yield* send("GET", `/v1/plans/${first.body.data.uuid}`)).status, 200)
    })
  )

  it.effect("a file of more than 50 MiB with an Idempotency-Key is a PayloadTooLargeError", () =>
    Effect.gen(function* () {
      const { query } = collection()
      const { body, status } = yield* send("POST", `/v1/plans?${query}`, {
        raw: "a".repeat(50 * 1024 ** 2 + 1),
        headers: { "content-type": "application/x-ndjson", "idempotency-key": unique("large") }
      })
      assert.deepStrictEqual(
        [status, body._tag, body.message],
        [413, "PayloadTooLargeError", "A file has at most 50 MiB"]
      )
    })
  )

  it.effect("a plan with an Idempotency-Key has every row of a file that is compared in several parts", () =>
    Effect.gen(function* () {
      const { id, query } = collection()
      const rows = Array.from({ length: 1200 }, (_, index) => ({ identifier: id(String(index)), name: "Branch" }))
      yield* branches(rows.slice(0, 1000))
      yield* branches(rows.slice(1000))
      const { body } = yield* send("POST", `/v1/plans?${query}`, {
        body: rows.map((row) => ({ ...row, name: "Renamed" })),
        headers: { "idempotency-key": unique("plan") }
      })
      assert.deepStrictEqual(body.data.counts, { ...zero, update: 1200 })
      const { body: changes } = yield* send("GET", `/v1/plans/${body.data.uuid}/changes?limit=1`)
      assert.strictEqual(changes.pagination.total, 1200)
      const applied = yield* apply(body.data.uuid)
      assert.deepStrictEqual(applied.body.data.counts, { ...zero, update: 1200 })
      assert.strictEqual((yield* listOf(id("")))[0]!["name"], "Renamed")
    })
  )
})
