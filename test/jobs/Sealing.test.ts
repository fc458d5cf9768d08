import { assert, layer } from "@effect/vitest"
import { Array as Arr, Duration, Effect, Fiber, Layer, Queue } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentShare } from "../../src/domain/keys/Share.ts"
import * as Sealing from "../../src/jobs/Sealing.ts"
import { Sql } from "../../src/sql/Sql.ts"
import * as Postgres from "../support/Postgres.ts"
import { unknownUuid } from "../support/requests/Requests.ts"
import { settings } from "../support/TestServer.ts"
import { atBest, eventually } from "../support/Until.ts"

/** Another process that seals: separate pools on the database of the test. */
const aProcess = Sealing.layer.pipe(Layer.provide(Layer.fresh(Sql.layer)))

const group = (name: string) => `insert into groups (uuid, name) values (gen_random_uuid(), '${name}')`

const labels = (prefix: string) =>
  Effect.flatMap(Sql, ({ pooled }) =>
    Effect.map(
      pooled<{ readonly label: string }>`select label from events where label like ${`${prefix}%`} order by position`,
      (rows) => rows.map(({ label }) => label)
    )
  )

for (const prepare of ["true", "false"]) {
  const services = Postgres.sql.pipe(Layer.provideMerge(settings({ DATABASE_PREPARE: prepare })))
  layer(services, { excludeTestServices: true })(`sealing with DATABASE_PREPARE=${prepare}`, (it) => {
    it.effect(
      "a committed change is in the log within a second while another transaction stays open, and a rollback leaves nothing",
      () =>
        Effect.gen(function* () {
          const { pooled } = yield* Sql
          const open = pooled.withTransaction(Effect.andThen(pooled.unsafe(group("open")), Effect.never))
          const fiber = yield* Effect.forkChild(open)
          yield* eventually(
            "the other transaction has written",
            pooled<{ readonly open: number }>`select count(*)::int as open from pg_locks
            where relation = 'pending_changes'::regclass and mode = 'RowExclusiveLock'`,
            ([row]) => row!.open > 0
          )
          yield* Effect.gen(function* () {
            const name = `committed ${Math.random()}`
            yield* pooled.unsafe(group(name))
            const began = performance.now()
            yield* eventually("the change is sealed", labels(name), (found) => found.length === 1)
            assert.isBelow(performance.now() - began, 1000)
          }).pipe(atBest, Effect.provide(aProcess))
          assert.deepStrictEqual(yield* labels("open"), [])
          yield* Fiber.interrupt(fiber)
          yield* Sealing.seal
          assert.deepStrictEqual(yield* labels("open"), [])
          assert.deepStrictEqual(yield* pooled`select from pending_changes`, [])
        })
    )

    it.effect("several processes that seal give each change one position, without gaps", () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const names = Array.from({ length: 200 }, (_, index) => `shared ${String(index).padStart(3, "0")}`)
        yield* Effect.forEach(names, (name) => pooled.unsafe(group(name)), { concurrency: 4, discard: true }).pipe(
          Effect.andThen(eventually("all are sealed", labels("shared"), (found) => found.length >= names.length)),
          Effect.provide(Layer.mergeAll(aProcess, Layer.fresh(aProcess), Layer.fresh(aProcess)))
        )
        assert.sameMembers(yield* labels("shared"), names)
        const [row] = yield* pooled<{ readonly gaps: number }>`
          select (max(position) - count(*))::int as gaps from events`
        assert.strictEqual(row!.gaps, 0)
      })
    )

    it.effect("a batch that exceeds the statement timeout is sealed in smaller parts, all of them in one run", () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        yield* pooled.unsafe(`create function slow() returns trigger language plpgsql as $$ begin
          if (select count(*) from inserted) > 1000 then perform pg_sleep(10); end if;
          return null;
        end $$`)
        yield* pooled.unsafe(`create trigger slow after insert on events referencing new table as inserted
          for each statement execute function slow()`)
        yield* pooled.unsafe(
          `insert into groups (uuid, name) select gen_random_uuid(), 'slow ' || i from generate_series(1, 1500) i`
        )
        // The time limit of production; behind a pooler, the role has it.
        const limited = prepare === "true" ? Layer.fresh(Sql.layer) : Postgres.hurried(1000)
        yield* Effect.provide(Sealing.seal, limited)
        assert.lengthOf(yield* labels("slow"), 1500)
        yield* pooled.unsafe("drop trigger slow on events")
      })
    )

    it.effect("the actor and the record that is restored end with their transaction", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const change = '{"actor": {"type": "command"}}'
        yield* sql.withTransaction(
          Effect.andThen(sql`select set_config('waypost.change', ${change}, true)`, sql.unsafe(group("actor 1")))
        )
        yield* sql.unsafe(group("actor 2"))
        yield* Sealing.seal
        const { pooled } = yield* Sql
        const actors =
          yield* pooled`select label, actor->>'type' as type from events where label like 'actor%' order by position`
        assert.deepStrictEqual(actors, [
          { label: "actor 1", type: "command" },
          { label: "actor 2", type: "system" }
        ])
      }).pipe(Effect.provide(Postgres.untimed))
    )
  })
}

layer(Postgres.sql.pipe(Layer.provide(settings())), { excludeTestServices: true })("many changes", (it) => {
  it.effect("many changes are sealed as fast with the statistics of an empty table as with those of the changes", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const rows = 8000
      const create = Postgres.execute(
        `insert into groups (uuid, name) select gen_random_uuid(), 'many ' || gen_random_uuid() from generate_series(1, ${rows})`
      )
      const analyze = pooled`analyze pending_changes`
      const sealed = Effect.map(Effect.timed(Sealing.seal), ([time]) => Duration.toMillis(time))
      yield* create
      yield* Sealing.seal
      yield* Effect.andThen(create, analyze)
      const known = yield* sealed
      let rounds = 0
      const measure = Effect.gen(function* () {
        rounds++
        yield* pooled`truncate pending_changes`
        yield* pooled.unsafe(group("one"))
        yield* Sealing.seal
        // What autovacuum does while no client writes.
        yield* analyze
        yield* create
        assert.isBelow(yield* sealed, 10 * known)
      })
      yield* atBest(measure)
      assert.lengthOf(yield* labels("many"), (2 + rounds) * rows)
    })
  )
})

layer(Postgres.sql.pipe(Layer.provide(settings())), { excludeTestServices: true })("a batch of many changes", (it) => {
  const pending = 20_000
  const batch = 500
  /** Leaves pending changes, of which the first and the last are of one record, and seals a batch of them. */
  const sealedBatch = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql.unsafe(`
      insert into pending_changes (type, uuid, action, before, after)
      select 'group', case when i in (1, ${pending}) then '${unknownUuid}' else gen_random_uuid() end,
        case when i = ${pending} then 'updated' else 'created' end, case when i = ${pending} then '{"name": "group 1"}'::jsonb end,
        jsonb_build_object('name', 'group ' || i) from generate_series(1, ${pending}) i`)
    return yield* sql.withTransaction(
      Effect.gen(function* () {
        const [sealed] = yield* sql<{ readonly changes: number }>`select waypost_seal(${batch}) as changes`
        const [read] = yield* sql<{ readonly rows: number }>`select (seq_tup_read + idx_tup_fetch)::int as rows
          from pg_stat_xact_user_tables where relname = 'pending_changes'`
        return { changes: sealed!.changes, rows: read!.rows }
      })
    )
  }).pipe(Effect.provide(Postgres.untimed))

  it.effect("a batch has what a transaction did to a record as one event, and groups only the oldest changes", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const { changes, rows } = yield* sealedBatch
      assert.strictEqual(changes, batch)
      const events = yield* pooled`select action, label from events where record_uuid = ${unknownUuid}`
      assert.deepStrictEqual(events, [{ action: "created", label: `group ${pending}` }])
      // All of them are looked through once, for the rest of what was taken.
      assert.isAtMost(rows, pending + 5 * batch)
    })
  )
})

layer(Postgres.sql.pipe(Layer.provide(settings())), { excludeTestServices: true })("a single change", (it) => {
  it.effect("a single change is sealed without a scan of the table, which keeps the pages of many changes before", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* sql.unsafe(group("single"))
      const scans = yield* sql.withTransaction(
        Effect.andThen(
          sql`select waypost_seal()`,
          sql`select seq_scan::int as scans from pg_stat_xact_user_tables where relname = 'pending_changes'`
        )
      )
      assert.deepStrictEqual(yield* labels("single"), ["single"])
      assert.deepStrictEqual(scans, [{ scans: 0 }])
    }).pipe(Effect.provide(Postgres.untimed))
  )
})

const unprepared = Postgres.sql.pipe(Layer.provideMerge(settings({ DATABASE_PREPARE: "false" })))
layer(unprepared, { excludeTestServices: true })("a job that seals", (it) => {
  it.effect("begins with the number of changes that a statement sealed in its time the last time", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const seal = yield* Sealing.make
      const create = Postgres.execute(
        "insert into groups (uuid, name) select gen_random_uuid(), 'slow ' || gen_random_uuid() from generate_series(1, 300) i"
      )
      yield* pooled.unsafe("create sequence too_slow")
      yield* pooled.unsafe(`create function slow() returns trigger language plpgsql as $$ begin
        if (select count(*) from inserted) > 200 then perform nextval('too_slow'), pg_sleep(10); end if;
        return null;
      end $$`)
      yield* pooled.unsafe(`create trigger slow after insert on events referencing new table as inserted
        for each statement execute function slow()`)
      const failures = pooled`select nextval('too_slow')::int as next`
      yield* create
      yield* seal
      // 5,000 and 500 changes were too many, of which there were 300.
      assert.deepStrictEqual(yield* failures, [{ next: 3 }])
      yield* create
      yield* seal
      assert.deepStrictEqual(yield* failures, [{ next: 4 }])
      assert.lengthOf(yield* labels("slow"), 600)
    }).pipe(Effect.provide(Postgres.hurried(2000)))
  )
})

layer(unprepared, { excludeTestServices: true })("the deletion of a group with many members", (it) => {
  it.effect("the deletion of a large group is sealed when its event alone takes longer than other statements may", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const members = 100
      yield* pooled.unsafe(group("large"))
      yield* pooled.unsafe(`insert into users (uuid, username, email, status, role, language_code)
        select gen_random_uuid(), 'user-' || i, i || '@example.com', 'active', 'ROLE_USER', 'en' from generate_series(1, ${members}) i`)
      yield* pooled`insert into user_groups (user_uuid, group_uuid) select u.uuid, g.uuid from users u, groups g`
      yield* Sealing.seal
      yield* pooled`delete from groups`
      yield* pooled.unsafe(
        "create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(0.01); return new; end $$"
      )
      yield* pooled.unsafe("create trigger slow before insert on event_links for each row execute function slow()")
      yield* Effect.provide(Sealing.seal, Postgres.hurried(500))
      const sealed = yield* pooled`
        select count(*)::int as members from events join event_links using (position) where action = 'deleted'`
      assert.deepStrictEqual(sealed, [{ members }])
    })
  )
})

layer(unprepared, { excludeTestServices: true })("sealing while twenty keys keep all connections busy", (it) => {
  it.effect("a change is sealed as soon as one of the transactions of the twenty keys has ended", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      yield* pooled.unsafe(group("among many"))
      const ends = yield* Queue.unbounded<void>()
      let begun = 0
      const busy = pooled
        .withTransaction(
          Effect.suspend(() => {
            begun++
            return Queue.take(ends)
          })
        )
        .pipe(Effect.exit, Effect.forever)
      const attack = Effect.forEach(
        Arr.makeBy(20, (index) => ({ id: `key ${index}`, weight: 1, isAlone: () => false })),
        (share) => Effect.provideService(Effect.all([busy, busy], { concurrency: 2 }), CurrentShare, share),
        { concurrency: "unbounded" }
      )
      const attacking = yield* Effect.forkChild(attack, { startImmediately: true })
      yield* eventually(
        "all connections are busy",
        Effect.sync(() => begun),
        (number) => number === 7
      )
      const sealing = yield* Effect.forkChild(Sealing.seal, { startImmediately: true })
      yield* Queue.offer(ends, undefined)
      yield* Fiber.join(sealing)
      const events = yield* Postgres.execute<{ readonly label: string }>("select label from events")
      assert.deepStrictEqual(events, [{ label: "among many" }])
      yield* Fiber.interrupt(attacking)
    })
  )
})
