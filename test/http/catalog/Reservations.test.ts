import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import { randomOf } from "../../support/Random.ts"
import {
  activate,
  cancelReservation as cancel,
  createLocation,
  createProduct,
  createVariant,
  deleteModule,
  inHours,
  putModule,
  readModule,
  reservationOf,
  reserve
} from "../../support/requests/ProductRequests.ts"
import { expectError, problemsOf, send, unique, unknownUuid } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"

/** A product that is reserved by the hour. */
const bookable = (settings: object = {}) =>
  Effect.tap(createProduct(), (uuid) => activate(uuid, "reservations", { unit: "hour", ...settings }))

const upcoming = (uuid: string) => Effect.map(readModule(uuid, "reservations"), (module) => module.upcoming)

/** The status of an answer and the code of its first issue. */
const outcome = ({ body, status }: { readonly status: number; readonly body: any }) =>
  status === 201 ? "reserved" : `${status} ${body.issues?.[0].path} ${body.issues?.[0].code}`

const taken = "400 quantity noCopyFree"

layer(TestServer.layer(), { excludeTestServices: true })("Reservations", (it) => {
  it.effect("a reservation is confirmed and the reservations module lists it", () =>
    Effect.gen(function* () {
      const product = yield* createProduct()
      const before = yield* activate(product, "reservations", { quantity: 3 })
      const location = yield* createLocation()
      const answer = yield* reserve(product, reservationOf(location, 48, 96, { quantity: 2 }))
      assert.strictEqual(answer.status, 201)
      const { uuid } = answer.body.data
      const expected = { uuid, locationUuid: location, from: inHours(48), until: inHours(96), quantity: 2 }
      const module = yield* readModule(product, "reservations")
      assert.deepStrictEqual(module, { ...before, upcoming: [{ ...expected, status: "confirmed" }] })
    })
  )

  it.effect("a period in which all copies are reserved is a 400, and one that touches it is free", () =>
    Effect.gen(function* () {
      const product = yield* bookable()
      const location = yield* createLocation()
      const from = Effect.fnUntraced(function* (from: number, until: number, quantity?: number) {
        return outcome(yield* reserve(product, reservationOf(location, from, until, { quantity: quantity ?? null })))
      })
      assert.strictEqual(yield* from(10, 20), "reserved")
      for (const [begin, end] of [
        [10, 20],
        [9, 11],
        [19, 21],
        [12, 13],
        [5, 30]
      ] as const)
        assert.strictEqual(yield* from(begin, end), taken, `${begin}`)
      assert.strictEqual(yield* from(9, 10), "reserved")
      assert.strictEqual(yield* from(20, 21), "reserved")
      assert.strictEqual(yield* from(40, 41, 2), taken)
      const { body } = yield* reserve(product, reservationOf(location, 10, 11, { quantity: 2 }))
      assert.include(body.message, "free are 0")
      assert.lengthOf(yield* upcoming(product), 3)
    })
  )

  it.effect("reservations one after the other take one copy, not several", () =>
    Effect.gen(function* () {
      const product = yield* bookable({ quantity: 2 })
      const location = yield* createLocation()
      for (const hour of [1, 2, 3, 4]) {
        assert.strictEqual(outcome(yield* reserve(product, reservationOf(location, hour, hour + 1))), "reserved")
      }
      assert.strictEqual(outcome(yield* reserve(product, reservationOf(location, 1, 5))), "reserved")
      assert.strictEqual(outcome(yield* reserve(product, reservationOf(location, 4, 5))), taken)
    })
  )

  it.effect("the buffers lie before and after every reservation of a copy", () =>
    Effect.gen(function* () {
      const product = yield* bookable({ bufferBefore: 2, bufferAfter: 1 })
      const location = yield* createLocation()
      const outcomeOf = (from: number, until: number) =>
        Effect.map(reserve(product, reservationOf(location, from, until)), outcome)
      assert.strictEqual(yield* outcomeOf(20, 21), "reserved")
      for (const from of [17, 23]) assert.strictEqual(yield* outcomeOf(from, from + 1), taken)
      for (const from of [16, 24]) assert.strictEqual(yield* outcomeOf(from, from + 1), "reserved")
    })
  )

  it.effect("a location has at most maxPerLocation copies at the same time, buffers not counted", () =>
    Effect.gen(function* () {
      const product = yield* bookable({ quantity: 10, maxPerLocation: 2, bufferAfter: 1 })
      const [a, b] = [yield* createLocation(), yield* createLocation()]
      const outcomeOf = (location: string, from: number, quantity: number) =>
        Effect.map(reserve(product, reservationOf(location, from, from + 2, { quantity })), outcome)
      assert.strictEqual(yield* outcomeOf(a, 1, 3), "400 quantity tooManyOfLocation")
      assert.strictEqual(yield* outcomeOf(a, 1, 2), "reserved")
      assert.strictEqual(yield* outcomeOf(a, 2, 1), "400 quantity tooManyOfLocation")
      assert.strictEqual(yield* outcomeOf(a, 3, 2), "reserved")
      assert.strictEqual(yield* outcomeOf(b, 2, 2), "reserved")
    })
  )

  it.effect("of random reservations exactly those are accepted for which copies are free in every hour", () =>
    Effect.gen(function* () {
      const random = randomOf(13)
      const below = (limit: number) => Math.floor(random() * limit)
      const [copies, before, after] = [4, 1, 2]
      const product = yield* bookable({ quantity: copies, bufferBefore: before, bufferAfter: after })
      const location = yield* createLocation()
      const held = new Map<number, number>()
      const results: Array<string> = []
      for (let attempt = 0; attempt < 150; attempt++) {
        const from = 10 + below(80)
        const until = from + 1 + below(8)
        const quantity = 1 + below(copies)
        const inUse = Array.from({ length: until + after - from + before }, (_, hour) => from - before + hour)
        const isFree = inUse.every((hour) => (held.get(hour) ?? 0) + quantity <= copies)
        const answer = yield* reserve(product, reservationOf(location, from, until, { quantity }))
        assert.strictEqual(outcome(answer), isFree ? "reserved" : taken, `${attempt}: ${from} ${until} ${quantity}`)
        if (isFree) for (const hour of inUse) held.set(hour, (held.get(hour) ?? 0) + quantity)
        results.push(outcome(answer))
      }
      assert.isAtLeast(results.filter((result) => result === "reserved").length, 20)
      assert.isAtLeast(results.filter((result) => result === taken).length, 20)
    })
  )

  it.effect("a reservation that breaks rules of the module is a 400 with every problem", () =>
    Effect.gen(function* () {
      const product = yield* createProduct()
      yield* activate(product, "reservations", {
        minDuration: 2,
        leadTime: 3,
        blackouts: [{ from: inHours(0), until: inHours(48), reason: "Stocktaking" }]
      })
      const answer = yield* reserve(product, reservationOf(yield* createLocation(), 24, 48))
      const problems = ["until tooShort", "from tooEarly", "from blackout"]
      assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", ...problems])
      assert.include(answer.body.message, "A reservation is for at least 2 days")
      assert.include(answer.body.message, "Stocktaking")
      assert.deepStrictEqual(yield* upcoming(product), [])
    })
  )

  it.effect("a reservation that needs approval is held until its hold expires", () =>
    Effect.gen(function* () {
      const product = yield* bookable({ approvalRequired: true, holdExpiresAfterMinutes: 30 })
      const location = yield* createLocation()
      const body = reservationOf(location, 10, 20)
      const { uuid } = (yield* reserve(product, body)).body.data
      assert.deepStrictEqual(
        (yield* upcoming(product)).map(({ status }: any) => status),
        ["held"]
      )
      assert.strictEqual(outcome(yield* reserve(product, body)), taken)
      const { pooled } = yield* Sql
      const [row] = yield* pooled<{ readonly minutes: number }>`
        update product_reservations set hold_expires_at = now() where uuid = ${uuid}
        returning (select extract(epoch from hold_expires_at - now())::float8 / 60
          from product_reservations where uuid = ${uuid}) as minutes`
      assert.approximately(row!.minutes, 30, 1)
      assert.deepStrictEqual(yield* upcoming(product), [])
      expectError(yield* cancel(product, uuid), 404, "ReservationNotFoundError")
      assert.strictEqual(outcome(yield* reserve(product, body)), "reserved")
      const rows = yield* pooled`select 1 from product_reservations where product_uuid = ${product}`
      assert.lengthOf(rows, 1)
    })
  )

  it.effect("a hold without an expiry stays", () =>
    Effect.gen(function* () {
      const product = yield* bookable({ approvalRequired: true })
      yield* reserve(product, reservationOf(yield* createLocation(), 10, 20))
      assert.lengthOf(yield* upcoming(product), 1)
    })
  )

  it.effect("a cancelled reservation is gone and its copies are free, with an inactive module too", () =>
    Effect.gen(function* () {
      const product = yield* bookable()
      const body = reservationOf(yield* createLocation(), 10, 20)
      const { uuid } = (yield* reserve(product, body)).body.data
      const other = yield* bookable()
      expectError(yield* cancel(other, uuid), 404, "ReservationNotFoundError")
      const answer = yield* cancel(product, uuid.toUpperCase())
      assert.deepStrictEqual([answer.status, answer.body.data], [200, { uuid }])
      assert.deepStrictEqual(yield* upcoming(product), [])
      const again = expectError(yield* cancel(product, uuid), 404, "ReservationNotFoundError")
      assert.strictEqual(again.uuid, uuid)
      const second = yield* reserve(product, body)
      assert.strictEqual(outcome(second), "reserved")
      yield* deleteModule(product, "reservations")
      assert.strictEqual((yield* cancel(product, second.body.data.uuid)).status, 200)
    })
  )

  it.effect("an unknown product, location or reservation is a 404, and a product without the module a 400", () =>
    Effect.gen(function* () {
      const location = yield* createLocation()
      const body = reservationOf(location, 10, 20)
      expectError(yield* reserve(unknownUuid, body), 404, "ProductNotFoundError")
      const product = yield* bookable()
      const unknown = yield* reserve(product, { ...body, locationUuid: unknownUuid })
      assert.strictEqual(expectError(unknown, 404, "LocationNotFoundError").uuid, unknownUuid)
      expectError(yield* reserve(yield* createProduct(), body), 400, "ModuleNotActiveError")
      const parent = yield* createProduct({ type: "variantParent" })
      expectError(yield* reserve(parent, body), 400, "ModuleIncompatibleWithProductTypeError")
      expectError(yield* reserve(yield* createVariant(parent), body), 400, "ModuleNotActiveError")
      for (const headers of [{}, { "if-match": '"stale"' }]) {
        expectError(yield* cancel(unknownUuid, unknownUuid, headers), 404, "ProductNotFoundError")
      }
      expectError(yield* cancel(product, unknownUuid), 404, "ReservationNotFoundError")
      expectError(yield* cancel(product, "x"), 400, "InvalidRequestError")
    })
  )

  it.effect("an incomplete or malformed reservation is a 400", () =>
    Effect.gen(function* () {
      const product = yield* bookable()
      const body = reservationOf(yield* createLocation(), 10, 20)
      for (const [fields, problem] of [
        [{ locationUuid: undefined }, "locationUuid required"],
        [{ from: undefined }, "from required"],
        [{ until: "tomorrow" }, "until invalidFormat"],
        [{ until: body.from }, "until notInOrder"],
        [{ quantity: 0 }, "quantity outOfRange"],
        [{ quantity: 1.5 }, "quantity wrongType"],
        [{ status: "confirmed" }, "status unknownMember"]
      ] as const) {
        const answer = yield* reserve(product, { ...body, ...fields })
        assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", problem])
      }
    })
  )

  it.effect("a reservation and a cancellation with a stale If-Match are a 412; the tag is that of the module", () =>
    Effect.gen(function* () {
      const product = yield* bookable({ quantity: 5 })
      const body = reservationOf(yield* createLocation(), 10, 20)
      const tag = Effect.map(send("GET", `/v1/products/${product}/modules/reservations`), ({ headers }) => ({
        "if-match": headers.get("etag")!
      }))
      const stale = yield* tag
      const { uuid } = (yield* reserve(product, body, stale)).body.data
      expectError(yield* reserve(product, body, stale), 412, "PreconditionFailedError")
      expectError(yield* cancel(product, uuid, stale), 412, "PreconditionFailedError")
      assert.lengthOf(yield* upcoming(product), 1)
      assert.strictEqual((yield* cancel(product, uuid, yield* tag)).status, 200)
    })
  )

  it.effect.each([1, 5])("of sixty concurrent reservations of %d copies, half with a key, as many succeed", (copies) =>
    Effect.gen(function* () {
      const product = yield* bookable({ quantity: copies })
      const locations = yield* Effect.replicateEffect(
        Effect.suspend(() => createLocation()),
        6
      )
      const answers = yield* Effect.forEach(
        Array.from({ length: 60 }, (_, index) => index),
        (index) =>
          reserve(
            product,
            reservationOf(locations[index % 6]!, 10 - (index % 5), 20 + (index % 7)),
            index % 2 === 0 ? {} : { "idempotency-key": unique("reservation") }
          ),
        { concurrency: "unbounded" }
      )
      const outcomes = answers.map(outcome)
      assert.strictEqual(outcomes.filter((result) => result === "reserved").length, copies)
      assert.strictEqual(outcomes.filter((result) => result === taken).length, 60 - copies)
      assert.lengthOf(yield* upcoming(product), copies)
    })
  )

  it.effect(
    "reservations concurrent with a smaller quantity, a deleted location and a deleted product end as 201, 400 or 404",
    () =>
      Effect.gen(function* () {
        for (let round = 0; round < 5; round++) {
          const product = yield* bookable({ quantity: 20 })
          const [kept, deleted] = [yield* createLocation(), yield* createLocation()]
          const requests = Array.from({ length: 20 }, (_, index) =>
            reserve(product, reservationOf(index % 2 === 0 ? kept : deleted, 10, 20))
          )
          const others = [
            putModule(product, "reservations", { unit: "hour", quantity: 1 }),
            send("DELETE", `/v1/locations/${deleted}`),
            ...(round % 2 === 0 ? [send("DELETE", `/v1/products/${product}`)] : [])
          ]
          const answers = yield* Effect.all([...requests.slice(0, 10), ...others, ...requests.slice(10)], {
            concurrency: "unbounded"
          })
          for (const { status, text } of answers) assert.include([200, 201, 400, 404], status, text)
        }
      })
  )
})
