import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { connect, type Socket } from "node:net"
import { MaxBulk } from "../../src/http/transport/limits/Shares.ts"
import { Sql } from "../../src/sql/Sql.ts"
import { unique } from "../support/requests/Requests.ts"
import { eventually } from "../support/Until.ts"
import { layer as listening, Wire } from "../support/wire/Wire.ts"

const live = { excludeTestServices: true }
const mebibyte = 1024 * 1024

const creation = () => ({ op: "create", data: { name: "Branch", identifier: unique("bulk") } })

const bulk = (operations: ReadonlyArray<object>, key?: string) =>
  Effect.flatMap(Wire, ({ send }) =>
    send("POST", "/v1/locations/bulk", {
      body: JSON.stringify({ operations }),
      ...(key === undefined ? {} : { key })
    })
  )

interface Begun {
  readonly path: string
  readonly type: string
  readonly body: string
  /** Bytes of the whole body. */
  readonly length?: number
  /** Lines of the head. */
  readonly headers?: string
}

/** A request of a key whose body never arrives as a whole, and that is in flight until the scope ends; its socket has taken what is sent. */
const begun = (key: string, { body, headers = "", length = body.length + 100, path, type }: Begun) =>
  Effect.flatMap(Wire, ({ port }) =>
    Effect.acquireRelease(
      Effect.callback<Socket>((resume) => {
        const socket = connect(port, "127.0.0.1")
        socket.on("error", () => undefined)
        socket.write(
          `POST ${path} HTTP/1.1\r\nHost: waypost.test\r\nAuthorization: ${key}\r\n` +
            `Content-Type: ${type}\r\nContent-Length: ${length}\r\n${headers}\r\n${body}`,
          () => resume(Effect.succeed(socket))
        )
      }),
      (socket) => Effect.sync(() => socket.destroy())
    )
  )

/** A bulk request of a key whose body never arrives. */
const hanging = (key: string, length?: number) =>
  begun(key, {
    path: "/v1/locations/bulk",
    type: "application/json",
    body: "{",
    ...(length === undefined ? {} : { length })
  })

const plans = "/v1/plans?resource=locations"
const ndjson = "application/x-ndjson"

/** A plan of a key, of whose file more than the rows that are compared together has arrived. */
const hangingPlan = (key: string) => {
  const rows = Array.from({ length: 600 }, () => JSON.stringify(creation().data))
  return begun(key, { path: plans, type: ndjson, body: `${rows.join("\n")}\n` })
}

layer(listening(), live)("bulk requests", (it) => {
  it.effect("a body of 8 MiB is read, and a larger one is a 413, whether its length is declared or not", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      for (const chunked of [false, true]) {
        const ask = (bytes: number) =>
          send("POST", "/v1/locations/bulk", {
            body: JSON.stringify({ operations: [creation()] }).padEnd(bytes),
            chunked
          })
        assert.deepStrictEqual((yield* ask(8 * mebibyte)).body.counts, { 201: 1 })
        const { body, status } = yield* ask(8 * mebibyte + 1)
        assert.deepStrictEqual([status, body._tag], [413, "PayloadTooLargeError"])
      }
    })
  )

  it.effect("an operation on one record still takes at most 1 MiB", () =>
    Effect.gen(function* () {
      const { send } = yield* Wire
      const body = `${JSON.stringify({ name: "Branch", identifier: unique() })}${" ".repeat(mebibyte)}`
      assert.strictEqual((yield* send("POST", "/v1/locations", { body })).status, 413)
    })
  )

  it.effect(
    "a request that writes is logged in one line with counts, key, operation and request id; one that writes nothing is not",
    () =>
      Effect.gen(function* () {
        const { fullKey, logs, send } = yield* Wire
        const { uuid: key } = (yield* send("GET", "/v1/me", { key: fullKey })).body.data
        const identifier = unique("logged")
        const before = logs.length
        const data = { name: "Branch", identifier }
        const answer = yield* bulk([
          creation(),
          creation(),
          { op: "create", data: {} },
          { op: "upsert", key: identifier, data }
        ])
        yield* bulk([{ op: "create", data: {} }])
        yield* send("POST", "/v1/locations/bulk", {
          body: JSON.stringify({ mode: "atomic", operations: [creation(), { op: "create", data: {} }] })
        })
        yield* send("POST", "/v1/locations/bulk", {
          body: JSON.stringify({ operations: [creation()] }),
          headers: { prefer: "validate-only" }
        })
        const lines = logs
          .slice(before)
          .map((line) => JSON.parse(line) as { readonly message: string; readonly annotations: object })
        assert.deepStrictEqual(
          lines
            .filter(({ message }) => /ritten|Unchanged/.test(message))
            .map(({ annotations, message }): ReadonlyArray<unknown> => [message, annotations]),
          [
            [
              "Written in bulk",
              { 201: "3", 400: "1", key, operation: "locations.bulk", requestId: answer.headers["x-request-id"] }
            ]
          ]
        )
        assert.notInclude(logs.slice(before).join(""), identifier)
      })
  )
})

layer(listening(), live)("the share of a key by default", (it) => {
  it.effect("a key can have 3 bulk requests in flight, and gets a 429 for the next", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { key } = yield* Wire
        const busy = yield* key(["create:locations"])
        yield* Effect.replicateEffect(hanging(busy), 2)
        yield* Effect.sleep("300 millis")
        assert.strictEqual((yield* bulk([creation()], busy)).status, 200)
        yield* hanging(busy)
        yield* eventually("the key is above its share", bulk([creation()], busy), ({ status }) => status === 429)
      })
    )
  )
})

layer(listening({ RATE_LIMIT_PER_SECOND: "5" }), live)("the rate limit", (it) => {
  it.effect("counts a bulk request once", () =>
    Effect.gen(function* () {
      const { key } = yield* Wire
      const held = yield* key(["create:locations"])
      const ask = Effect.suspend(() => bulk(Array.from({ length: 20 }, creation), held))
      const answers = yield* Effect.replicateEffect(ask, 2)
      assert.deepStrictEqual(
        answers.map(({ body, status }) => [status, body.counts]),
        [
          [200, { 201: 20 }],
          [200, { 201: 20 }]
        ]
      )
    })
  )
})

layer(listening({ KEY_SHARE: "0.5" }), live)("the share of a key", (it) => {
  it.effect(
    "a key with 2 of 4 bulk requests in flight gets a 429 with Retry-After for the next; its other requests and another key work",
    () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { key, send } = yield* Wire
          const permissions = ["create:locations", "read:locations"] as const
          const [busy, calm] = [yield* key(permissions), yield* key(permissions)]
          yield* Effect.replicateEffect(hanging(busy), 2)
          const limited = yield* eventually(
            "the key is above its share",
            bulk([creation()], busy),
            ({ status }) => status === 429
          )
          assert.strictEqual(limited.body._tag, "RateLimitExceededError")
          assert.strictEqual(limited.headers["retry-after"], "1")
          assert.strictEqual((yield* send("GET", "/v1/locations", { key: busy })).status, 200)
          const single = JSON.stringify(creation().data)
          assert.strictEqual((yield* send("POST", "/v1/locations", { key: busy, body: single })).status, 201)
          assert.strictEqual((yield* bulk([creation()], calm)).status, 200)
        })
      )
  )

  it.effect("the place of a bulk request is free again once it is answered or its client is gone", () =>
    Effect.gen(function* () {
      const { key } = yield* Wire
      const held = yield* key(["create:locations"])
      for (let round = 0; round < 10; round++) assert.strictEqual((yield* bulk([creation()], held)).status, 200)
      yield* Effect.scoped(
        Effect.andThen(
          Effect.replicateEffect(hanging(held), 4),
          eventually("the places are taken", bulk([creation()], held), ({ status }) => status === 429)
        )
      )
      const answer = yield* eventually("the places are free", bulk([creation()], held), ({ status }) => status === 200)
      assert.strictEqual(answer.body.applied, true)
    })
  )
})

const planner = ["read:locations", "create:locations", "update:locations"] as const

layer(listening(), live)("the places of a process", (it) => {
  for (const [what, hang] of [
    ["bulk requests", hanging],
    ["plans", hangingPlan]
  ] as const) {
    it.effect(`${what} of two keys whose bodies arrive slowly take no place of another key`, () =>
      Effect.scoped(
        Effect.gen(function* () {
          const { key } = yield* Wire
          const slow = yield* Effect.replicateEffect(key(planner), 2)
          for (const one of slow) {
            yield* Effect.replicateEffect(hang(one), 3)
            yield* eventually("the key is above its share", bulk([creation()], one), ({ status }) => status === 429)
          }
          const calm = yield* key(planner)
          for (let round = 0; round < 5; round++) {
            const answer = yield* bulk([creation()], calm)
            assert.strictEqual(answer.status, 200, answer.text)
          }
        })
      )
    )
  }

  it.effect("a plan whose file arrives in pieces is made, although two keys send theirs slowly", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { key, send } = yield* Wire
        const slow = yield* Effect.replicateEffect(key(planner), 2)
        for (const one of slow) yield* Effect.replicateEffect(hangingPlan(one), 3)
        const calm = yield* key(planner)
        for (const headers of [{}, { "idempotency-key": unique("plan") }]) {
          const rows = Array.from({ length: 3000 }, () => JSON.stringify(creation().data))
          const answer = yield* send("POST", plans, {
            key: calm,
            body: rows.join("\n"),
            headers: { "content-type": ndjson, ...headers }
          })
          assert.deepStrictEqual([answer.status, answer.body.data?.counts?.create], [201, 3000], answer.text)
        }
      })
    )
  )

  it.effect("bodies of bulk requests of twenty keys leave other keys small ones, and a 429 names the service", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { key, send } = yield* Wire
        const slow = yield* Effect.replicateEffect(key(planner), 20)
        const calm = yield* key(planner)
        const large = send("POST", "/v1/locations/bulk", {
          key: calm,
          body: JSON.stringify({ operations: [creation()] }).padEnd(8 * mebibyte)
        })
        yield* Effect.scoped(
          Effect.gen(function* () {
            for (const one of slow) yield* Effect.replicateEffect(hanging(one, 8 * mebibyte), 3)
            const limited = yield* eventually("the process has no room left", large, ({ status }) => status === 429)
            assert.include(limited.body.message, "The service has as many bytes of bulk requests and plans")
            assert.strictEqual(limited.headers["retry-after"], "1")
            assert.strictEqual((yield* bulk([creation()], calm)).status, 200)
          })
        )
        yield* eventually("there is room again", large, ({ status }) => status === 200)
      })
    )
  )

  it.effect("two keys take all four places of the process", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const { key } = yield* Wire
        const [unlock, locked] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const lock = pooled`lock table locations in access exclusive mode`
        yield* Effect.forkScoped(
          pooled.withTransaction(
            Effect.andThen(lock, Effect.andThen(Deferred.succeed(locked, undefined), Deferred.await(unlock)))
          )
        )
        yield* Deferred.await(locked)
        const [one, two] = yield* Effect.replicateEffect(key(planner), 2)
        const sent: Array<Fiber.Fiber<{ readonly status: number }>> = []
        for (const owner of [one!, two!, one!, two!]) {
          sent.push(yield* Effect.forkScoped(bulk([creation()], owner)))
          yield* Effect.sleep("100 millis")
        }
        yield* Effect.sleep("2 seconds")
        yield* Deferred.succeed(unlock, undefined)
        const answers = yield* Effect.forEach(sent, Fiber.join)
        assert.deepStrictEqual(
          answers.map(({ status }) => status),
          [200, 200, 200, 200]
        )
      })
    )
  )

  it.effect("while the process works on four bulk requests, a 429 names the service, not the share of the key", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { pooled } = yield* Sql
        const { key } = yield* Wire
        // A session that is idle would lose its lock after 10 s.
        const lock = Effect.andThen(pooled`lock table locations in access exclusive mode`, pooled`select pg_sleep(50)`)
        yield* Effect.forkScoped(pooled.withTransaction(lock))
        const [busy, second, calm] = yield* Effect.replicateEffect(key(planner), 3)
        for (const owner of [busy!, busy!, busy!, second!])
          yield* Effect.forkScoped(Effect.forever(bulk([creation()], owner)))
        yield* Effect.sleep("1 second")
        const limited = yield* eventually(
          "the process has no place left",
          bulk([creation()], calm),
          ({ status }) => status === 429
        )
        assert.include(limited.body.message, "The service works on as many bulk requests and plans")
        assert.strictEqual(limited.headers["retry-after"], "1")
      })
    )
  )
})

layer(listening().pipe(Layer.provide(Layer.succeed(MaxBulk, 1))), live)("the bytes of slow files", (it) => {
  it.effect.each([{ what: "are compared as they arrive" }, { what: "are kept for their `Idempotency-Key`" }])(
    "files that $what leave other keys small ones, and a 429 names the service",
    ({ what }) =>
      Effect.scoped(
        Effect.gen(function* () {
          const { key, send } = yield* Wire
          const isKept = what.includes("kept")
          /** A file of a row and many bytes. */
          const file = (mebibytes: number) =>
            `${JSON.stringify(creation().data)}\n${`${" ".repeat(mebibyte / 2 - 1)}\n`.repeat(mebibytes * 2)}`
          const [one, two, calm] = yield* Effect.replicateEffect(key(planner), 3)
          const plan = (mebibytes: number) =>
            Effect.suspend(() =>
              send("POST", plans, {
                key: calm!,
                body: file(mebibytes),
                headers: { "content-type": ndjson, ...(isKept ? { "idempotency-key": unique("file") } : {}) }
              })
            )
          yield* Effect.scoped(
            Effect.gen(function* () {
              const headers = isKept ? `Idempotency-Key: ${unique("file")}\r\n` : ""
              for (const owner of [one!, two!])
                yield* begun(owner, { path: plans, type: ndjson, body: file(25), headers })
              // What the socket has taken is read soon.
              yield* Effect.sleep("1 second")
              const limited = yield* plan(20)
              assert.strictEqual(limited.status, 429, limited.text)
              assert.include(limited.body.message, "The service has as many bytes of bulk requests and plans")
              assert.strictEqual((yield* plan(0)).status, 201)
              assert.strictEqual((yield* bulk([creation()], calm)).status, 200)
            })
          )
          yield* eventually("there is room again", plan(49), ({ status }) => status === 201)
        })
      )
  )
})
