import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../../src/sql/Sql.ts"
import {
  apply,
  branches,
  changesOf,
  collection,
  keyWith,
  listOf,
  plan,
  zero
} from "../../../support/requests/PlanRequests.ts"
import { expectError, problemsOf, send, unique } from "../../../support/requests/Requests.ts"
import * as TestServer from "../../../support/TestServer.ts"

layer(TestServer.layer(), { excludeTestServices: true })("the files of plans and their limits", (it) => {
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
