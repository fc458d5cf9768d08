import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import {
  bulk,
  countOf,
  create,
  creation,
  outcomesOf,
  remove,
  update,
  upsert,
  uuidsOf
} from "../../../support/requests/BulkRequests.ts"
import { readProduct } from "../../../support/requests/ProductRequests.ts"
import * as Requests from "../../../support/requests/Requests.ts"
import * as TestServer from "../../../support/TestServer.ts"

const { problemsOf, read, send, unique, unknownUuid } = Requests

layer(TestServer.layer(), { excludeTestServices: true })("a bulk request", (it) => {
  it.effect("answers each operation in the order of the request, and the counts of their statuses", () =>
    Effect.gen(function* () {
      const [changed, deleted] = [
        yield* Requests.create({ contact: { phone: "+31 30 123 45 67" } }),
        yield* Requests.create()
      ]
      const key = unique("upserted")
      const answer = yield* bulk("locations", [
        creation(),
        update(changed, { contact: { phone: null } }),
        creation({ name: 1 }),
        upsert(key, { name: "New" }),
        update(unknownUuid, { name: "Other" }),
        remove(deleted),
        remove(deleted)
      ])
      assert.strictEqual(answer.status, 200)
      assert.deepStrictEqual(Object.keys(answer.body), ["_tag", "data", "applied", "counts"])
      assert.deepStrictEqual(outcomesOf(answer), [
        "201",
        "200",
        "400 InvalidRequestError name wrongType",
        "201",
        "404 LocationNotFoundError",
        "200",
        "404 LocationNotFoundError"
      ])
      assert.deepStrictEqual(
        answer.body.data.map(({ index }: { index: number }) => index),
        [0, 1, 2, 3, 4, 5, 6]
      )
      assert.deepStrictEqual([answer.body.applied, answer.body.counts], [true, { 200: 2, 201: 2, 400: 1, 404: 2 }])
      const [first, second, third, fourth] = uuidsOf(answer)
      assert.deepStrictEqual([second, third], [changed, undefined])
      assert.strictEqual((yield* read(first!)).name, "Branch")
      assert.deepInclude(yield* read(fourth!), { name: "New", identifier: key })
      assert.notProperty(yield* read(changed), "contact")
      assert.strictEqual((yield* send("GET", `/v1/locations/${deleted}`)).status, 404)
    })
  )

  it.effect("stores every character of the texts of a list", () =>
    Effect.gen(function* () {
      const tags = ['"', "\\", "a,b", "{}", "NULL", "[1]", '\\"\\', "€ 𝄞 é", "''"]
      const data = { type: "default", name: "Flyer", identifier: unique("listed"), tags }
      const answer = yield* bulk("products", [create(data)])
      assert.deepStrictEqual(outcomesOf(answer), ["201"])
      const [uuid] = uuidsOf(answer)
      const stored = () => Effect.map(readProduct(uuid!), ({ tags }) => tags)
      assert.deepStrictEqual(yield* stored(), tags)
      const others = tags.map((tag) => `${tag}${tag}`)
      assert.deepStrictEqual(outcomesOf(yield* bulk("products", [update(uuid!, { tags: others })])), ["200"])
      assert.deepStrictEqual(yield* stored(), others)
      assert.deepStrictEqual(outcomesOf(yield* bulk("products", [update(uuid!, { tags: [] })])), ["200"])
      assert.deepStrictEqual(yield* stored(), [])
    })
  )

  it.effect("a bulk request has the errors of the single operations, with the id of the request", () =>
    Effect.gen(function* () {
      const taken = unique("taken")
      yield* Requests.create({ identifier: taken })
      const data = [
        { name: "Branch", identifier: taken },
        { name: "Branch", identifier: unique(), locale: "qq-QQ" },
        { name: "", coordinates: { latitude: 100, longitude: 5 }, adress: {} },
        "no record"
      ]
      const answer = yield* bulk(
        "locations",
        data.map((data) => ({ op: "create", data }))
      )
      const requestId = answer.headers.get("x-request-id")
      for (const [index, body] of data.entries()) {
        const single = yield* send("POST", "/v1/locations", { body })
        const { error, status } = answer.body.data[index]
        assert.deepStrictEqual([status, error], [single.status, { ...single.body, requestId }])
      }
    })
  )

  it.effect("a bulk request has the error of the single operation for data that is nested 100,000 levels deep", () =>
    Effect.gen(function* () {
      const name = `${"[".repeat(100_000)}${"]".repeat(100_000)}`
      const operations = `[{"op":"create","data":{"identifier":"deep","name":${name}}}]`
      const answer = yield* send("POST", "/v1/locations/bulk", { raw: `{"operations":${operations}}` })
      assert.deepStrictEqual(outcomesOf(answer), ["400 InvalidRequestError name wrongType"])
    })
  )

  it.effect("rejects an operation with more data than the body of a single one has, and does the others", () =>
    Effect.gen(function* () {
      // In UTF-8, each of these characters has three bytes.
      const [key, tags] = [unique("large"), Array.from({ length: 500 }, () => "€".repeat(1000))]
      const [uuid] = uuidsOf(yield* bulk("locations", [creation()]))
      const answer = yield* bulk("locations", [
        creation({ tags }),
        creation(),
        update(uuid!, { tags }),
        upsert(key, { name: "Branch", tags })
      ])
      const tooLarge = "413 PayloadTooLargeError"
      assert.deepStrictEqual(outcomesOf(answer), [tooLarge, "201", tooLarge, tooLarge])
      const single = yield* send("POST", "/v1/locations", { body: creation({ tags })["data"] })
      assert.deepStrictEqual([single.status, single.body._tag], [413, "PayloadTooLargeError"])
    })
  )

  it.effect("of 1 and of 1,000 operations is done; one of 0 and of 1,001 operations is a 400 and writes nothing", () =>
    Effect.gen(function* () {
      for (const count of [1, 1000]) {
        const prefix = unique("many")
        const operations = Array.from({ length: count }, (_, index) => creation({ identifier: `${prefix}-${index}` }))
        const answer = yield* bulk("locations", operations)
        assert.deepStrictEqual(answer.body.counts, { 201: count })
        assert.strictEqual(new Set(uuidsOf(answer)).size, count)
        assert.strictEqual(yield* countOf(`${prefix}-`), count)
      }
      const prefix = unique("none")
      for (const [count, code] of [
        [0, "tooFew"],
        [1001, "tooMany"]
      ] as const) {
        const operations = Array.from({ length: count }, (_, index) => creation({ identifier: `${prefix}-${index}` }))
        const answer = yield* bulk("locations", operations)
        assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", `operations ${code}`])
      }
      assert.strictEqual(yield* countOf(`${prefix}-`), 0)
    })
  )

  const malformed: ReadonlyArray<readonly [string, unknown, ReadonlyArray<string>]> = [
    ["an unknown op", { op: "replace", data: {} }, ["operations.1.op notAllowed"]],
    ["no op", { data: {} }, ["operations.1.op required"]],
    ["an update without uuid", { op: "update", data: {} }, ["operations.1.uuid required"]],
    ["an update of no uuid", { op: "update", uuid: "x", data: {} }, ["operations.1.uuid invalidFormat"]],
    ["a deletion without uuid", { op: "delete" }, ["operations.1.uuid required"]],
    ["a creation without data", { op: "create" }, ["operations.1.data required"]],
    ["an update without data", { op: "update", uuid: unknownUuid }, ["operations.1.data required"]],
    ["an upsert without data", { op: "upsert", key: "a" }, ["operations.1.data required"]],
    ["an upsert without key", { op: "upsert", data: {} }, ["operations.1.key required"]],
    ["an upsert with a key of another type", { op: "upsert", key: 1, data: {} }, ["operations.1.key wrongType"]],
    ["a creation with an uuid", { op: "create", uuid: unknownUuid, data: {} }, ["operations.1.uuid unknownMember"]],
    ["a deletion with data", { op: "delete", uuid: unknownUuid, data: {} }, ["operations.1.data unknownMember"]],
    ["an unknown member", { op: "delete", uuid: unknownUuid, force: true }, ["operations.1.force unknownMember"]],
    ["an ifMatch of another type", { op: "delete", uuid: unknownUuid, ifMatch: 1 }, ["operations.1.ifMatch wrongType"]],
    ["no object", "create", ["operations.1 wrongType"]]
  ]
  it.effect.each(malformed)("with %s is a 400 with its path, and writes nothing", ([, operation, issues]) =>
    Effect.gen(function* () {
      const identifier = unique("malformed")
      const answer = yield* bulk("locations", [creation({ identifier }), operation as never])
      assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", ...issues])
      assert.strictEqual(yield* countOf(identifier), 0)
    })
  )

  it.effect("reports every malformed operation, and a mode that does not exist", () =>
    Effect.gen(function* () {
      const operations = [{ op: "delete" }, creation(), { op: "create" }]
      assert.deepStrictEqual(problemsOf(yield* bulk("locations", operations, { body: { mode: "fast" } })).slice(1), [
        "InvalidRequestError",
        "mode notAllowed",
        "operations.0.uuid required",
        "operations.2.data required"
      ])
    })
  )

  it.effect("an upsert of assets is a malformed operation", () =>
    Effect.gen(function* () {
      const answer = yield* bulk("assets", [upsert("logo", {})])
      assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", "operations.0.op notAllowed"])
    })
  )

  it.effect("with the header If-Match is a 400; ifMatch of an operation is a precondition of its record", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* Requests.create(), yield* Requests.create()]
      const whole = yield* bulk("locations", [remove(one)], { headers: { "if-match": '"a"' } })
      assert.deepStrictEqual(problemsOf(whole), [400, "InvalidRequestError", "if-match notAllowed"])
      const { headers } = yield* send("GET", `/v1/locations/${one}`)
      const ifMatch = headers.get("etag")!
      const answer = yield* bulk("locations", [
        update(one, { name: "Other" }, { ifMatch: '"stale"' }),
        update(one, { name: "Changed" }, { ifMatch }),
        update(one, { name: "Again" }, { ifMatch }),
        remove(one, { ifMatch }),
        remove(other, { ifMatch: "*" })
      ])
      const failed = "412 PreconditionFailedError"
      assert.deepStrictEqual(outcomesOf(answer), [failed, "200", failed, failed, "200"])
      assert.strictEqual((yield* read(one)).name, "Changed")
    })
  )

  it.effect("a bulk request does several operations on one record in their order", () =>
    Effect.gen(function* () {
      const identifier = unique("order")
      const answer = yield* bulk("locations", [
        upsert(identifier, { name: "One" }),
        upsert(identifier, { name: "Two" }),
        create({ name: "Three", identifier })
      ])
      assert.deepStrictEqual(outcomesOf(answer), ["201", "200", "400 DuplicateIdentifierError"])
      const uuid = uuidsOf(answer)[0]!
      assert.strictEqual(uuidsOf(answer)[1], uuid)
      assert.strictEqual((yield* read(uuid)).name, "Two")
      const again = yield* bulk("locations", [
        update(uuid, { identifier: `${identifier}-b` }),
        create({ name: "Three", identifier }),
        remove(uuid),
        create({ name: "Four", identifier: `${identifier}-b` }),
        update(uuid, { name: "Five" })
      ])
      assert.deepStrictEqual(outcomesOf(again), ["200", "201", "200", "201", "404 LocationNotFoundError"])
    })
  )

  it.effect("a bulk request has no header Warning, which a single creation with a similar identifier has", () =>
    Effect.gen(function* () {
      const identifier = unique("Similar")
      yield* Requests.create({ identifier })
      const body = { name: "Branch", identifier: identifier.toUpperCase() }
      const answer = yield* bulk("locations", [create(body)])
      assert.deepStrictEqual([outcomesOf(answer), answer.headers.get("warning")], [["201"], null])
      yield* bulk("locations", [remove(uuidsOf(answer)[0]!)])
      assert.isNotNull((yield* send("POST", "/v1/locations", { body })).headers.get("warning"))
    })
  )
})
