import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Result } from "effect"
import { parse } from "../../../src/domain/query/Filter.ts"
import { fieldsOf } from "../../../src/domain/query/FilterFields.ts"
import { Locales, make } from "../../../src/domain/schema/Locale.ts"
import { Post, sortable } from "../../../src/domain/posts/Post.ts"
import { Memberships } from "../../../src/repositories/people/Memberships.ts"
import { Posts } from "../../../src/repositories/posts/Posts.ts"
import { advance } from "../../../src/jobs/PostSchedule.ts"
import { publicUrl, settings } from "../../support/TestServer.ts"
import { explained, isScanOf, nodes, filled, type Plan } from "../../sql/Explained.ts"

const rows = 20_000

const fill = [
  `insert into posts (uuid, slug, type, status, translations, audience, pinned, tags, publish_at, expire_at, created_at, edited_at)
    select gen_random_uuid(), 'post-' || i, 'news', case when i % 3 = 0 then 'scheduled' else 'draft' end,
      jsonb_build_array(jsonb_build_object('locale', 'en', 'title', 'Title ' || md5(i::text))), '{}', false,
      array['tag ' || i % 5000], case when i % 2 = 0 or i % 3 = 0 then timestamptz '2090-01-01' + i * interval '1 minute' end,
      null, timestamptz '2024-01-01' + i * interval '1 minute', timestamptz '2024-06-01' + (i * 7919 % ${rows}) * interval '1 minute'
    from generate_series(1, ${rows}) i`,
  "vacuum analyze posts"
]

const services = Posts.layer.pipe(
  Layer.provide(Memberships.layer),
  Layer.provide(Layer.succeed(Locales, make(undefined))),
  Layer.provideMerge(filled(fill)),
  Layer.provide([publicUrl, settings()])
)

const scansTable = (plan: Plan) => nodes(plan).some(isScanOf("posts"))
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

layer(services, { excludeTestServices: true })("query plans with many posts", (it) => {
  it.effect.each(lists)("page $page by $sortBy $sortOrder is read from its index", (sort) =>
    Effect.gen(function* () {
      const posts = yield* Posts
      const { page, sortBy, sortOrder, view } = sort
      // The second read has the cached total and starts from the nearer end.
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
  ])("the filter %s uses the index %s", ([filter, index]) =>
    Effect.gen(function* () {
      const posts = yield* Posts
      const conditions = Result.getOrThrow(parse(fieldsOf(Post), filter!))
      const plan = yield* explained(posts.list({ filter: conditions }, views[0]!))
      assert.include(indexesOf(plan), index)
      assert.isFalse(scansTable(plan))
    })
  )

  it.effect("finding due posts reads two small indexes", () =>
    Effect.gen(function* () {
      const plan = yield* explained(advance)
      assert.isFalse(scansTable(plan))
      assert.includeMembers([...indexesOf(plan)], ["posts_due", "posts_expiring"])
    })
  )
})
