import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Permission } from "../../../../src/domain/keys/Permission.ts"
import { Sql } from "../../../../src/sql/Sql.ts"
import {
  apply,
  branches,
  changesOf,
  collection,
  type Fields,
  keyWith,
  listOf,
  plan,
  zero
} from "../../../support/requests/PlanRequests.ts"
import { send } from "../../../support/requests/Requests.ts"
import * as TestServer from "../../../support/TestServer.ts"

layer(TestServer.layer(), { excludeTestServices: true })("rows that a plan refuses", (it) => {
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

  it.effect("a row with an unknown member is refused, with the nearest name", () =>
    Effect.gen(function* () {
      const { id, query } = collection()
      const { body } = yield* plan(query, [{ identifier: id("1"), naem: "Branch", name: "Branch" }])
      const [refused] = yield* changesOf(body.data.uuid)
      assert.deepInclude(refused.issues[0], { path: "naem", code: "unknownMember", suggestions: ["name"] })
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

  it.effect(
    "rows that set a time zone which PostgreSQL does not know are refused, and one that keeps it is planned",
    () =>
      Effect.gen(function* () {
        const { id, query } = collection()
        const [kept] = yield* branches([{ identifier: id("1") }, { identifier: id("2"), timezone: "Europe/Amsterdam" }])
        const { pooled } = yield* Sql
        // As after an update of the server. The platform knows this name.
        const timezone = "US/Pacific-New"
        yield* pooled.withTransaction(
          Effect.andThen(
            pooled`set local session_replication_role = replica`,
            pooled`update locations set timezone = ${timezone} where uuid = ${kept}::uuid`
          )
        )
        const made = yield* plan(query, [
          { identifier: id("1"), name: "Renamed", timezone },
          { identifier: id("2"), timezone },
          { identifier: id("3"), name: "New", timezone },
          { identifier: id("4"), name: "New", timezone: "Asia/Tokyo" }
        ])
        const counts = { ...zero, create: 1, update: 1, refused: 2 }
        assert.deepStrictEqual(made.body.data.counts, counts)
        assert.deepStrictEqual(
          (yield* changesOf(made.body.data.uuid, "&kind=refused")).map(({ issues, row }: Fields) => [row, issues]),
          [2, 3].map((row) => [
            row,
            [
              {
                in: "body",
                path: "timezone",
                code: "unknownTimeZone",
                message: "The database does not know this time zone"
              }
            ]
          ])
        )
        const applied = yield* apply(made.body.data.uuid, { force: true })
        assert.deepStrictEqual([applied.status, applied.body.data?.counts], [200, counts])
      })
  )
})
