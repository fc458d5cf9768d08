import { assert, layer } from "@effect/vitest"
import { Effect, Layer, References, Tracer } from "effect"
import { SecureRandom } from "effect/crypto"
import {
  bulk,
  creation,
  type Operation,
  remove,
  update,
  upsert,
  uuidsOf
} from "../../../support/requests/BulkRequests.ts"
import { send, unique } from "../../../support/requests/Requests.ts"
import * as TestServer from "../../../support/TestServer.ts"

/** The statements so far, except those on keys, by the trace of their request. */
const statements = new Map<string, Array<string>>()

const tracer = Tracer.make({
  span: (options) => {
    const span = new Tracer.NativeSpan(options)
    const end = span.end.bind(span)
    span.end = (...args) => {
      const text = span.attributes.get("db.query.text")
      // Keys are read once in a while.
      if (typeof text === "string" && !text.includes("api_keys"))
        statements.set(span.traceId, [...(statements.get(span.traceId) ?? []), text])
      end(...args)
    }
    return span
  }
})

const traced = TestServer.layer().pipe(
  Layer.provide(Layer.succeed(Tracer.Tracer, tracer)),
  Layer.provide(Layer.succeed(References.TracerEnabled, true))
)

/** Sends operations, all of which succeed, and returns the uuids and the statements of the request. */
const counted = Effect.fnUntraced(function* (operations: ReadonlyArray<Operation>, resource = "locations") {
  const traceId = SecureRandom.uuidV4Unsafe().replaceAll("-", "")
  const answer = yield* bulk(resource, operations, {
    headers: { traceparent: `00-${traceId}-${traceId.slice(16)}-01` }
  })
  const failed = answer.body.data.filter(({ status }: { readonly status: number }) => status > 201)
  assert.deepStrictEqual([answer.body.data.length, failed], [operations.length, []])
  return { uuids: uuidsOf(answer), statements: statements.get(traceId) ?? [] }
})

layer(traced, { excludeTestServices: true })("the statements of a bulk request", (it) => {
  it.effect("a bulk request has as many statements for 1,000 as for 10 creations, patches, upserts and deletions", () =>
    Effect.gen(function* () {
      const made: Array<Record<string, ReadonlyArray<string>>> = []
      for (const count of [10, 1000]) {
        const prefix = unique("counted")
        const times = (f: (index: number) => Operation) => Array.from({ length: count }, (_, index) => f(index))
        const created = yield* counted(times((index) => creation({ identifier: `${prefix}-${index}` })))
        const patched = yield* counted(
          created.uuids.map((uuid, index) => update(uuid, { name: `Branch ${index}`, contact: { phone: null } }))
        )
        const upserted = yield* counted(times((index) => upsert(`${prefix}-${index}`, { name: `Other ${index}` })))
        const both = yield* counted(
          times((index) => upsert(`${prefix}-${index + count / 2}`, { name: `Last ${index}` }))
        )
        const deleted = yield* counted(created.uuids.map((uuid) => remove(uuid)))
        made.push({
          created: created.statements,
          patched: patched.statements,
          upserted: upserted.statements,
          both: both.statements,
          deleted: deleted.statements
        })
      }
      const [few, many] = made.map((kinds) => Object.entries(kinds).map(([kind, texts]) => [kind, texts.length]))
      assert.deepStrictEqual(many, few)
      for (const [kind, count] of few!) assert.isAbove(Number(count), 0, String(kind))
    })
  )

  it.effect("a bulk request has as many statements for 500 as for 10 groups with users and locations", () =>
    Effect.gen(function* () {
      const made: Array<ReadonlyArray<number>> = []
      for (const count of [10, 500]) {
        const prefix = unique("related")
        const times = (f: (index: number) => Operation) => Array.from({ length: count }, (_, index) => f(index))
        const locations = yield* counted(times((index) => creation({ identifier: `${prefix}-${index}` })))
        const named = (index: number) => [locations.uuids[index % count]!, locations.uuids[(index + 1) % count]!]
        const user = (index: number) => ({
          op: "create" as const,
          data: { username: `${prefix}-${index}`, email: `${prefix}-${index}@example.com`, locations: named(index) }
        })
        const users = yield* counted(times(user), "users")
        const groups = yield* counted(
          times((index) => ({
            op: "create",
            data: { name: `${prefix} ${index}`, users: [users.uuids[index]!], locations: named(index) }
          })),
          "groups"
        )
        const patched = yield* counted(
          groups.uuids.map((uuid, index) => update(uuid, { users: [], locations: named((index + 1) % count) })),
          "groups"
        )
        const { body } = yield* send("GET", `/v1/groups/${groups.uuids[0]}/locations`)
        assert.sameMembers(
          body.data.map(({ uuid }: { readonly uuid: string }) => uuid),
          named(1)
        )
        made.push([users, groups, patched].map(({ statements }) => statements.length))
      }
      assert.deepStrictEqual(made[1], made[0])
    })
  )
})
