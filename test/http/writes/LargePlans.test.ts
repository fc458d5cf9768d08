import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { limits } from "../../../src/domain/plans/Plan.ts"
import { Permission } from "../../../src/domain/keys/Permission.ts"
import * as RelationStatements from "../../../src/repositories/people/RelationStatements.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { cpuMillis } from "../../support/CpuTime.ts"
import { keyWith, zero } from "../../support/requests/PlanRequests.ts"
import { createPost } from "../../support/requests/PostRequests.ts"
import { expectError, problemsOf, send, unique } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"

const plan = (query: string, body: ReadonlyArray<object>, key: string) =>
  send("POST", `/v1/plans?${query}`, { body, key })

const languages = ["de", "en", "es", "fr", "nl"]

/** Translations of about 950,000 bytes. */
const large = (letter: string) => languages.map((locale) => ({ locale, title: letter, body: letter.repeat(190_000) }))

/** Creates eight posts of about 950,000 bytes each, and returns their slugs. */
const largePosts = Effect.gen(function* () {
  const prefix = unique("large")
  const slugs = Array.from({ length: 8 }, (_, number) => `${prefix}-${number}`)
  yield* Effect.forEach(slugs, (slug) => createPost({ slug, translations: large("x") }))
  return { prefix, slugs }
})

/** How often rows of a plan are stored while an effect runs. */
const stored = Effect.fnUntraced(function* <A, E, R>(run: Effect.Effect<A, E, R>) {
  const { pooled } = yield* Sql
  yield* pooled.unsafe("create sequence statements minvalue 0 start 0")
  yield* pooled.unsafe(`create function count_statement() returns trigger language plpgsql as
    $$ begin perform nextval('statements'); return null; end $$`)
  yield* pooled.unsafe(`create trigger count_statement after insert on plan_rows for each statement
    execute function count_statement()`)
  const answer = yield* run
  const [row] = yield* pooled<{ readonly times: number }>`
    select (last_value + is_called::int)::int as times from statements`
  yield* pooled.unsafe("drop function count_statement() cascade")
  yield* pooled.unsafe("drop sequence statements")
  return { answer, times: row!.times }
})

layer(TestServer.layer(), { excludeTestServices: true })("plans of large records", (it) => {
  it.effect("records of more than 4 MiB together are compared and applied in parts, each of them once", () =>
    Effect.gen(function* () {
      const { prefix, slugs } = yield* largePosts
      const changesOf = (uuid: string) => Effect.map(send("GET", `/v1/plans/${uuid}/changes`), ({ body }) => body.data)
      for (const headers of [{}, { "idempotency-key": prefix }]) {
        const pinned = send("POST", "/v1/plans?resource=posts", {
          body: slugs.map((slug) => ({ slug, pinned: true })),
          headers
        })
        const { answer, times } = yield* stored(pinned)
        assert.deepStrictEqual(answer.body.data?.counts, { ...zero, update: 8 }, answer.text.slice(0, 300))
        assert.strictEqual(times, 2)
        for (const { changes } of yield* changesOf(answer.body.data.uuid)) {
          assert.deepStrictEqual(changes, [{ path: "pinned", before: false, after: true }])
        }
      }
      const { fullKey } = yield* TestServer.TestServer
      const full = `resource=posts&mode=full&filter=slug:startsWith:${prefix}`
      const { answer: deleting, times } = yield* stored(plan(full, [], fullKey))
      assert.deepStrictEqual(deleting.body.data?.counts, { ...zero, delete: 8 }, deleting.text.slice(0, 300))
      assert.strictEqual(times, 2)
      assert.deepStrictEqual(
        (yield* changesOf(deleting.body.data.uuid)).map(({ key }: { readonly key: string }) => key),
        slugs.toReversed()
      )
      const rows = slugs.map((slug) => ({ slug, translations: large("y") }))
      const { uuid } = (yield* plan("resource=posts", rows, fullKey)).body.data
      const applied = yield* send("POST", `/v1/plans/${uuid}/apply`, { body: {} })
      assert.deepStrictEqual(applied.body.data?.counts, { ...zero, update: 8 }, applied.text)
      const { pooled } = yield* Sql
      const changed = yield* pooled`
        select from posts where slug like ${`${prefix}-%`} and translations->4->>'body' = repeat('y', 190000)`
      assert.lengthOf(changed, 8)
    })
  )

  it.effect("what changes show counts as bytes of a key, and a plan with too many of them is not stored", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const { slugs } = yield* largePosts
      const key = yield* keyWith("read:posts", "create:posts", "update:posts")
      const rows = slugs.map((slug) => ({ slug, translations: [{ locale: "en", title: "Short" }] }))
      const made = yield* plan("resource=posts", rows, key)
      const { uuid } = made.body.data
      const [counted] = yield* pooled<{ readonly bytes: number }>`
        select bytes::int as bytes from plans where uuid = ${uuid}::uuid`
      assert.isAbove(counted!.bytes, 8 * 950_000)
      yield* pooled`update plans set bytes = ${limits.liveBytes - 1_000_000}::bigint where uuid = ${uuid}::uuid`
      const { answer, times } = yield* stored(plan("resource=posts", rows, key))
      assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", " tooManyOpen"])
      assert.strictEqual(times, 0)
    })
  )

  it.effect(
    "a CSV header of 210,000 titles is rejected with its first twenty issues, in less than five seconds of processor time",
    () =>
      Effect.gen(function* () {
        const titles = Array.from({ length: 210_000 }, (_, index) => index.toString(36))
        const before = cpuMillis()
        const answer = yield* send("POST", "/v1/plans?resource=locations", {
          raw: `name,name,nane,${titles.join()}`,
          headers: { "content-type": "text/csv" }
        })
        const used = cpuMillis() - before
        const { issues } = expectError(answer, 400, "InvalidRequestError")
        assert.lengthOf(issues, 20)
        assert.deepStrictEqual(
          issues.slice(0, 3).map(({ message }: { readonly message: string }) => message),
          ['Column "name" appears twice', 'Unknown column "nane"; did you mean name?', 'Unknown column "0"']
        )
        assert.isBelow(used, 5000)
      })
  )

  it.effect("the members that rows add and remove are compared in parts of 100,000 uuids", () =>
    Effect.gen(function* () {
      const { differing } = RelationStatements.make((yield* Sql).pooled)
      const uuidOf = (number: number) => `00000000-0000-7000-8000-${String(number).padStart(12, "0")}`
      const sets = (members: number) =>
        Array.from({ length: 3 }, (_, owner) => ({
          uuid: uuidOf(owner),
          members: Array.from({ length: members }, (_, member) => uuidOf(member))
        }))
      const uuids = (members: number) =>
        Effect.map(differing("groups", "users", sets(members)), (rows) => rows.map(({ uuid }) => uuid))
      assert.deepStrictEqual(yield* uuids(33_000), [0, 1, 2].map(uuidOf))
      assert.deepStrictEqual(yield* uuids(50_000), [0, 1].map(uuidOf))
      assert.deepStrictEqual(yield* uuids(100_001), [uuidOf(0)])
    })
  )
})

// Connections without a limit for locks, which is not far above the time of a filter.
layer(TestServer.layer({ DATABASE_PREPARE: "false" }), { excludeTestServices: true })("filters of plans", (it) => {
  it.effect.each(["partial", "full"])(
    "the filter of a plan with mode=%s ends after as long as that of a list while other keys work",
    (mode) =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const [key, other] = [yield* keyWith(...Permission.literals), yield* keyWith("read:users")]
        const working = Effect.forever(
          Effect.andThen(send("GET", "/v1/me", { key: other }), Effect.sleep("200 millis"))
        )
        const filter = "filter=name:contains:branch"
        const ended = Effect.all([
          plan(`resource=groups&mode=${mode}&${filter}`, [], key),
          send("GET", `/v1/groups?${filter}`, { key })
        ])
        // No statement reads the table until it has waited for longer than a filter may take.
        const locked = Effect.andThen(pooled`lock table groups`, Effect.raceFirst(ended, working))
        const answers = yield* pooled.withTransaction(locked)
        const [planned, listed] = answers.map(({ body, status }) => [status, body._tag, body.message])
        assert.deepStrictEqual(planned!.slice(0, 2), [429, "RateLimitExceededError"])
        assert.deepStrictEqual(planned, listed)
      })
  )
})
