import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { createPost, type Fields, patchPost, postPost, readPost } from "../../support/requests/PostRequests.ts"
import { atBest, eventually } from "../../support/Until.ts"

const instant = (seconds: number) =>
  Effect.map(DateTime.now, (now) => DateTime.formatIso(DateTime.add(now, { seconds })))
const later = "2099-01-01T00:00:00.000Z"
const earlier = "2020-01-01T00:00:00.000Z"

/** Waits until the post has a status and returns it. */
const becomes = (uuid: string, status: string) =>
  eventually(`the post is ${status}`, readPost(uuid), (post) => post.status === status)
const published = Effect.gen(function* () {
  const uuid = yield* createPost({ status: "scheduled", publishAt: earlier })
  yield* becomes(uuid, "published")
  return uuid
})
const archived = Effect.tap(published, (uuid) => patchPost(uuid, { status: "archived" }))

const states = {
  draft: Effect.suspend(() => createPost({ publishAt: later })),
  scheduled: Effect.suspend(() => createPost({ status: "scheduled", publishAt: later })),
  published,
  archived
}
type State = keyof typeof states
const names = Object.keys(states) as ReadonlyArray<State>
const moves: ReadonlyArray<readonly [State, State]> = [
  ["draft", "scheduled"],
  ["scheduled", "draft"],
  ["scheduled", "published"],
  ["published", "archived"]
]
const isMove = (from: State, to: State) => from === to || moves.some(([a, b]) => a === from && b === to)
const cases = names.flatMap((from) => names.map((to) => ({ from, to, is: isMove(from, to) ? "allowed" : "rejected" })))

layer(TestServer.layer(), { excludeTestServices: true })("States of posts", (it) => {
  it.effect.each(cases)("a post status change from $from to $to is $is", ({ from, is, to }) =>
    Effect.gen(function* () {
      const uuid = yield* states[from]
      const before = yield* readPost(uuid)
      assert.strictEqual(before.status, from)
      const { body, status } = yield* patchPost(uuid, { status: to })
      if (is === "allowed") {
        assert.strictEqual(status, 200)
        assert.strictEqual((yield* readPost(uuid)).status, to)
      } else {
        assert.deepStrictEqual([status, body._tag], [400, "InvalidRequestError"])
        assert.deepInclude(body.issues[0], { in: "body", path: "status", code: "forbiddenMove" })
        assert.deepStrictEqual(yield* readPost(uuid), before)
      }
    })
  )

  it.effect("a new post can only be a draft or scheduled, and the error names the moves", () =>
    Effect.gen(function* () {
      for (const status of ["published", "archived"]) {
        const answer = yield* postPost({ status, publishAt: earlier })
        assert.deepStrictEqual([answer.status, answer.body.issues[0].code], [400, "forbiddenMove"])
        const moves = "from draft to scheduled and back, from scheduled to published, and from published to archived"
        assert.include(answer.body.issues[0].message, `A new post is a draft or scheduled; status moves ${moves}.`)
      }
    })
  )

  it.effect("a scheduled post requires publishAt, and expireAt must be later", () =>
    Effect.gen(function* () {
      const scheduled = yield* states.scheduled
      const draft = yield* createPost()
      const invalid: ReadonlyArray<readonly [uuid: string | undefined, fields: Fields, path: string]> = [
        [undefined, { status: "scheduled" }, "publishAt"],
        [draft, { status: "scheduled" }, "publishAt"],
        [scheduled, { publishAt: null }, "publishAt"],
        [undefined, { publishAt: later, expireAt: later }, "expireAt"],
        [draft, { publishAt: later, expireAt: earlier }, "expireAt"],
        [scheduled, { expireAt: earlier }, "expireAt"],
        [draft, { callToAction: { type: "shop" } }, "callToAction"]
      ]
      for (const [uuid, fields, path] of invalid) {
        const { body, status } = yield* uuid === undefined ? postPost(fields) : patchPost(uuid, fields)
        assert.deepStrictEqual([status, body.issues[0].path], [400, path], JSON.stringify(fields))
      }
      assert.strictEqual((yield* patchPost(scheduled, { publishAt: null, status: "draft" })).status, 200)
      assert.strictEqual((yield* patchPost(draft, { expireAt: earlier })).status, 200)
    })
  )

  it.effect("a scheduled post is published on time, and archived when it expires", () =>
    atBest(
      Effect.gen(function* () {
        const [publishAt, expireAt] = [yield* instant(1), yield* instant(2.5)]
        const uuid = yield* createPost({ status: "scheduled", publishAt, expireAt })
        const scheduled = yield* readPost(uuid)
        assert.notProperty(scheduled, "publishedAt")
        const post = yield* becomes(uuid, "published")
        const delay = Date.parse(post.publishedAt) - Date.parse(publishAt)
        assert.isAtLeast(delay, 0)
        assert.isBelow(delay, 1500)
        assert.isAbove(Date.parse(post.editedAt), Date.parse(scheduled.editedAt))
        const gone = yield* becomes(uuid, "archived")
        assert.strictEqual(gone.publishedAt, post.publishedAt)
        assert.isAtLeast(Date.parse(gone.editedAt), Date.parse(expireAt))
        assert.isBelow(Date.parse(gone.editedAt) - Date.parse(expireAt), 1500)
      })
    )
  )

  it.effect("publishing by hand sets publishedAt and keeps publishAt", () =>
    Effect.gen(function* () {
      const uuid = yield* states.scheduled
      const now = yield* instant(0)
      // The client cannot set publishedAt; the database does.
      yield* patchPost(uuid, { status: "published", publishedAt: earlier })
      const post = yield* readPost(uuid)
      assert.strictEqual(post.publishAt, later)
      assert.isBelow(Math.abs(Date.parse(post.publishedAt) - Date.parse(now)), 60_000)
    })
  )
})
