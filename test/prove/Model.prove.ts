import { assert, layer } from "@effect/vitest"
import { Arbitrary, Effect } from "effect"
import { Sql } from "../../src/sql/Sql.ts"
import { send } from "../support/requests/Requests.ts"
import * as TestServer from "../support/TestServer.ts"
import { report } from "../support/proofs/Figures.ts"
import { compare, compareMembers, compareModule } from "./model/Compare.ts"
import { beginning, type Command, kinds, sequence } from "./model/Commands.ts"
import { perform } from "./model/Run.ts"
import { relations, State } from "./model/State.ts"
import * as Consistency from "./Consistency.ts"

const seed = Number(process.env["MODEL_SEED"] ?? 20_261_121)
const sequences = 300
const length = 30

/** Empties the database, which is faster than creating one. */
const empty = Effect.flatMap(Sql, ({ pooled }) =>
  Effect.forEach(
    [
      "posts",
      "products where parent_uuid is not null",
      "products",
      "assets",
      "users",
      "groups",
      "locations",
      "files",
      "upload_sessions"
    ],
    (rows) => pooled.unsafe(`delete from ${rows}`),
    { discard: true }
  )
)

/** Compares every list with its total, every relation and every module with the model. */
const compareAll = Effect.fnUntraced(function* (state: State) {
  for (const kind of kinds) {
    const include = kind === "assets" ? "&include=validFrom,validUntil,focalPoint" : ""
    const { body } = yield* send("GET", `/v1/${kind}?limit=500${include}`)
    const total: number = body.pagination.total
    if (total !== state.records[kind].size || body.data.length !== total)
      return yield* Effect.fail(`The total of ${kind} is ${total} instead of ${state.records[kind].size}`)
    for (const record of body.data) yield* compare(state, kind, record.uuid, record)
  }
  for (const [a, b] of relations) {
    for (const uuid of state.records[a].keys()) yield* compareMembers(state, a, uuid, b)
    for (const uuid of state.records[b].keys()) yield* compareMembers(state, b, uuid, a)
  }
  for (const uuid of state.records.products.keys()) {
    yield* compareModule(state, uuid, "locations")
    yield* compareModule(state, uuid, "stock")
  }
})

layer(TestServer.layer(), { excludeTestServices: true })("model of the service", (it) => {
  it.effect(
    "300 random command sequences give the same results as the model",
    (ctx) =>
      Effect.gen(function* () {
        let performed = 0
        let alive = 0
        const agrees = Effect.fnUntraced(function* (commands: ReadonlyArray<Command>) {
          yield* Effect.orDie(empty)
          const state = new State()
          for (const command of beginning) yield* perform(state, command)
          for (const command of commands) {
            yield* perform(state, command)
            performed++
          }
          yield* compareAll(state)
          alive += kinds.reduce((sum, kind) => sum + state.records[kind].size, 0)
          return true
        })
        const result = yield* Arbitrary.checkEffect(sequence(length), agrees, {
          runs: sequences,
          seed,
          maxShrinks: 40
        })
        const { dangling, invariants, violations } = yield* Consistency.inspect
        yield* Effect.promise(() =>
          report(ctx, {
            sequences: result._tag === "Passed" ? result.runs : 0,
            commands: performed,
            "records at the ends": alive,
            [`of ${invariants} invariants broken`]: violations.length + dangling.length,
            seed: String(seed)
          })
        )
        assert.strictEqual(Arbitrary.formatCheckFailure(result), undefined)
        assert.deepStrictEqual([...violations, ...dangling], [])
        assert.isAtLeast(performed, sequences * length)
      }),
    280_000
  )
})
