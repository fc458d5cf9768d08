import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { seal } from "../../../src/jobs/Sealing.ts"
import { verify as verifyLog } from "../../../src/repositories/changes/Verification.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import * as Backups from "../../support/cli/Backups.ts"
import { sealed } from "../../support/requests/LogRequests.ts"
import * as Postgres from "../../support/Postgres.ts"
import * as Products from "../../support/requests/ProductRequests.ts"
import { send } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"

/** Runs `waypost audit verify`. */
const verify = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  return yield* Backups.command(["audit", "verify", ...args], yield* Backups.current, yield* Backups.dataFolder)
})

const anchorIn = (text: string) => /^\d+:[0-9a-f]{64}$/m.exec(text)![0]

/** Records with a history, one of them erased. */
const history = Effect.gen(function* () {
  const group = yield* Products.createGroup()
  const user = yield* Products.createUser({ groups: [group], firstName: "Ada" })
  yield* Effect.forEach([1, 2, 3], (round) =>
    send("PATCH", `/v1/users/${user}`, { body: { lastName: `Name ${round}` } })
  )
  const gone = yield* Products.createUser({ groups: [group] })
  yield* send("PATCH", `/v1/users/${gone}`, { body: { lastName: "Gone" } })
  yield* send("DELETE", `/v1/users/${gone}?erase=true`)
  yield* sealed
  const { pooled } = yield* Sql
  const rows = yield* pooled<{ readonly position: number }>`
    select position::int from events where record_uuid = ${user}::uuid order by position`
  const [erased] = yield* pooled<{ readonly position: number }>`
    select position::int from events where record_uuid = ${gone}::uuid and salt is null limit 1`
  return { user, positions: rows.map(({ position }) => position), erased: erased!.position }
})

/** Runs an effect while the changes of a statement are in place. */
const tampered = Effect.fnUntraced(function* <A, E, R>(statement: string, effect: Effect.Effect<A, E, R>) {
  const { pooled } = yield* Sql
  yield* pooled.unsafe("create table kept as table events")
  yield* pooled.unsafe("create table kept_log as table event_log")
  yield* pooled.unsafe("create table kept_links as table event_links")
  yield* pooled.unsafe("create table kept_erasures as table event_erasures")
  yield* Effect.forEach(statement.split(";"), (part) => pooled.unsafe(part))
  const result = yield* effect
  for (const [table, copy] of [
    ["events", "kept"],
    ["event_log", "kept_log"],
    ["event_links", "kept_links"],
    ["event_erasures", "kept_erasures"]
  ]) {
    yield* pooled.unsafe(`delete from ${table}`)
    yield* pooled.unsafe(`insert into ${table} select * from ${copy}`)
    yield* pooled.unsafe(`drop table ${copy}`)
  }
  return result
})

layer(TestServer.layer(), { excludeTestServices: true })("waypost audit verify", (it) => {
  it.effect("an unchanged log verifies, and its last line is the place from which a later run verifies", () =>
    Effect.gen(function* () {
      yield* history
      const first = yield* verify()
      assert.strictEqual(first.code, 0, first.text)
      const anchor = anchorIn(first.text)
      yield* history
      const later = yield* verify("--from-hash", anchor)
      assert.strictEqual(later.code, 0, later.text)
      assert.include(later.text, `after position ${anchor.split(":")[0]} are unchanged`)
      assert.notStrictEqual(anchorIn(later.text), anchor)
      const wrong = yield* verify("--from-hash", "soon")
      assert.strictEqual(wrong.code, 1)
      assert.include(wrong.text, "Expected what an earlier run printed")
    })
  )

  it.effect("every way to alter the log is found", () =>
    Effect.gen(function* () {
      const { erased, positions } = yield* history
      const [first, second, third, last] = positions as [number, number, number, number]
      const cases: ReadonlyArray<readonly [statement: string, expected: ReadonlyArray<string>]> = [
        [
          `update events set after = '{"last_name": "Other"}' where position = ${second}`,
          [`${second}: its values were changed`]
        ],
        [`update events set label = 'Other' where position = ${second}`, [`${second}: its values were changed`]],
        [`update events set salt = null where position = ${second}`, [`${second}: its values were changed`]],
        [`update events set bytes = 1 where position = ${second}`, [`${second}: its size was changed`]],
        ...["actor = '{}'", "action = 'deleted'", "record_uuid = gen_random_uuid()", "id = gen_random_uuid()"].map(
          (change) =>
            [
              `update events set ${change} where position = ${second}`,
              [`${second}: it was changed, inserted or moved`]
            ] as const
        ),
        ...["occurred_at", "sealed_at"].map(
          (time) =>
            [
              `update events set ${time} = ${time} - interval '1 ms' where position = ${second}`,
              [`${second}: it was changed, inserted or moved`]
            ] as const
        ),
        [`delete from events where position = ${second}`, [`${third}: 1 event is missing before it`]],
        // Exchanged.
        [
          `update events set position = -1 where position = ${second}; update events set position = ${second} where position = ${third};
            update events set position = ${third} where position = -1`,
          [`${second}: it was changed, inserted or moved`, `${third}: it was changed, inserted or moved`]
        ],
        // Inserted in the place of another.
        [
          `update events set position = position + 100000 where position >= ${third}; update events set position = position - 99999 where position > 100000;
            insert into events select ${third}, gen_random_uuid(), type, action, record_uuid, occurred_at, sealed_at, actor, label, before, after,
              links, bytes, salt, digest, hash from events where position = ${second}`,
          [`${third}: it was changed, inserted or moved`]
        ],
        [
          `update events set label = null, before = null, after = null, salt = null, bytes = 0 where position = ${second}`,
          [`${second}: it has no values, and no erasure names it`]
        ],
        [
          `update events set label = 'Ada', salt = uuid_send(gen_random_uuid()) where position = ${erased}`,
          [`${erased}: its values were changed`]
        ],
        [`update events set links = null where position = ${first}`, [`${first}: its values were changed`]],
        [`delete from event_erasures`, [`${erased}: it has no values, and no erasure names it`]],
        [`delete from event_links where position = ${first}`, [`${first}: the history of`]],
        // The last events.
        [`delete from events where position > ${last}`, ["the log ends here, but the last event is"]]
      ]
      for (const [statement, expected] of cases) {
        const { damages } = yield* tampered(statement, Effect.provide(verifyLog(), Postgres.untimed))
        const found = damages.map(({ position, problem }) => `${position}: ${problem}`)
        for (const line of expected) assert.include(found.join("\n"), line, statement)
      }
      assert.strictEqual((yield* verify()).code, 0)
    })
  )

  it.effect("a log whose last events were removed, or that was made again, does not have a hash that was kept", () =>
    Effect.gen(function* () {
      const { positions } = yield* history
      const anchor = anchorIn((yield* verify()).text)
      const cut = `delete from events where position > ${positions[1]};
        update event_log set (position, hash) = (select position, hash from events order by position desc limit 1)`
      assert.strictEqual((yield* tampered(cut, verify())).code, 0)
      const { code, text } = yield* tampered(cut, verify("--from-hash", anchor))
      assert.deepStrictEqual([code, text.includes("the log does not have this hash there")], [1, true], text)
    })
  )

  it.effect("a log that was pruned past a hash that was kept is not called damaged", () =>
    Effect.gen(function* () {
      const anchor = anchorIn((yield* verify()).text)
      const { positions } = yield* history
      const pruned = `update event_log set (pruned_position, pruned_hash) =
          (select position, hash from events where position = ${positions[0]});
        delete from events where position <= ${positions[0]}`
      assert.strictEqual((yield* tampered(pruned, verify())).code, 0)
      const { code, text } = yield* tampered(pruned, verify("--from-hash", anchor))
      assert.strictEqual(code, 1)
      assert.include(text, `The events up to position ${positions[0]} were pruned; verify without --from-hash`)
      assert.notInclude(text, "damaged")
    })
  )

  it.effect("more events than one batch verify", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      yield* pooled`insert into asset_categories (uuid, key, translations, position)
        select gen_random_uuid(), 'category-' || i, '[]', 0 from generate_series(1, 5100) i`
      yield* seal
      yield* sealed
      const { code, text } = yield* verify()
      assert.strictEqual(code, 0, text)
      const [row] = yield* pooled<{ readonly position: number }>`select position::int from event_log`
      assert.include(text, `${row!.position.toLocaleString("en")} events`)
    })
  )
})
