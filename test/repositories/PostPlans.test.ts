import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { parse } from "../../src/domain/Filter.ts"
import { fieldsOf } from "../../src/domain/FilterFields.ts"
import { Locales, make } from "../../src/domain/Locale.ts"
import { Post, sortable } from "../../src/domain/Post.ts"
import { Memberships } from "../../src/repositories/Memberships.ts"
import { Posts } from "../../src/repositories/Posts.ts"
import { advance } from "../../src/repositories/PostSchedule.ts"
import { Database, Sql } from "../../src/repositories/Sql.ts"
import * as Postgres from "../support/Postgres.ts"
import { publicUrl, settings } from "../support/TestServer.ts"

const rows = 20_000

interface Statement {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
}

/** The statements that went to the database, newest last. */
class Sent extends Context.Service<Sent, Array<Statement>>()("waypost/test/PostPlans/Sent") {}

const fill = [
  `insert into posts (uuid, slug, type, status, translations, audience, pinned, tags, publish_at, expire_at, created_at, edited_at)
    select gen_random_uuid(), 'post-' || i, 'news', case when i % 3 = 0 then 'scheduled' else 'draft' end,
      jsonb_build_array(jsonb_build_object('locale', 'en', 'title', 'Title ' || md5(i::text))), '{}', false,
      array['tag ' || i % 5000], case when i % 2 = 0 or i % 3 = 0 then timestamptz '2090-01-01' + i * interval '1 minute' end,
      null, timestamptz '2024-01-01' + i * interval '1 minute', timestamptz '2024-06-01' + (i * 7919 % ${rows}) * interval '1 minute'
    from generate_series(1, ${rows}) i`,
  "vacuum analyze posts"
]

/** The rows, through a connection without the timeouts of the service. */
const filled = Layer.effectDiscard(
  Effect.gen(function* () {
    const database = yield* Database
    yield* Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.forEach(fill, (statement) => sql.unsafe(statement), { discard: true })
    ).pipe(Effect.provide(PgClient.layer({ ...database, maxConnections: 1 })))
  })
)

/** The pools, noting the statements that the repositories build. */
const noting = Layer.effect(
  Sql,
  Effect.gen(function* () {
    const sent = yield* Sent
    const { bounded, ordinary } = yield* Sql
    const note = (client: SqlClient.SqlClient): SqlClient.SqlClient =>
      new Proxy(client, {
        get: (target, member, receiver) =>
          member === "unsafe"
            ? (text: string, values: ReadonlyArray<unknown> = []) => {
                sent.push({ text, values })
                return target.unsafe(text, values)
              }
            : Reflect.get(target, member, receiver)
      })
    return Sql.of({ bounded: note(bounded), ordinary: note(ordinary) })
  })
).pipe(Layer.provideMerge(Layer.provideMerge(filled, Postgres.sql)))

const services = Posts.layer.pipe(
  Layer.provide(Memberships.layer),
  Layer.provide(Layer.succeed(Locales, make(undefined))),
  Layer.provideMerge(noting),
  Layer.provideMerge(Layer.succeed(Sent, [])),
  Layer.provide([publicUrl, settings()])
)

interface Plan {
  readonly "Node Type": string
  readonly "Relation Name"?: string
  readonly "Index Name"?: string
  readonly Plans?: ReadonlyArray<Plan>
}
const nodes = (plan: Plan): ReadonlyArray<Plan> => [plan, ...(plan.Plans ?? []).flatMap(nodes)]
const scansTable = (plan: Plan) =>
  nodes(plan).some((node) => node["Node Type"] === "Seq Scan" && node["Relation Name"] === "posts")
const indexesOf = (plan: Plan) => nodes(plan).map((node) => node["Index Name"] ?? "")

const views = [
  { groupNames: true, locationNames: true },
  { groupNames: false, locationNames: false, locale: "nl" }
]
const limit = 25
const lists = sortable.flatMap((sortBy) =>
  (["asc", "desc"] as const).flatMap((sortOrder) =>
    [1, rows / limit / 2, rows / limit].flatMap((page) => views.map((view) => ({ sortBy, sortOrder, page, view })))
  )
)

layer(services, { excludeTestServices: true, timeout: "60 seconds" })("on many posts", (it) => {
  const explained = Effect.fnUntraced(function* <E>(statement: Effect.Effect<unknown, E, Sql>) {
    const { ordinary } = yield* Sql
    const sent = yield* Sent
    yield* statement
    const { text, values } = sent.at(-1) ?? assert.fail("no statement")
    const [row] = yield* ordinary.unsafe<{ readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: Plan }> }>(
      `explain (format json) ${text}`,
      values
    ).unprepared
    return row!["QUERY PLAN"][0]!.Plan
  })

  it.effect.each(lists)("page $page by $sortBy $sortOrder is read off its index", (sort) =>
    Effect.gen(function* () {
      const posts = yield* Posts
      const { page, sortBy, sortOrder, view } = sort
      // The second read knows the total, and from which end to walk.
      yield* posts.list({ sortBy, sortOrder, limit }, view)
      const plan = yield* explained(posts.list({ sortBy, sortOrder, limit, page }, view))
      assert.isFalse(scansTable(plan))
      const name = `posts_${sortBy.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`)}`
      assert.isTrue(indexesOf(plan).some((index) => index.startsWith(name)))
    })
  )

  it.effect.each([
    ["slug:equals:post-77", "posts_slug_key"],
    ["tags:equals:tag 77", "posts_tags"],
    ["status:equals:published", "posts_status"]
  ])("%s is answered from %s", ([filter, index]) =>
    Effect.gen(function* () {
      const posts = yield* Posts
      const conditions = Result.getOrThrow(parse(fieldsOf(Post), filter!))
      const plan = yield* explained(posts.list({ filter: conditions }, views[0]!))
      assert.include(indexesOf(plan), index)
      assert.isFalse(scansTable(plan))
    })
  )

  it.effect("looking for posts that are due costs two looks at small indexes", () =>
    Effect.gen(function* () {
      const plan = yield* explained(advance)
      assert.isFalse(scansTable(plan))
      assert.includeMembers([...indexesOf(plan)], ["posts_due", "posts_expiring"])
    })
  )
})
