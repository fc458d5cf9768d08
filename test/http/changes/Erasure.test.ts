import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { verify } from "../../../src/repositories/changes/Verification.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { moment } from "../../support/changes/World.ts"
import { eventsAfter, eventsOf, sealed, shown } from "../../support/requests/LogRequests.ts"
import * as Products from "../../support/requests/ProductRequests.ts"
import { createPost } from "../../support/requests/PostRequests.ts"
import { plan } from "../../support/requests/PlanRequests.ts"
import { expectError, problemsOf, send, unique, unknownUuid } from "../../support/requests/Requests.ts"
import * as Postgres from "../../support/Postgres.ts"
import * as TestServer from "../../support/TestServer.ts"
import { eventually } from "../../support/Until.ts"

/** What is wrong with the log. */
const damages = Effect.map(Effect.provide(verify(), Postgres.untimed), ({ damages }) => damages)

const name = "Ada Unmistakable"

const person = (fields: Readonly<Record<string, unknown>> = {}) =>
  Effect.gen(function* () {
    const user = yield* Products.createUser({ firstName: name, ...fields })
    yield* send("PATCH", `/v1/users/${user}`, { body: { firstName: `${name} II`, phone: "+31301234567" } })
    return user
  })

/** Everything that the log holds, as text. */
const wholeLog = Effect.gen(function* () {
  yield* eventsAfter()
  const { pooled } = yield* Sql
  const [row] = yield* pooled<{ readonly text: string }>`
    select coalesce((select string_agg(e::text, ' ') from events e), '') ||
      coalesce((select string_agg(p::text, ' ') from pending_changes p), '') as text`
  return row!.text
})

/** The search of the kept answers for a user takes 7 s, and until `endSearch`. */
const slowSearch = Effect.fnUntraced(function* (users: ReadonlyArray<string>) {
  const { pooled } = yield* Sql
  yield* pooled`create table unended_search as select`
  yield* pooled.unsafe(`
    create function slow(created timestamptz) returns boolean language plpgsql cost 1000000 as $$ begin
      if created < now() - interval '22 hours' and current_query() like '%plan_rows%' then
        perform pg_sleep(7);
        while exists (select from unended_search) loop perform pg_sleep(0.1); end loop;
      end if;
      return true;
    end $$`)
  yield* pooled`
    insert into idempotent_answers (owner, key, fingerprint, status, headers, body, created_at)
      select uuid, 'slow-search', '', 200, '{}', uuid, now() - interval '23 hours' from unnest(${users}::uuid[]) uuid`
  yield* pooled`alter table idempotent_answers rename to all_answers`
  yield* pooled`create view idempotent_answers as select * from all_answers where slow(created_at)`
})

const endSearch = Effect.flatMap(Sql, ({ pooled }) => pooled`delete from unended_search`)

const allAnswers = Effect.gen(function* () {
  const { pooled } = yield* Sql
  yield* endSearch
  yield* pooled`drop view idempotent_answers`
  yield* pooled`alter table all_answers rename to idempotent_answers`
  yield* pooled`drop function slow`
  yield* pooled`drop table unended_search`
}).pipe(Effect.orDie)

layer(TestServer.layer(), { excludeTestServices: true })("erasure", (it) => {
  it.effect("a user that is deleted with erase=true leaves events without values, and the log stays intact", () =>
    Effect.gen(function* () {
      const group = yield* Products.createGroup()
      const user = yield* person({ groups: [group] })
      const post = yield* createPost({ author: { uuid: user, name } })
      const product = yield* Products.createProduct()
      yield* Products.activate(product, "internal-comment", { comment: "Fine", editedBy: { uuid: user } })
      const { events, value } = yield* eventsOf(send("DELETE", `/v1/users/${user}?erase=true`))
      assert.strictEqual(value.status, 200)
      assert.deepStrictEqual(shown(events), [
        { type: "user.deleted", uuid: user, changes: { groups: { added: [], removed: [group] } } },
        { type: "user.erased", uuid: user, changes: {} }
      ])
      const log = yield* wholeLog
      for (const value of [name, "301234567"]) assert.notInclude(log, value)
      const { events: all } = yield* eventsAfter("", `&record=${user}`)
      assert.deepStrictEqual(
        all.map(({ changes, record, type }) => [type, record.label, changes.map(({ path }) => path)]),
        [
          ["user.created", undefined, ["groups"]],
          ["user.updated", undefined, []],
          ["user.deleted", undefined, ["groups"]],
          ["user.erased", undefined, []]
        ]
      )
      assert.strictEqual((yield* send("GET", `/v1/posts/${post}`)).status, 200)
      const { pooled } = yield* Sql
      const salted =
        yield* pooled`select from events where record_uuid = ${user}::uuid and salt is not null and links is null
        and action <> 'erased'`
      assert.deepStrictEqual(salted, [])
      assert.deepStrictEqual(yield* damages, [])
    })
  )

  it.effect("a user that was deleted before can be erased, once; an existing user and an unknown one cannot", () =>
    Effect.gen(function* () {
      const user = yield* person()
      const existing = yield* send("POST", `/v1/users/${user}/erase`)
      assert.deepStrictEqual(problemsOf(existing), [400, "InvalidRequestError", "uuid notDeleted"])
      yield* send("DELETE", `/v1/users/${user}`)
      assert.include(yield* wholeLog, name)
      const first = yield* eventsOf(send("POST", `/v1/users/${user}/erase`))
      assert.deepStrictEqual(first.value.body.data, { uuid: user })
      assert.deepStrictEqual(
        first.events.map(({ type }) => type),
        ["user.erased"]
      )
      assert.notInclude(yield* wholeLog, name)
      const again = yield* eventsOf(send("POST", `/v1/users/${user}/erase`))
      assert.deepStrictEqual([again.value.status, again.events], [200, []])
      expectError(yield* send("POST", `/v1/users/${unknownUuid}/erase`), 404, "UserNotFoundError")
      assert.deepStrictEqual(yield* damages, [])
    })
  )

  it.effect("the erasure of a user removes kept answers about an outdated plan of the user, and no others", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      for (const username of ["Outdated-gone", "outdated-kept"]) {
        const user = yield* Products.createUser({ username })
        const plan = yield* send("POST", "/v1/plans?resource=users", { body: [{ username, firstName: "New" }] })
        yield* send("PATCH", `/v1/users/${user}`, { body: { firstName: "Other" } })
        const headers = { "idempotency-key": username }
        const answer = yield* send("POST", `/v1/plans/${plan.body.data.uuid}/apply`, { body: {}, headers })
        assert.deepStrictEqual(expectError(answer, 409, "PlanOutdatedError").changed, [username])
        yield* send("DELETE", `/v1/users/${user}${username === "Outdated-gone" ? "?erase=true" : ""}`)
      }
      const rows = yield* pooled<{ readonly key: string }>`
        select key from idempotent_answers where key ilike 'outdated-%'`
      assert.deepStrictEqual(rows, [{ key: "outdated-kept" }])
    })
  )

  it.effect("the erasure of a user removes plans in which a refused row has the name in an issue, and no others", () =>
    Effect.gen(function* () {
      const email = (name: string) => `Refused-${name}@example.com`
      const user = yield* Products.createUser({ username: "refused-gone", email: email("gone") })
      yield* Products.createUser({ username: "refused-kept", email: email("kept") })
      const planned = Effect.fnUntraced(function* (resource: string, row: object) {
        const { body, text } = yield* send("POST", `/v1/plans?resource=${resource}`, { body: [row] })
        assert.strictEqual(body.data?.counts.refused, 1, text)
        return body.data.uuid as string
      })
      const unknown = (name: string) => ({
        slug: "refused-post",
        _refused: [{ path: "author", code: "unknownUser", message: `No user has the username "${name}"` }]
      })
      const plans = yield* Effect.all([
        planned("users", { username: "refused-new", email: email("GONE") }),
        planned("posts", unknown("Refused-gone")),
        planned("users", { username: "refused-new", email: email("kept") }),
        planned("posts", unknown("refused"))
      ])
      assert.strictEqual((yield* send("DELETE", `/v1/users/${user}?erase=true`)).status, 200)
      const answers = yield* Effect.forEach(plans, (uuid) => send("GET", `/v1/plans/${uuid}`))
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [404, 404, 200, 200]
      )
    })
  )

  it.effect(
    "an erasure has more time than other requests to read all kept answers, and no other write waits for it",
    () =>
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const [deleted, existing, other] = [yield* person(), yield* person(), yield* Products.createUser()]
        const group = yield* Products.createGroup()
        yield* send("DELETE", `/v1/users/${deleted}`)
        const path = `/v1/users/${existing}`
        const patch = (key: string) =>
          send("PATCH", path, { body: { firstName: `${name} ${key}` }, headers: { "idempotency-key": key } })
        yield* patch("before-search")
        const asked = yield* Effect.acquireUseRelease(
          slowSearch([deleted, existing]),
          () =>
            Effect.gen(function* () {
              const deletion = yield* Effect.forkChild(
                send("DELETE", `${path}?erase=true`, { headers: { "idempotency-key": "slow-erasure" } })
              )
              const searches = pooled<{ readonly count: number }>`
              select count(*)::int as count from pg_stat_activity
                where datname = current_database() and wait_event = 'PgSleep'`
              yield* eventually("the erasure searches", searches, ([row]) => row!.count === 1)
              // One erasure follows the other, so that the second is answered after 14 s.
              const erasure = yield* Effect.forkChild(send("POST", `/v1/users/${deleted}/erase`))
              const headers = { "if-match": '"stale"' }
              const body = { username: "during", email: "during@example.com", groups: [group] }
              const answers = yield* Effect.all([
                send("DELETE", `/v1/users/${other}`),
                send("POST", "/v1/users", { body }),
                patch("during-search"),
                send("POST", `/v1/users/${unknownUuid}/erase`),
                send("DELETE", `/v1/users/${unknownUuid}?erase=true`),
                send("POST", `/v1/users/${deleted}/erase`, { headers }),
                send("DELETE", `${path}?erase=true`, { headers })
              ])
              assert.isUndefined(deletion.pollUnsafe(), "the erasure has ended")
              assert.deepStrictEqual(
                answers.map(({ status }) => status),
                [200, 201, 200, 404, 404, 412, 412]
              )
              yield* endSearch
              return [yield* Fiber.join(deletion), yield* Fiber.join(erasure)]
            }),
          () => allAnswers
        )
        assert.deepStrictEqual(
          asked.map(({ status }) => status),
          [200, 200]
        )
        assert.notInclude(yield* wholeLog, name)
        assert.deepStrictEqual(yield* pooled`select key from idempotent_answers where key like '%-search'`, [])
      })
  )

  it.effect("the deletion with erase=true of a user whose events were pruned removes old answers with its name", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const user = yield* person()
      const { username } = (yield* send("GET", `/v1/users/${user}`)).body.data
      const body = JSON.stringify({ _tag: "UsernameNotUniqueError", value: username.toUpperCase() })
      yield* pooled`
        insert into idempotent_answers (owner, key, fingerprint, status, headers, body, created_at)
          values (${user}::uuid, 'old', '', 409, '{}', ${body}, now() - interval '2 hours')`
      yield* Effect.andThen(sealed, pooled`select waypost_prune(now() + interval '1 minute', 1000000)`)
      assert.strictEqual((yield* send("DELETE", `/v1/users/${user}?erase=true`)).status, 200)
      assert.deepStrictEqual(yield* pooled`select key from idempotent_answers where key = 'old'`, [])
    })
  )

  it.effect("an erasure waits for a restoration of the user, and then says that the user exists", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const user = yield* person()
      yield* send("DELETE", `/v1/users/${user}`)
      yield* pooled.unsafe(`create function wait() returns trigger language plpgsql as
        $$ begin perform pg_sleep(1); return null; end $$`)
      yield* pooled`create trigger wait after insert on users for each statement execute function wait()`
      const restoration = yield* Effect.forkChild(send("POST", `/v1/users/${user}/restore`, { body: {} }))
      const sleeping = pooled`
        select from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'`
      yield* eventually("the restoration writes", sleeping, (rows) => rows.length > 0)
      const erasure = yield* send("POST", `/v1/users/${user}/erase`)
      const restored = yield* Fiber.join(restoration)
      yield* pooled.unsafe("drop function wait() cascade")
      assert.strictEqual(restored.status, 200, restored.text)
      assert.deepStrictEqual(problemsOf(erasure), [400, "InvalidRequestError", "uuid notDeleted"])
      assert.strictEqual((yield* send("GET", `/v1/users/${user}`)).body.data.firstName, `${name} II`)
    })
  )

  it.effect("erasing needs delete:events too; without it nothing is deleted", () =>
    Effect.gen(function* () {
      const { key: create } = yield* TestServer.TestServer
      const key = yield* create(["delete:users", "delete:locations"])
      const user = yield* person()
      const missing = { required: ["delete:events"], missing: ["delete:events"] }
      const deletion = yield* send("DELETE", `/v1/users/${user}?erase=true`, { key })
      assert.deepInclude(expectError(deletion, 403, "MissingPermissionsError"), missing)
      assert.strictEqual((yield* send("GET", `/v1/users/${user}`)).status, 200)
      expectError(yield* send("POST", `/v1/users/${user}/erase`, { key }), 403, "MissingPermissionsError")
      const body = { paths: ["name"] }
      const history = yield* send("POST", `/v1/locations/${unknownUuid}/erase-history`, { key, body })
      expectError(history, 403, "MissingPermissionsError")
    })
  )

  it.effect("the values of some paths are removed from the past events of a location, and the others stay", () =>
    Effect.gen(function* () {
      const location = yield* Products.createLocation({
        name: "Bakery Onlyhere",
        contact: { phone: "+31200001", email: "a@example.com" },
        postalCodes: ["3511 AB"]
      })
      yield* send("PATCH", `/v1/locations/${location}`, { body: { contact: { phone: "+31200002" }, locale: "nl" } })
      yield* send("PATCH", `/v1/locations/${location}`, { body: { name: "Bakery", contact: { phone: null } } })
      const erase = (paths: ReadonlyArray<string>) =>
        eventsOf(send("POST", `/v1/locations/${location}/erase-history`, { body: { paths } }))
      const { events, value } = yield* erase(["contact.phone", "postalCodes"])
      assert.strictEqual(value.status, 200, value.text)
      assert.deepStrictEqual(shown(events), [{ type: "location.updated", uuid: location, changes: {} }])
      assert.notMatch(yield* wholeLog, /\+3120000|3511 AB/)
      const { events: history } = yield* eventsAfter("", `&record=${location}`)
      assert.deepStrictEqual(
        shown(history).map(({ changes }) => Object.keys(changes)),
        [["contact.email", "identifier", "name"], ["locale"], ["name"], []]
      )
      assert.deepStrictEqual(yield* damages, [])
      // A second erasure shortens the same events again.
      yield* erase(["name", "contact"])
      assert.notMatch(yield* wholeLog, /Onlyhere|a@example.com/)
      assert.deepStrictEqual(yield* damages, [])
      assert.deepStrictEqual((yield* erase(["contact"])).events, [])
      assert.strictEqual((yield* send("GET", `/v1/locations/${location}`)).body.data.contact.email, "a@example.com")
      yield* send("DELETE", `/v1/locations/${location}`)
      assert.strictEqual((yield* erase(["identifier"])).value.status, 200)
      assert.deepStrictEqual(yield* damages, [])
    })
  )

  it.effect("erase-history removes the plans with a row of the location, also one that created it, and no others", () =>
    Effect.gen(function* () {
      const planned = (identifier: string, fields: object) =>
        Effect.map(
          send("POST", "/v1/plans?resource=locations", { body: [{ identifier, name: "Bakery", ...fields }] }),
          ({ body }) => body.data.uuid as string
        )
      const erased = Effect.fnUntraced(function* (identifier: string) {
        const creating = yield* planned(identifier, { contact: { phone: "+31200001" } })
        const applied = yield* send("POST", `/v1/plans/${creating}/apply`, { body: {} })
        assert.strictEqual(applied.status, 200, applied.text)
        const clearing = yield* planned(identifier, { contact: { phone: null } })
        return [creating, clearing]
      })
      const plans = [...(yield* erased("erased-plan")), ...(yield* erased("erased-plan-2"))]
      const { body } = yield* send("GET", "/v1/locations?filter=identifier:equals:erased-plan")
      const { uuid } = body.data[0]
      yield* send("PATCH", `/v1/locations/${uuid}`, { body: { identifier: "renamed-plan", contact: { phone: null } } })
      const paths = ["contact.phone"]
      const answer = yield* send("POST", `/v1/locations/${uuid}/erase-history`, { body: { paths } })
      assert.strictEqual(answer.status, 200, answer.text)
      const found = yield* Effect.forEach(plans, (plan) => send("GET", `/v1/plans/${plan}`))
      assert.deepStrictEqual(
        found.map(({ status }) => status),
        [404, 404, 200, 200]
      )
    })
  )

  it.effect("a location whose values were erased from its events is restored without them, and read so at a time", () =>
    Effect.gen(function* () {
      const location = yield* Products.createLocation({
        contact: { phone: "+31200001" },
        legal: { address: { city: "Utrecht" } },
        locale: "nl",
        postalCodes: ["3511 AB"]
      })
      const path = `/v1/locations/${location}`
      const label = { key: "other.extraDna1", locale: "nl-NL", label: "Bakkerij" }
      const labels = yield* send("PUT", `${path}/translation-labels`, { body: { translationLabels: [label] } })
      assert.strictEqual(labels.status, 200, labels.text)
      const { createdAt, editedAt: at, ...whole } = (yield* send("GET", path)).body.data
      yield* send("DELETE", path)
      const paths = ["contact.phone", "legal.address.city", "postalCodes", "translationLabels", "media"]
      assert.strictEqual((yield* send("POST", `${path}/erase-history`, { body: { paths } })).status, 200)
      const { contact: _, legal: __, ...left } = whole
      const expected = { ...left, createdAt, postalCodes: [], translationLabels: [] }
      const { editedAt: ___, ...then } = (yield* send("GET", `${path}?at=${at}`)).body.data
      assert.deepStrictEqual(then, expected)
      const restored = yield* send("POST", `${path}/restore`, { body: {} })
      assert.strictEqual(restored.status, 200, restored.text)
      const { editedAt: ____, ...now } = (yield* send("GET", path)).body.data
      assert.deepStrictEqual(now, expected)
    })
  )

  it.effect(
    "a location without one half of its coordinates, or without its time zone, is restored without the other half",
    () =>
      Effect.gen(function* () {
        const openingHours = [{ day: 1, opens: "09:00", closes: "17:00" }]
        const specialHours = [{ date: "2026-12-25", periods: [] }]
        const members = {
          coordinates: { latitude: 52.09, longitude: 5.12 },
          timezone: "Europe/Amsterdam",
          openingHours,
          specialHours
        }
        for (const [erased, kept] of [
          ["coordinates.longitude", ["timezone", "openingHours", "specialHours"]],
          ["coordinates.latitude", ["timezone", "openingHours", "specialHours"]],
          ["timezone", ["coordinates"]],
          ["openingHours", ["coordinates", "timezone", "specialHours"]]
        ] as const) {
          const location = yield* Products.createLocation(members)
          const path = `/v1/locations/${location}`
          const at = yield* moment
          yield* send("DELETE", path)
          assert.strictEqual((yield* send("POST", `${path}/erase-history`, { body: { paths: [erased] } })).status, 200)
          const expected = Object.fromEntries(kept.map((member) => [member, members[member]]))
          const past = yield* send("GET", `${path}?at=${at}`)
          assert.strictEqual(past.status, 200, past.text)
          const restored = yield* send("POST", `${path}/restore`, { body: {} })
          assert.strictEqual(restored.status, 200, restored.text)
          for (const found of [past.body.data, (yield* send("GET", path)).body.data]) {
            assert.deepInclude(found, expected)
            assert.doesNotHaveAnyKeys(
              found,
              Object.keys(members).filter((member) => !(member in expected)),
              erased
            )
          }
        }
      })
  )

  it.effect("erase-history of a location whose events were all pruned succeeds, and changes nothing", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const location = yield* Products.createLocation({ name: "Bakery" })
      const path = `/v1/locations/${location}/erase-history`
      const prune = Effect.andThen(sealed, pooled`select waypost_prune(now() + interval '1 minute', 1000000)`)
      yield* prune
      const { events, value } = yield* eventsOf(send("POST", path, { body: { paths: ["name"] } }))
      assert.deepStrictEqual([value.status, value.body.data, events], [200, { uuid: location }, []])
      yield* send("DELETE", `/v1/locations/${location}`)
      yield* prune
      expectError(yield* send("POST", path, { body: { paths: ["name"] } }), 404, "LocationNotFoundError")
    })
  )

  it.effect("erase-history names the paths that are no members, and a location that never existed", () =>
    Effect.gen(function* () {
      const path = `/v1/locations/${unknownUuid}/erase-history`
      expectError(yield* send("POST", path, { body: { paths: ["name"] } }), 404, "LocationNotFoundError")
      for (const wrong of ["uuid", "contact.fax", "postalCodes.0", "users", ""]) {
        const answer = yield* send("POST", path, { body: { paths: ["name", wrong] } })
        assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", "paths.1 notAllowed"], wrong)
      }
      assert.deepStrictEqual(problemsOf(yield* send("POST", path, { body: { paths: [] } })).slice(0, 2), [
        400,
        "InvalidRequestError"
      ])
    })
  )
})

/** An erasure seals its changes for 6 s, longer than other statements have. */
const slowSealing = Effect.gen(function* () {
  const { pooled } = yield* Sql
  yield* pooled.unsafe(`
    create function slow_sealing() returns trigger language plpgsql as $$ begin
      if current_query() like '%waypost_erase%' and current_setting('test.slept', true) is distinct from txid_current()::text then
        perform set_config('test.slept', txid_current()::text, true), pg_sleep(6);
      end if;
      return null;
    end $$`)
  yield* pooled`create trigger slow_sealing before insert on events for each statement execute function slow_sealing()`
})

layer(TestServer.limited(), { excludeTestServices: true })("erasure while many changes wait to be sealed", (it) => {
  it.effect(
    "the erasures of a user and of the history of a location have more time than other requests to seal changes",
    () =>
      Effect.gen(function* () {
        const [user, location] = [yield* person(), yield* Products.createLocation({ name: "Bakery" })]
        yield* slowSealing
        const deleted = yield* send("DELETE", `/v1/users/${user}?erase=true`)
        assert.strictEqual(deleted.status, 200, JSON.stringify(deleted.body))
        const erased = yield* send("POST", `/v1/locations/${location}/erase-history`, { body: { paths: ["name"] } })
        assert.strictEqual(erased.status, 200, JSON.stringify(erased.body))
      })
  )

  it.effect("the erasure of the history of a location has more time than other requests to remove plans", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const identifier = unique("planned")
      const location = yield* Products.createLocation({ name: "Bakery", identifier })
      const planned = yield* plan("resource=locations", [{ identifier, name: "Bread" }])
      yield* pooled.unsafe(`create function slow_removal() returns trigger language plpgsql as
        $$ begin perform pg_sleep(6); return null; end $$`)
      yield* pooled`create trigger slow_removal before delete on plan_rows for each statement execute function slow_removal()`
      const erased = yield* send("POST", `/v1/locations/${location}/erase-history`, { body: { paths: ["name"] } })
      yield* pooled`drop function slow_removal cascade`
      assert.strictEqual(erased.status, 200, JSON.stringify(erased.body))
      assert.strictEqual((yield* send("GET", `/v1/plans/${planned.body.data.uuid}`)).status, 404)
    })
  )
})
