import { assert, describe, layer } from "@effect/vitest"
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
import { eventsOf, shown } from "../../../support/requests/LogRequests.ts"
import { createGroup, createUser } from "../../../support/requests/ProductRequests.ts"
import * as Requests from "../../../support/requests/Requests.ts"
import { databaseHash } from "../../../threats/Corpus.ts"
import * as TestServer from "../../../support/TestServer.ts"

const { expectError, read, send, unique, unknownUuid } = Requests

const atomic = { body: { mode: "atomic" } }
const total = Effect.map(send("GET", "/v1/locations?limit=1"), ({ body }) => body.pagination.total as number)

layer(TestServer.layer(), { excludeTestServices: true })("bulk requests", (it) => {
  describe("an atomic request", () => {
    it.effect("whose operations all succeed is applied", () =>
      Effect.gen(function* () {
        const uuid = yield* Requests.create()
        const answer = yield* bulk("locations", [creation(), update(uuid, { name: "Other" })], atomic)
        assert.deepStrictEqual([outcomesOf(answer), answer.body.applied], [["201", "200"], true])
        assert.strictEqual((yield* read(uuid)).name, "Other")
        assert.strictEqual((yield* read(uuidsOf(answer)[0]!)).name, "Branch")
      })
    )

    it.effect("with one that fails changes no row, and answers the failures and 424 for the others", () =>
      Effect.gen(function* () {
        const uuid = yield* Requests.create()
        const taken = unique("taken")
        yield* Requests.create({ identifier: taken })
        const before = yield* databaseHash
        const answer = yield* bulk(
          "locations",
          [
            creation(),
            creation({ identifier: taken }),
            update(uuid, { name: "Other" }),
            creation({ name: "" }),
            upsert(taken, { name: "Renamed" }),
            remove(uuid),
            remove(uuid)
          ],
          atomic
        )
        assert.deepStrictEqual(outcomesOf(answer), [
          "424 NotAppliedError",
          "400 DuplicateIdentifierError",
          "424 NotAppliedError",
          "400 InvalidRequestError name tooShort",
          "424 NotAppliedError",
          "424 NotAppliedError",
          "404 LocationNotFoundError"
        ])
        assert.deepStrictEqual([answer.status, answer.body.applied], [200, false])
        assert.deepStrictEqual(answer.body.counts, { 400: 2, 404: 1, 424: 4 })
        for (const outcome of answer.body.data) assert.notProperty(outcome, "uuid")
        const { error } = answer.body.data[0]
        assert.deepStrictEqual(Object.keys(error), ["_tag", "message", "requestId"])
        assert.strictEqual(error.requestId, answer.headers.get("x-request-id"))
        assert.deepStrictEqual(yield* databaseHash, before)
      })
    )

    it.effect("fails by a rule that only the members of other operations break, as an independent one does", () =>
      Effect.gen(function* () {
        const operations = () => {
          const username = unique("rule")
          const user = (fields: object) => ({ username, email: `${username}@example.com`, ...fields })
          return [
            create(user({})),
            create(user({ username: username.toUpperCase() })),
            create(user({ username: `${username}b` }))
          ]
        }
        const independent = yield* bulk("users", operations())
        assert.deepStrictEqual(outcomesOf(independent), [
          "201",
          "409 UsernameNotUniqueError",
          "409 EmailNotUniqueError"
        ])
        const whole = yield* bulk("users", operations(), atomic)
        const undone = "424 NotAppliedError"
        assert.deepStrictEqual(outcomesOf(whole), [undone, "409 UsernameNotUniqueError", "409 EmailNotUniqueError"])
      })
    )
  })

  describe("the events of a bulk request", () => {
    it.effect("a bulk request has the events of single writes: one for each change of a record, in order", () =>
      Effect.gen(function* () {
        const identifier = unique("events")
        const { events, value: answer } = yield* eventsOf(
          Effect.gen(function* () {
            const [uuid] = uuidsOf(yield* bulk("locations", [create({ name: "One", identifier })]))
            const answer = yield* bulk("locations", [
              update(uuid!, { name: "Two" }),
              update(uuid!, { name: "Two" }),
              update(uuid!, { name: "Three", contact: { phone: "+31 30 123 45 67" } }),
              upsert(identifier, { name: "Four" }),
              update(uuid!, { name: 4 }),
              remove(uuid!),
              create({ name: "Five", identifier })
            ])
            return { uuid: uuid!, next: uuidsOf(answer)[6]!, requestId: answer.headers.get("x-request-id")! }
          })
        )
        const { next, requestId, uuid } = answer
        assert.deepStrictEqual(
          shown(events).map(({ changes, type, uuid }) => [type, uuid, changes["name"]]),
          [
            ["location.created", uuid, { after: "One" }],
            ["location.updated", uuid, { before: "One", after: "Two" }],
            ["location.updated", uuid, { before: "Two", after: "Three" }],
            ["location.updated", uuid, { before: "Three", after: "Four" }],
            ["location.deleted", uuid, { before: "Four" }],
            ["location.created", next, { after: "Five" }]
          ]
        )
        assert.deepStrictEqual(new Set(events.slice(1).map(({ actor }) => actor.requestId)), new Set([requestId]))
      })
    )

    it.effect("show the memberships that a creation, a patch and a deletion change", () =>
      Effect.gen(function* () {
        const [user, location, group] = [yield* createUser(), yield* Requests.create(), yield* createGroup()]
        const { events, value } = yield* eventsOf(
          bulk("groups", [
            create({ name: unique("Group"), users: [user] }),
            update(group, { locations: [location] }),
            update(group, { locations: [] }),
            remove(group)
          ])
        )
        assert.deepStrictEqual(outcomesOf(value), ["201", "200", "200", "200"])
        const ofGroups = events.filter(({ record }) => record.type === "group")
        assert.deepStrictEqual(
          ofGroups.map(({ type }) => type),
          ["group.created", "group.updated", "group.updated", "group.deleted"]
        )
        const changes = shown(ofGroups).map(({ changes }) => changes)
        assert.deepStrictEqual(changes[0]!["users"]?.added, [user])
        assert.deepStrictEqual(changes[1]!["locations"]?.added, [location])
        assert.deepStrictEqual(changes[2]!["locations"]?.removed, [location])
      })
    )

    it.effect("leave entity tags and totals as single writes do", () =>
      Effect.gen(function* () {
        const uuid = yield* Requests.create()
        const tag = Effect.map(send("GET", `/v1/locations/${uuid}`), ({ headers }) => headers.get("etag"))
        const before = [yield* tag, yield* total]
        yield* bulk("locations", [update(uuid, { name: "Branch" })])
        assert.deepStrictEqual([yield* tag, yield* total], before)
        const answer = yield* bulk("locations", [
          update(uuid, { name: "Other" }),
          creation(),
          creation(),
          creation({ name: 1 })
        ])
        assert.notStrictEqual(yield* tag, before[0])
        assert.strictEqual(yield* total, Number(before[1]) + 2)
        yield* bulk(
          "locations",
          uuidsOf(answer).flatMap((uuid, index) => (index === 3 ? [] : [remove(uuid)]))
        )
        assert.strictEqual(yield* total, Number(before[1]) - 1)
      })
    )
  })

  describe("a safe bulk request", () => {
    it.effect("with an Idempotency-Key is done once, and a repetition gets the whole answer", () =>
      Effect.gen(function* () {
        const prefix = unique("once")
        const operations = [creation({ identifier: prefix }), creation({ name: 1 }), remove(unknownUuid)]
        for (const more of [{}, { mode: "atomic" }]) {
          const headers = { "idempotency-key": unique("bulk") }
          const [first, second] = [
            yield* bulk("locations", operations, { headers, body: more }),
            yield* bulk("locations", operations, { headers, body: more })
          ]
          assert.deepStrictEqual([second.status, second.text], [200, first.text])
          assert.isNull(first.headers.get("idempotent-replayed"))
          assert.strictEqual(second.headers.get("idempotent-replayed"), "true")
          const other = yield* bulk("locations", operations.slice(1), { headers, body: more })
          expectError(other, 422, "IdempotencyKeyReusedError")
        }
        assert.strictEqual(yield* countOf(prefix), 1)
      })
    )

    it.effect.each(["independent", "atomic"])(
      "that is only validated (%s) answers as the request does, and changes no row",
      (mode) =>
        Effect.gen(function* () {
          const uuid = yield* Requests.create()
          const identifier = unique("validated")
          const operations = [
            upsert(identifier, { name: "One" }),
            create({ name: "Two", identifier }),
            update(uuid, { name: "Other" }),
            remove(uuid)
          ]
          const before = yield* databaseHash
          const validated = yield* bulk("locations", operations, {
            body: { mode },
            headers: { prefer: "validate-only" }
          })
          assert.deepStrictEqual(yield* databaseHash, before)
          assert.strictEqual(validated.headers.get("preference-applied"), "validate-only")
          const written = yield* bulk("locations", operations, { body: { mode } })
          assert.isNull(written.headers.get("preference-applied"))
          assert.deepStrictEqual(outcomesOf(validated), outcomesOf(written))
          const { applied, counts } = written.body
          assert.deepStrictEqual([validated.body.applied, validated.body.counts], [applied, counts])
        })
    )
  })
})
