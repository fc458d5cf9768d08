import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Logger, Schedule } from "effect"
import { Locales, make } from "../../src/domain/schema/Locale.ts"
import * as PostSchedule from "../../src/jobs/PostSchedule.ts"
import { Sql } from "../../src/sql/Sql.ts"
import * as Postgres from "../support/Postgres.ts"
import { settings } from "../support/TestServer.ts"
import { atBest, eventually } from "../support/Until.ts"

const { advance } = PostSchedule

const execute = <Row extends object>(statement: string) =>
  Effect.flatMap(Sql, ({ pooled }) => pooled.unsafe<Row>(statement))

/** Inserts posts with a status and with times that are SQL expressions over `i`, counted from 1. */
const insert = (count: number, status: string, publishAt: string, expireAt = "null") =>
  execute(`insert into posts (uuid, slug, type, status, translations, audience, pinned, publish_at, expire_at)
    select gen_random_uuid(), 'post-' || gen_random_uuid(), 'news', '${status}',
      '[{"locale": "en", "title": "English"}, {"locale": "nl", "title": "Nederlands"}]', '{}', false, ${publishAt}, ${expireAt}
    from generate_series(1, ${count}) i`)

/** Records every status change of a post. */
const recordMoves = Effect.gen(function* () {
  yield* execute("create table moves (uuid uuid, status text, at timestamptz(3) default now())")
  yield* execute(`create function note_move() returns trigger language plpgsql as $$
    begin insert into moves (uuid, status) values (new.uuid, new.status); return null; end $$`)
  yield* execute(`create trigger note after update of status on posts for each row execute function note_move()`)
})
const clear = Effect.andThen(execute("delete from posts"), execute("delete from moves"))

interface Row {
  readonly rows: number
  readonly published: number
  readonly archived: number
  readonly twice: number
  readonly late: number
}
const moves = Effect.map(
  execute<Row>(`select (select count(*)::int from moves) as rows,
    (select count(*)::int from moves where status = 'published') as published,
    (select count(*)::int from moves where status = 'archived') as archived,
    (select count(*)::int from (select from moves group by uuid, status having count(*) > 1) repeated) as twice,
    (select count(*)::int from posts where published_at < publish_at or published_at > publish_at + interval '1500 ms') as late`),
  ([row]) => row!
)

const locales = (supported?: ReadonlyArray<string>) => Layer.succeed(Locales, make(supported))

/** Another process: separate pools on the database of the test. */
const processWith = (supported?: ReadonlyArray<string>) =>
  PostSchedule.layer.pipe(Layer.provide([Layer.fresh(Sql.layer), locales(supported)]))
const aProcess = processWith()

layer(Postgres.sql.pipe(Layer.provideMerge(settings())), { excludeTestServices: true })("post schedule", (it) => {
  it.effect("status changes of posts are recorded for the tests below", () => recordMoves)

  it.effect("the schedule publishes due posts, archives expired ones and leaves others unchanged", () =>
    Effect.gen(function* () {
      yield* insert(3, "scheduled", "now() - i * interval '1 day'")
      yield* insert(2, "scheduled", "now() + interval '1 hour'")
      yield* insert(2, "draft", "now() - interval '1 day'", "now() - interval '1 hour'")
      yield* insert(2, "scheduled", "now() - interval '2 days'", "now() - interval '1 day'")
      yield* advance
      assert.deepInclude(yield* moves, { published: 5, archived: 0 })
      yield* advance
      assert.deepInclude(yield* moves, { published: 5, archived: 2 })
      yield* advance
      assert.deepInclude(yield* moves, { rows: 7, twice: 0 })
      const states = yield* execute<{ readonly status: string; readonly posts: number }>(
        "select status, count(*)::int as posts from posts group by status order by status"
      )
      assert.deepStrictEqual(
        states.map(({ posts, status }) => [status, posts]),
        [
          ["archived", 2],
          ["draft", 2],
          ["published", 3],
          ["scheduled", 2]
        ]
      )
      const untouched = yield* execute(
        "select 1 from posts where status in ('draft', 'scheduled') and (published_at is not null or edited_at <> created_at)"
      )
      assert.strictEqual(untouched.length, 0)
    })
  )

  it.effect("the schedule logs each post that it publishes or archives", () =>
    Effect.gen(function* () {
      yield* clear
      yield* insert(2, "scheduled", "now() - i * interval '1 day'")
      yield* insert(1, "scheduled", "now() - interval '2 days'", "now() - interval '1 day'")
      yield* insert(1, "scheduled", "now() + interval '1 hour'")
      const lines: Array<string> = []
      const logger = Logger.layer([Logger.map(Logger.formatJson, (line) => void lines.push(line))])
      yield* Effect.provide(Effect.andThen(advance, advance), logger)
      const due = (operation: string, condition: string) =>
        Effect.map(execute<{ readonly uuid: string }>(`select uuid from posts where ${condition}`), (rows) =>
          rows.map(({ uuid }) => ({ message: "Written", operation, action: "updated", record: uuid }))
        )
      const published = yield* due("schedule.publish", "publish_at < now()")
      const archived = yield* due("schedule.archive", "expire_at < now()")
      assert.deepStrictEqual([published.length, archived.length], [3, 1])
      assert.sameDeepMembers(
        lines.map((line) => JSON.parse(line)).map(({ annotations, message }) => ({ message, ...annotations })),
        [...published, ...archived]
      )
    })
  )

  it.effect("concurrent schedules change each post once, also with concurrent writes of clients", () =>
    Effect.gen(function* () {
      yield* clear
      yield* insert(1700, "scheduled", "now() - i * interval '1 second'", "now() - i * interval '1 millisecond'")
      const taken = execute(`update posts set status = 'draft' where uuid in
          (select uuid from posts where status = 'scheduled' order by random() limit 20 for update skip locked)`)
      yield* Effect.all([advance, advance, taken, advance, advance, taken, advance], { concurrency: "unbounded" })
      yield* advance
      yield* advance
      const { archived, published, twice } = yield* moves
      assert.strictEqual(twice, 0)
      assert.isAtLeast(published, 1660)
      assert.strictEqual(archived, published)
      const [row] = yield* execute<{ readonly posts: number }>(
        "select count(*)::int as posts from posts where (status = 'archived') <> (published_at is not null)"
      )
      assert.strictEqual(row!.posts, 0)
    })
  )

  it.effect("two processes publish every post within a second and change it once", () =>
    atBest(
      Effect.gen(function* () {
        yield* clear
        yield* Layer.build(Layer.merge(aProcess, Layer.fresh(aProcess)))
        yield* insert(
          200,
          "scheduled",
          "now() + i * interval '10 milliseconds'",
          "case when i % 2 = 0 then now() + i * interval '10 milliseconds' + interval '1 second' end"
        )
        yield* Effect.repeat(moves, {
          schedule: Schedule.spaced("100 millis"),
          until: ({ archived, published }) => published === 200 && archived === 100
        }).pipe(Effect.timeout("60 seconds"))
        assert.deepInclude(yield* moves, { rows: 300, twice: 0, late: 0 })
        // `published_at` is the time of the status change.
        const [row] = yield* execute<{ readonly posts: number }>(`select count(*)::int as posts from posts p
          join moves m on m.uuid = p.uuid and m.status = 'published' where m.at <> published_at`)
        assert.strictEqual(row!.posts, 0)
      }).pipe(Effect.scoped)
    )
  )

  it.effect("due posts are published while another default language cannot be stored", () =>
    Effect.gen(function* () {
      yield* clear
      yield* insert(1, "scheduled", "now()")
      yield* execute(
        "create function fail() returns trigger language plpgsql as $$ begin raise exception 'failed'; end $$"
      )
      yield* execute("create trigger fail before update on post_language for each row execute function fail()")
      yield* Effect.gen(function* () {
        yield* Layer.build(processWith(["nl-NL"]))
        yield* eventually("the post is published", moves, ({ published }) => published === 1)
      }).pipe(Effect.scoped, Effect.ensuring(Effect.orDie(execute("drop function fail cascade"))))
    })
  )

  it.effect("the titles of many posts are compared in parts, each within the time limit of a statement", () =>
    Effect.gen(function* () {
      yield* clear
      yield* insert(1500, "draft", "null")
      const parameters = "translations jsonb, wanted text, language text"
      yield* execute("alter function waypost_translation rename to fast_translation")
      yield* execute(`create function waypost_translation(${parameters}) returns jsonb language plpgsql as $$
        begin perform pg_sleep(0.004); return fast_translation(translations, wanted, language); end $$`)
      const restored = Effect.andThen(
        execute("drop function waypost_translation"),
        execute("alter function fast_translation rename to waypost_translation")
      )
      // The pools of this test give a statement more time.
      const limited = Layer.merge(Layer.fresh(Sql.layer), locales())
      yield* Effect.ensuring(Effect.provide(PostSchedule.adoptLanguage, limited), Effect.orDie(restored))
    })
  )

  it.effect(
    "posts have their title in the default locale, or else in its language, also after the default has changed",
    () =>
      Effect.gen(function* () {
        yield* clear
        const adopt = (...supported: ReadonlyArray<string>) =>
          Effect.provide(PostSchedule.adoptLanguage, locales(supported))
        const titles = Effect.map(
          execute<{ readonly title: string }>("select title from posts order by slug"),
          (rows) => rows.map(({ title }) => title)
        )
        const create = (...translations: ReadonlyArray<string>) => {
          const listed = JSON.stringify(translations.map((locale) => ({ locale, title: locale })))
          return execute(`insert into posts (uuid, slug, type, status, translations, audience, pinned)
          select gen_random_uuid(), 'post-' || count(*), 'news', 'draft', '${listed}', '{}', false from posts`)
        }
        yield* adopt("nl-NL", "nl-BE")
        yield* create("de", "nl-BE", "nl-NL")
        yield* create("de", "nl-BE", "nl")
        yield* create("de", "fr")
        assert.deepStrictEqual(yield* titles, ["nl-NL", "nl-BE", "de"])
        yield* adopt("nl-BE", "nl-NL")
        assert.deepStrictEqual(yield* titles, ["nl-BE", "nl-BE", "de"])
        yield* adopt("fr-FR", "nl-NL")
        assert.deepStrictEqual(yield* titles, ["de", "de", "fr"])
        yield* Effect.provide(PostSchedule.adoptLanguage, locales())
      })
  )

  it.effect("events of posts and assets have the label in the default locale, also after the default has changed", () =>
    Effect.gen(function* () {
      const adopt = (...supported: ReadonlyArray<string>) =>
        Effect.provide(PostSchedule.adoptLanguage, locales(supported))
      const both = (member: string) =>
        JSON.stringify([
          { locale: "nl-BE", [member]: "Vlaams" },
          { locale: "nl-NL", [member]: "Hollands" }
        ])
      const sealed = Effect.gen(function* () {
        const [before] = yield* execute<{ readonly position: string }>("select position from event_log")
        yield* execute("select waypost_seal_all()")
        const events = yield* execute<{ readonly type: string; readonly action: string; readonly label: string }>(
          `select type, action, label from events where position > ${before!.position} order by position`
        )
        return events.map(({ action, label, type }) => `${type} ${action} ${label}`)
      })
      yield* clear
      yield* adopt("nl-BE", "nl-NL")
      yield* execute(`insert into posts (uuid, slug, type, status, translations, audience, pinned)
        values (gen_random_uuid(), 'post-both', 'news', 'draft', '${both("title")}', '{}', false)`)
      yield* execute(`with file as (
          insert into files (uuid, file_name, extension, mime_type, size, sha256, path_name, url_name)
            values (gen_random_uuid(), '', '', '', 1, '', '', '') returning uuid
        ) insert into assets (uuid, file_uuid, file_name_original, file_extension, file_size, path_name, url_name, translations)
          select gen_random_uuid(), uuid, '', '', 1, '', '', '${both("name")}' from file`)
      yield* sealed
      yield* adopt("nl-NL", "nl-BE")
      yield* execute("update posts set pinned = true")
      yield* execute(`update assets set focal_point = '{"x": 0, "y": 0}'`)
      assert.deepStrictEqual(yield* sealed, ["post updated Hollands", "asset updated Hollands"])
      // A change has the label of its time, also if the next one replaces it before both become events.
      yield* execute("update posts set pinned = false")
      yield* execute(`update posts set translations = '[{"locale": "nl-NL", "title": "Nieuw"}]'`)
      assert.deepStrictEqual(yield* sealed, ["post updated Hollands", "post updated Nieuw"])
      yield* execute("update posts set pinned = true")
      yield* execute("delete from posts")
      yield* execute("delete from assets")
      assert.deepStrictEqual(yield* sealed, ["post updated Nieuw", "post deleted Nieuw", "asset deleted Hollands"])
      yield* Effect.provide(PostSchedule.adoptLanguage, locales())
    })
  )

  it.effect("posts sort by the title in the default language, also after the default has changed", () =>
    Effect.gen(function* () {
      yield* clear
      const titles = Effect.map(execute<{ readonly title: string }>("select distinct title from posts"), (rows) =>
        rows.map(({ title }) => title)
      )
      yield* insert(600, "draft", "null")
      assert.deepStrictEqual(yield* titles, ["English"])
      // A post that a client changes concurrently is waited for.
      const { pooled } = yield* Sql
      const [locked, unlock] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const writing = Effect.gen(function* () {
        yield* pooled`select from posts limit 1 for update`
        yield* Deferred.succeed(locked, undefined)
        yield* Deferred.await(unlock)
      })
      const writer = yield* Effect.forkChild(pooled.withTransaction(writing))
      yield* Deferred.await(locked)
      const adopting = yield* Effect.forkChild(Effect.provide(PostSchedule.adoptLanguage, locales(["nl-BE", "en"])))
      yield* eventually(
        "the titles wait for the post",
        execute("select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"),
        ({ length }) => length > 0
      )
      yield* Deferred.succeed(unlock, undefined)
      yield* Fiber.join(writer)
      yield* Fiber.join(adopting)
      assert.deepStrictEqual(yield* titles, ["Nederlands"])
      yield* insert(1, "draft", "null")
      assert.deepStrictEqual(yield* titles, ["Nederlands"])
      yield* Effect.provide(PostSchedule.adoptLanguage, locales(["fr"]))
      assert.deepStrictEqual(yield* titles, ["English"])
    })
  )

  it.effect(
    "assets are labelled in the default locale, or else in its language, also after the default has changed",
    () =>
      Effect.gen(function* () {
        const labelIn = (supported: ReadonlyArray<string>, translations: ReadonlyArray<string>) =>
          Effect.gen(function* () {
            yield* Effect.provide(PostSchedule.adoptLanguage, locales(supported))
            const state = JSON.stringify({ translations: translations.map((locale) => ({ locale, name: locale })) })
            const { pooled } = yield* Sql
            const [row] = yield* pooled<{ readonly label: string }>`
            select waypost_label('asset', ${state}::jsonb) as label`
            return row!.label
          })
        assert.strictEqual(yield* labelIn(["nl-NL", "nl-BE"], ["de", "nl-BE", "nl-NL"]), "nl-NL")
        assert.strictEqual(yield* labelIn(["nl-BE", "nl-NL"], ["de", "nl-BE", "nl-NL"]), "nl-BE")
        assert.strictEqual(yield* labelIn(["nl-NL"], ["de", "nl"]), "nl")
        assert.strictEqual(yield* labelIn(["nl-NL"], ["de", "fr"]), "de")
      })
  )
})

const unprepared = Postgres.sql.pipe(Layer.provideMerge(settings({ DATABASE_PREPARE: "false" })))
layer(unprepared, { excludeTestServices: true })("schedule of posts that take long", (it) => {
  const slow = Effect.andThen(
    execute(
      "create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(0.004); return new; end $$"
    ),
    execute("create trigger slow before update on posts for each row execute function slow()")
  )

  it.effect(
    "posts of which five hundred exceed the statement timeout are published and archived in smaller parts",
    () =>
      Effect.gen(function* () {
        yield* slow
        yield* insert(400, "scheduled", "now() - interval '2 days'", "now() - interval '1 day'")
        yield* Effect.provide(Effect.andThen(advance, advance), Postgres.hurried(1000))
        const states = yield* execute("select status, count(*)::int as posts from posts group by status")
        assert.deepStrictEqual(states, [{ status: "archived", posts: 400 }])
      })
  )

  it.effect("titles of which five hundred exceed the statement timeout are updated in smaller parts", () =>
    Effect.gen(function* () {
      yield* Effect.provide(PostSchedule.adoptLanguage, [Postgres.hurried(1000), locales(["nl-NL"])])
      assert.deepStrictEqual(yield* execute("select distinct title from posts"), [{ title: "Nederlands" }])
    })
  )
})
