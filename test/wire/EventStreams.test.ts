import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Fiber, Layer } from "effect"
import { Sql } from "../../src/sql/Sql.ts"
import { TimeLimits } from "../../src/http/transport/Timeout.ts"
import { open as openStream } from "../support/changes/Streams.ts"
import { corrected } from "../support/Clocks.ts"
import { atBest, eventually, until } from "../support/Until.ts"
import { layer as listening, Wire } from "../support/wire/Wire.ts"

const live = { excludeTestServices: true }
const hour = 3_600_000

let count = 0
const identifier = () => `branch-${++count}`

const create = Effect.flatMap(Wire, ({ send }) => {
  const body = JSON.stringify({ name: "Branch", identifier: identifier() })
  return Effect.map(send("POST", "/v1/locations", { body }), (answer) => String(answer.body.data.uuid))
})

/** A location whose creation the log has. */
const createLogged = Effect.gen(function* () {
  const { send } = yield* Wire
  const uuid = yield* create
  const history = send("GET", `/v1/locations/${uuid}/history`)
  yield* eventually("the log has the creation", history, ({ body }) => body.data.length > 0)
  return uuid
})

/** An open stream of the service. */
const open = Effect.fnUntraced(function* (query = "", headers: Readonly<Record<string, string>> = {}) {
  const { fullKey, port } = yield* Wire
  const url = `http://127.0.0.1:${port}/v1/events/stream${query}`
  return yield* Effect.acquireDisposable(Effect.promise(() => openStream(url, { authorization: fullKey, ...headers })))
})

const having = (stream: Effect.Success<ReturnType<typeof open>>, events: number) =>
  Effect.promise(() => stream.having(events))

/** The uuid of a new key with these permissions, and its secret. */
const newKey = Effect.fnUntraced(function* (permissions: ReadonlyArray<string>, expiresAt?: string) {
  const { send } = yield* Wire
  const { body } = yield* send("POST", "/v1/api-keys", {
    body: JSON.stringify({ name: "Follower", permissions, expiresAt })
  })
  return { uuid: String(body.data.uuid), key: String(body.data.key) }
})

const followers = Effect.map(
  Effect.flatMap(Wire, ({ send }) => send("GET", "/metrics", { key: null })),
  ({ text }) => Number(/^waypost_event_followers (\d+)$/m.exec(text)?.[1])
)

const commented = { ...TimeLimits.defaultValue(), comment: 300 }
const commenting = Layer.succeed(TimeLimits, commented)
const quick = Layer.succeed(TimeLimits, { ...commented, answer: 1000 })

layer(listening(), live)("a stream of events", (it) => {
  it.effect("begins now, and sends each event once with its cursor as id and its type as name", () =>
    Effect.gen(function* () {
      yield* createLogged
      const stream = yield* open()
      assert.strictEqual(stream.headers.get("content-type"), "text/event-stream")
      const created = yield* Effect.replicateEffect(create, 3)
      yield* having(stream, 3)
      assert.deepStrictEqual(
        stream.events.map(({ record }) => record.uuid),
        created
      )
      for (const { cursor, sentId, sentType, type } of stream.events) {
        assert.deepStrictEqual([sentId, sentType], [cursor, type])
      }
    }).pipe(Effect.scoped)
  )

  it.effect("a stream has each event once when users log in between them, also behind a cursor before the logins", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const { pooled } = yield* Sql
      const body = JSON.stringify({ username: identifier(), email: `${identifier()}@example.com` })
      const user = (yield* send("POST", "/v1/users", { body })).body.data.uuid
      const login = Effect.gen(function* () {
        assert.strictEqual((yield* send("POST", `/v1/users/${user}/logins`, { body: "{}" })).status, 200)
        yield* pooled`select waypost_seal_all()`
      })
      const stream = yield* open("?types=location.*")
      const created = [yield* create]
      yield* having(stream, 1)
      const begin = stream.events[0]!.sentId
      for (let round = 1; round <= 3; round++) {
        yield* login
        yield* login
        created.push(...(yield* Effect.replicateEffect(create, round)))
        yield* having(stream, created.length)
      }
      const later = yield* open(`?types=location.*&after=${begin}`)
      yield* having(later, created.length - 1)
      created.push(yield* create)
      yield* having(stream, created.length)
      yield* having(later, created.length - 1)
      const [read, readLater] = [stream, later].map(({ events }) => events.map(({ record }) => record.uuid))
      assert.deepStrictEqual([read, readLater], [created, created.slice(1)])
    }).pipe(Effect.scoped)
  )

  it.effect("a stream has no erased values, behind a cursor before the erasure either", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const stream = yield* open()
      yield* create
      yield* having(stream, 1)
      const username = identifier()
      const body = JSON.stringify({ username, email: `${username}@example.com`, firstName: "Unmistakable" })
      const { body: created } = yield* send("POST", "/v1/users", { body })
      yield* having(stream, 2)
      assert.include(JSON.stringify(stream.events), "Unmistakable")
      yield* send("DELETE", `/v1/users/${created.data.uuid}?erase=true`)
      yield* having(stream, 4)
      const later = yield* open(`?types=user.*&after=${stream.events[0]!.sentId}`)
      yield* having(later, 3)
      assert.notInclude(JSON.stringify(later.events), "Unmistakable")
    }).pipe(Effect.scoped)
  )

  it.effect("goes on behind more logins than a page of the log reads", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const stream = yield* open()
      yield* create
      yield* having(stream, 1)
      yield* pooled.withTransaction(
        Effect.andThen(
          pooled`select from event_log for update`,
          pooled`
            with logins as (
              insert into events (position, id, type, action, record_uuid, occurred_at, sealed_at, actor, bytes, digest, hash)
                select position + i, gen_random_uuid(), 'user', 'touched', gen_random_uuid(), sealed_at, sealed_at, '{}', 0, '', ''
                  from event_log, generate_series(1, 10001) i returning position
            ) update event_log set position = (select max(position) from logins)`
        )
      )
      const created = yield* create
      yield* having(stream, 2)
      assert.strictEqual(stream.events[1]!.record.uuid, created)
    }).pipe(Effect.scoped)
  )

  it.effect("goes on behind `after` and behind Last-Event-ID, which counts first, without gap or repetition", () =>
    Effect.gen(function* () {
      const first = yield* open()
      const created = yield* Effect.replicateEffect(create, 4)
      yield* having(first, 4)
      const id = first.events[0]!.sentId
      const after = yield* open(`?after=${id}`)
      const last = yield* open(`?after=${id}`, { "last-event-id": first.events[1]!.sentId })
      const more = yield* create
      yield* Effect.all([having(after, 4), having(last, 3)])
      const read = (stream: typeof after) => stream.events.map(({ record }) => record.uuid)
      assert.deepStrictEqual(
        [read(after), read(last)],
        [
          [...created.slice(1), more],
          [...created.slice(2), more]
        ]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("a stream has the events of its filters only, and of the types that its key may read", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const { key } = yield* newKey(["read:events", "read:locations"])
      const watched = yield* createLogged
      const ofRecord = yield* open(`?record=${watched}`)
      const ofType = yield* open("?types=*.deleted")
      const ofKey = yield* open("", { authorization: key })
      const other = yield* create
      yield* send("POST", "/v1/groups", { body: JSON.stringify({ name: identifier() }) })
      yield* send("PATCH", `/v1/locations/${watched}`, { body: JSON.stringify({ name: "Other" }) })
      yield* send("DELETE", `/v1/locations/${other}`)
      yield* Effect.all([having(ofRecord, 1), having(ofType, 1), having(ofKey, 3)])
      const types = (stream: typeof ofKey) => stream.events.map(({ type }) => type)
      assert.deepStrictEqual(types(ofRecord), ["location.updated"])
      assert.deepStrictEqual(types(ofType), ["location.deleted"])
      assert.deepStrictEqual(types(ofKey), ["location.created", "location.updated", "location.deleted"])
    }).pipe(Effect.scoped)
  )

  it.effect("a stream has events of other records by relations that its key sees only, older ones and new ones", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const member = { username: identifier(), email: `${identifier()}@example.com` }
      const user = (yield* send("POST", "/v1/users", { body: JSON.stringify(member) })).body.data.uuid
      const begin = (yield* send("GET", "/v1/events?order=desc&limit=1")).body.cursor
      const join = Effect.suspend(() =>
        send("POST", "/v1/groups", { body: JSON.stringify({ name: identifier(), users: [user] }) })
      )
      const follow = Effect.fnUntraced(function* (permissions: ReadonlyArray<string>) {
        const { key } = yield* newKey(["read:events", "read:groups", ...permissions])
        const query = `?record=${user}&types=group.*`
        return [
          yield* open(query, { authorization: key }),
          yield* open(`${query}&after=${begin}`, { authorization: key })
        ] as const
      })
      yield* join
      const history = send("GET", `/v1/users/${user}/history`)
      yield* eventually("the log has the older event", history, ({ body }) => body.data.length === 2)
      const [visible, hidden] = [yield* follow(["read:users"]), yield* follow([])]
      for (const count of [1, 2]) {
        yield* join
        yield* having(visible[0], count)
        yield* having(visible[1], count + 1)
      }
      assert.deepStrictEqual(
        hidden.map(({ events }) => events),
        [[], []]
      )
    }).pipe(Effect.scoped)
  )

  it.effect.each(["revoked", "expired"])("ends within 2 s after its key is %s, as a waiting request does", (end) =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const { pooled } = yield* Sql
      const { key, uuid } = yield* newKey(["read:events"], new Date(Date.now() + hour).toISOString())
      const stream = yield* open("", { authorization: key })
      const { body: page } = yield* send("GET", "/v1/events?order=desc&limit=1", { key })
      const waiting = yield* Effect.forkScoped(
        send("GET", `/v1/events?wait=25&types=post.deleted&after=${page.cursor}`, { key })
      )
      yield* eventually("both follow", followers, (found) => found === 2)
      yield* end === "revoked"
        ? send("DELETE", `/v1/api-keys/${uuid}`)
        : pooled`update api_keys set expires_at = expires_at - interval '1 hour' where uuid = ${uuid}`
      const began = performance.now()
      yield* Effect.promise(() => until("the stream has ended", stream.hasEnded))
      const { body, status } = yield* Fiber.join(waiting)
      assert.deepStrictEqual([status, body.reason], [401, end])
      assert.isBelow(performance.now() - began, 2000)
    }).pipe(Effect.scoped, atBest)
  )

  it.effect("the time for which a request waits is not in the metrics", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const { body: page } = yield* send("GET", "/v1/events?order=desc&limit=1")
      const answered = Effect.map(send("GET", "/metrics", { key: null }), ({ text }) => {
        const of = (suffix: string) =>
          Number(
            new RegExp(`^http_request_duration_seconds_${suffix}\\{.*"/v1/events",status="200"} (\\S+)$`, "m").exec(
              text
            )?.[1]
          )
        return { count: of("count"), seconds: of("sum") }
      })
      const before = yield* answered
      const began = performance.now()
      yield* send("GET", `/v1/events?wait=1&types=post.deleted&after=${page.cursor}`)
      const rest = (performance.now() - began) / 1000 - 0.95
      assert.isAbove(rest, 0)
      const after = yield* answered
      assert.strictEqual(after.count, before.count + 1)
      assert.isBelow(after.seconds - before.seconds, rest)
    })
  )

  it.effect("rejects a cursor that was changed with 400, and a parameter that it does not have", () =>
    Effect.gen(function* () {
      const answers = yield* Effect.all([
        open("?after=AAAA"),
        open("", { "last-event-id": "AAAA" }),
        open("?limit=5"),
        open("?types=nonsense")
      ])
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [400, 400, 400, 400]
      )
    }).pipe(Effect.scoped)
  )

  it.effect("a client that is gone no longer counts as a follower", () =>
    Effect.gen(function* () {
      yield* Effect.scoped(
        Effect.andThen(
          open(),
          eventually("the stream follows", followers, (found) => found > 0)
        )
      )
      yield* eventually("no stream follows", followers, (found) => found === 0)
    })
  )
})

layer(listening().pipe(Layer.provide(quick)), live)("a stream that outlasts the time of an answer", (it) => {
  it.effect("a stream has a comment at each interval and no limit on its time", () =>
    Effect.gen(function* () {
      const stream = yield* eventually("the stream begins", open(), ({ status }) => status === 200)
      yield* Effect.promise(() => until("there are six comments", () => stream.comments() >= 6))
      assert.isFalse(stream.hasEnded())
    }).pipe(Effect.scoped)
  )
})

layer(listening().pipe(Layer.provide(commenting)), live)("a stream with comments", (it) => {
  it.effect("a stream has an id before its first event, which moves over the events that its filters leave out", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const stream = yield* open("?types=post.deleted")
      const begin = yield* Effect.promise(() => until("the stream has an id", () => stream.lastId()))
      const skipped = yield* createLogged
      const { body } = yield* send("GET", `/v1/locations/${skipped}/history`)
      const { cursor } = body.data[0]
      yield* Effect.promise(() => until("the id is that of the location", () => stream.lastId() === cursor))
      const last = yield* createLogged
      const [all, rest] = [
        yield* open("?types=location.*", { "last-event-id": begin }),
        yield* open("?types=location.*", { "last-event-id": cursor })
      ]
      yield* having(all, 2)
      yield* having(rest, 1)
      const recordsOf = (read: typeof all) => read.events.map(({ record }) => record.uuid)
      assert.deepStrictEqual([recordsOf(stream), recordsOf(all), recordsOf(rest)], [[], [skipped, last], [last]])
    }).pipe(Effect.scoped)
  )
})

let correction = 0
const setBack = Layer.succeed(
  Clock.Clock,
  corrected(Clock.Clock.defaultValue(), () => (correction -= 1000))
)

layer(listening().pipe(Layer.provide([quick, setBack])), live)("a clock that is set back again and again", (it) => {
  it.effect("leaves the comments of a stream at their intervals", () =>
    Effect.gen(function* () {
      const stream = yield* eventually("the stream begins", open(), ({ status }) => status === 200)
      yield* Effect.promise(() => until("there are six comments", () => stream.comments() >= 6))
    }).pipe(Effect.scoped)
  )

  it.effect("leaves a waiting request its time", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const { body, status } = yield* send("GET", "/v1/events?wait=1&types=post.deleted")
      assert.deepStrictEqual([status, body.data], [200, []])
    })
  )

  it.effect("makes no duration in the metrics negative", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      yield* send("GET", "/v1/events?wait=1&types=post.deleted")
      const { text } = yield* send("GET", "/metrics", { key: null })
      const sums = [...text.matchAll(/^http_request_duration_seconds_sum\{.*\} (\S+)$/gm)]
      assert.isNotEmpty(sums)
      for (const [line, sum] of sums) assert.isAtLeast(Number(sum), 0, line)
    })
  )
})

layer(listening({ MAX_STREAMS: "4", KEY_SHARE: "0.5" }), live)("the limits of streams", (it) => {
  it.effect("a key has its share of them, above which a stream and a waiting request are a 429 with Retry-After", () =>
    Effect.gen(function* () {
      const { key, send } = yield* Wire
      const { body: page } = yield* send("GET", "/v1/events?order=desc&limit=1")
      const streams = yield* Effect.replicateEffect(open(), 3)
      assert.deepStrictEqual(
        streams.map(({ status }) => status),
        [200, 200, 429]
      )
      const error = yield* Effect.promise(() => streams[2]!.error())
      const waiting = yield* send("GET", `/v1/events?wait=1&types=post.deleted&after=${page.cursor}`)
      assert.deepStrictEqual([error._tag, waiting.status], ["RateLimitExceededError", 429])
      assert.deepStrictEqual([streams[2]!.headers.get("retry-after"), waiting.headers["retry-after"]], ["5", "5"])
      const other = yield* key(["read:events"])
      assert.strictEqual((yield* open("", { authorization: other })).status, 200)
      streams[0]![Symbol.dispose]()
      yield* eventually("the place is free", Effect.scoped(open()), ({ status }) => status === 200)
    }).pipe(Effect.scoped)
  )
})

layer(listening({ KEY_SHARE: "0.01", LOCALES: "en,nl" }), live)("a share of fewer bytes than one event", (it) => {
  it.effect("a stream sends an event with more bytes than the share of its key has unread ones", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const stream = yield* open()
      const body = `<p>${"€".repeat(120_000)}</p>`
      const translations = ["en", "nl"].map((locale) => ({ locale, title: "Large", body }))
      const created = yield* send("POST", "/v1/posts", { body: JSON.stringify({ type: "news", translations }) })
      assert.strictEqual(created.status, 201, created.text.slice(0, 300))
      yield* having(stream, 1)
    }).pipe(Effect.scoped)
  )
})

layer(listening({ MAX_IN_FLIGHT: "2", KEY_SHARE: "1", DATABASE_POOL_SIZE: "3" }), live)(
  "a process with streams",
  (it) => {
    it.effect("they hold no place in flight and no connection: more of them than of either leave requests alone", () =>
      Effect.gen(function* () {
        const { send } = yield* Wire
        const { body: page } = yield* send("GET", "/v1/events?order=desc&limit=1")
        const streams: Array<Effect.Success<ReturnType<typeof open>>> = []
        for (let index = 0; index < 8; index++) streams.push(yield* open())
        const waiting = yield* Effect.forkScoped(
          send("GET", `/v1/events?wait=25&types=location.*&after=${page.cursor}`)
        )
        yield* eventually("the request waits", followers, (found) => found === 9)
        const created = yield* create
        yield* Effect.forEach(streams, (stream) => having(stream, 1), { concurrency: "unbounded" })
        const { body } = yield* Fiber.join(waiting)
        assert.deepStrictEqual([body.data.length, body.data[0].record.uuid], [1, created])
      }).pipe(Effect.scoped)
    )
  }
)
