import { assert, layer } from "@effect/vitest"
import { Effect, Record, Struct } from "effect"
import { operations } from "../support/contract/Documented.ts"
import * as OverWire from "../support/contract/OverWire.ts"
import { call } from "../support/contract/Provoking.ts"
import { type Answer, send, unique, unknownKey } from "../support/requests/Requests.ts"
import { report } from "../support/proofs/Figures.ts"
import { TestServer } from "../support/TestServer.ts"
import { Wire } from "../support/wire/Wire.ts"
import { accepted, databaseHash, refused } from "./Corpus.ts"

interface LogLine {
  readonly message: string
  readonly annotations: Readonly<Record<"requestId" | "operation" | "action" | "record" | "key", string>>
}

const atOnce = { concurrency: 8 }
/** The test of a webhook sends an event and writes no record. */
const isWrite = ({ operation }: { readonly operation: { readonly id: string; readonly method: string } }) =>
  operation.method !== "GET" && operation.id !== "webhooks.test"
const requestIdOf = ({ headers }: Answer) => headers.get("x-request-id")

/** The log entries of writes, from the given line on. */
const writesSince = (line: number) =>
  Effect.map(Wire, ({ logs }) =>
    logs.slice(line).flatMap((text) => {
      const entry = JSON.parse(text) as LogLine
      return ["Written", "Unchanged", "Written in bulk"].includes(entry.message) ? [entry.annotations] : []
    })
  )
const linesSoFar = Effect.map(Wire, ({ logs }) => logs.length)
/** Calls of every write, which are prepared once for the tests. */
const preparedWrites = Effect.runSync(
  Effect.cached(
    Effect.forEach(accepted.filter(isWrite), ({ operation, prepared }) =>
      Effect.map(prepared, (asked) => ({ operation, asked }))
    )
  )
)
const uuidOf = (key: string) => Effect.map(send("GET", "/v1/me", { key }), ({ body }) => body.data.uuid as string)

layer(OverWire.layer(), { excludeTestServices: true })("audit log", (it) => {
  it.effect(
    "every record written is logged in one line with request, key, operation and uuid, but not its content; a bulk request in one line with its counts",
    (ctx) =>
      Effect.gen(function* () {
        const { fullKey } = yield* TestServer
        const key = yield* uuidOf(fullKey)
        const writes = yield* preparedWrites
        for (const { asked, operation } of writes) {
          const before = yield* linesSoFar
          const answer = yield* call(operation, asked)
          const logged = yield* writesSince(before)
          if (operation.id.endsWith(".bulk")) {
            const counts = Record.map(answer.body.counts as Readonly<Record<string, number>>, String)
            assert.deepStrictEqual(logged, [
              { ...counts, requestId: requestIdOf(answer), operation: operation.id, key } as never
            ])
            continue
          }
          const { uuid, fileUuid } = answer.body.data
          // A reservation is a record of its own below its product.
          const record = operation.id.startsWith("reservations.") ? uuid : (asked.uuid ?? uuid ?? fileUuid)
          const records = operation.id === "apiKeys.rotate" ? [asked.uuid, uuid] : [record]
          const expected = { requestId: requestIdOf(answer), operation: operation.id, key }
          assert.deepStrictEqual(
            logged.map(Struct.omit(["action"])),
            records.map((record) => ({ ...expected, record }))
          )
        }
        assert.strictEqual(writes.length, operations.filter((operation) => isWrite({ operation })).length)
        yield* Effect.promise(() => report(ctx, { "kinds of writes": writes.length, "logged once": writes.length }))
      })
  )

  it.effect("reads and rejected writes are not logged", (ctx) =>
    Effect.gen(function* () {
      const { key } = yield* TestServer
      const reader = yield* key(["read:users"])
      const prepare = ({ operation, prepared, tag }: (typeof refused)[number]) =>
        Effect.map(prepared, (asked) => ({ operation, asked, tag }))
      const reads = yield* Effect.forEach(
        // A stream has no end.
        accepted.filter((found) => !isWrite(found) && found.operation.id !== "events.stream"),
        prepare
      )
      const writes = yield* Effect.forEach(refused.filter(isWrite), prepare, atOnce)
      const unpermitted = yield* preparedWrites
      const before = yield* linesSoFar
      const ask = <A>(calls: ReadonlyArray<A>, one: (call: A) => Effect.Effect<Answer, never, TestServer>) =>
        Effect.map(Effect.forEach(calls, one, { concurrency: 8 }), (answers) => new Set(answers.map((a) => a.status)))
      assert.deepStrictEqual(yield* ask(reads, ({ asked, operation }) => call(operation, asked)), new Set([200]))
      const statuses = yield* ask(writes, ({ asked, operation }) => call(operation, asked))
      assert.sameMembers([...statuses], [400, 404, 409, 410])
      for (const [held, status] of [
        [reader, 403],
        [unknownKey, 401]
      ] as const) {
        const asked = yield* ask(unpermitted, ({ asked, operation }) => call(operation, asked, { key: held }))
        assert.deepStrictEqual(asked, new Set([status]))
      }
      assert.deepStrictEqual(yield* writesSince(before), [])
      yield* Effect.promise(() =>
        report(ctx, { reads: reads.length, "writes rejected": writes.length + unpermitted.length * 2 })
      )
    })
  )

  it.effect("concurrent writes are logged exactly once each", (ctx) =>
    Effect.gen(function* () {
      const { key } = yield* TestServer
      const writers = yield* Effect.replicateEffect(key(["create:groups"]), 4)
      const names = Array.from({ length: 64 }, () => unique("Group"))
      const before = yield* linesSoFar
      // Every name twice: only one create of each can succeed.
      const answers = yield* Effect.forEach(
        [...names, ...names],
        (name, index) => send("POST", "/v1/groups", { key: writers[index % 4]!, body: { name } }),
        { concurrency: 32 }
      )
      const made = answers.filter(({ status }) => status === 201)
      const logged = yield* writesSince(before)
      yield* Effect.promise(() => report(ctx, { "changes made": made.length, "changes logged": logged.length }))
      assert.strictEqual(made.length, names.length)
      assert.sameMembers(
        logged.map(({ record }) => record),
        made.map(({ body }) => body.data.uuid as string)
      )
      assert.sameMembers(
        logged.map(({ requestId }) => requestId),
        made.map((answer) => requestIdOf(answer)!)
      )
      assert.strictEqual(new Set(logged.map(({ key }) => key)).size, 4)
    })
  )

  it.effect("rows change only with a logged write", () =>
    Effect.gen(function* () {
      const uuid: string = (yield* send("POST", "/v1/groups", { body: { name: unique("Group") } })).body.data.uuid
      const before = yield* databaseHash
      const lines = yield* linesSoFar
      yield* send("PATCH", `/v1/groups/${uuid}`, { body: { name: "" } })
      assert.deepStrictEqual([yield* databaseHash, yield* writesSince(lines)], [before, []])
      yield* send("PATCH", `/v1/groups/${uuid.toUpperCase()}`, { body: { description: "Secret plans" } })
      assert.notDeepEqual(yield* databaseHash, before)
      const [logged] = yield* writesSince(lines)
      assert.strictEqual(logged!.record, uuid)
      assert.notInclude((yield* Wire).logs.join("\n"), "Secret plans")
    })
  )
})
