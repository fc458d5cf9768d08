import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Sql } from "../../../src/sql/Sql.ts"
import { pick, randomOf } from "../../support/Random.ts"
import * as TestServer from "../../support/TestServer.ts"
import { create, problemsOf, send, unique } from "../../support/requests/Requests.ts"

interface Place {
  readonly uuid: string
  readonly latitude: number
  readonly longitude: number
}

const radians = (degrees: number) => (degrees * Math.PI) / 180

/** The great circle by another formula than that of the service (haversine). */
const distance = (a: Omit<Place, "uuid">, b: Omit<Place, "uuid">) => {
  const half = (x: number, y: number) => Math.sin(radians(y - x) / 2) ** 2
  const inner =
    half(a.latitude, b.latitude) +
    Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * half(a.longitude, b.longitude)
  return 2 * 6_371_008.8 * Math.asin(Math.min(1, Math.sqrt(inner)))
}

interface Row {
  readonly uuid: string
  readonly distanceMetres: number
}

const listed = (query: string, limit = 500) =>
  Effect.map(send("GET", `/v1/locations?limit=${limit}&${query}`), ({ body, status, text }) => {
    assert.strictEqual(status, 200, text)
    return body as {
      readonly data: ReadonlyArray<Row>
      readonly pagination: { readonly total?: number; readonly next?: string }
    }
  })

const random = randomOf(Number(process.env["TEST_SEED"] ?? 11))
const within = (low: number, high: number) => Number((low + random() * (high - low)).toFixed(pick(random, [0, 2, 7])))

/** Places everywhere, at the poles, at the date line, and several in one place. */
const points = [
  ...Array.from({ length: 80 }, () => ({ latitude: within(-90, 90), longitude: within(-180, 180) })),
  ...Array.from({ length: 40 }, () => ({ latitude: within(52, 52.3), longitude: within(5, 5.3) })),
  ...Array.from({ length: 20 }, () => ({
    latitude: within(-17, -16),
    longitude: pick(random, [179.9, -179.95, 180, -180])
  })),
  ...Array.from({ length: 10 }, () => ({
    latitude: pick(random, [89.99, 90, -90, -89.9]),
    longitude: within(-180, 180)
  })),
  { latitude: 52.1, longitude: 5.1 },
  { latitude: 52.1, longitude: 5.1 },
  { latitude: 0, longitude: 0 }
]

const seed = Effect.gen(function* () {
  const places: Array<Place> = []
  const operations = points.map((coordinates) => ({
    op: "create",
    data: { name: pick(random, ["Bakery", "Shop"]), identifier: unique("place"), coordinates }
  }))
  const { body } = yield* send("POST", "/v1/locations/bulk", { body: { operations } })
  for (const [index, { uuid }] of (body.data as ReadonlyArray<{ readonly uuid: string }>).entries())
    places.push({ uuid, ...points[index]! })
  yield* create()
  return places
})

const centres = [
  ...points.slice(0, 3),
  { latitude: 52.1, longitude: 5.1 },
  { latitude: -16.5, longitude: 180 },
  { latitude: -16.5, longitude: -180 },
  { latitude: 90, longitude: 0 },
  { latitude: -90, longitude: 77 },
  { latitude: 0, longitude: 0 }
]

layer(TestServer.layer(), { excludeTestServices: true })("places", (it) => {
  it.effect(
    "the nearest come first, with their distances, within a radius, and on pages and behind cursors alike",
    () =>
      Effect.gen(function* () {
        const places = yield* seed
        let found = 0
        for (const centre of centres) {
          const near = `near=${centre.latitude},${centre.longitude}`
          for (const [radius, metres] of [
            ["", Infinity],
            ["&radius=300m", 300],
            ["&radius=25km", 25_000],
            ["&radius=500mi", 804_672],
            ["&radius=9999km", 9_999_000],
            ["&radius=20000km", 20_000_000]
          ] as const) {
            const expected = new Map(
              places.map((place) => [place.uuid, distance(centre, place)] as const).filter(([, far]) => far <= metres)
            )
            const { data, pagination } = yield* listed(`${near}${radius}`)
            const label = `${near}${radius}`
            assert.strictEqual(pagination.total, expected.size, label)
            assert.sameMembers(
              data.map(({ uuid }) => uuid),
              [...expected.keys()],
              label
            )
            for (const [index, { distanceMetres, uuid }] of data.entries()) {
              assert.closeTo(distanceMetres, expected.get(uuid)!, 1, label)
              const next = data[index + 1]
              if (next !== undefined) {
                const [here, there] = [expected.get(uuid)!, expected.get(next.uuid)!]
                assert.isAtMost(here, there + 0.5, label)
                if (
                  distance(
                    places.find((one) => one.uuid === uuid)!,
                    places.find((one) => one.uuid === next.uuid)!
                  ) === 0
                )
                  assert.isTrue(uuid < next.uuid, label)
              }
            }
            found += data.length
            const walked: Array<string> = []
            for (let after: string | undefined = ""; after !== undefined;) {
              const page: Effect.Success<ReturnType<typeof listed>> = yield* listed(
                `${near}${radius}&after=${after}`,
                40
              )
              walked.push(...page.data.map(({ uuid }) => uuid))
              after = page.pagination.next
            }
            assert.deepStrictEqual(
              walked,
              data.map(({ uuid }) => uuid),
              label
            )
          }
        }
        assert.isAbove(found, 1000)
      })
  )

  it.effect("a cursor whose distance PostgreSQL cannot read is rejected", () =>
    Effect.gen(function* () {
      for (const city of [1, 2]) yield* create({ coordinates: { latitude: 10, longitude: 10 + city / 100 } })
      const query = "/v1/locations?near=10,10&radius=10km&limit=1&after="
      const { body } = yield* send("GET", query)
      const [tag, key, uuid] = JSON.parse(Buffer.from(body.pagination.next, "base64url").toString())
      const follow = (distance: unknown) =>
        send("GET", query + Buffer.from(JSON.stringify([tag, distance, uuid])).toString("base64url"))
      assert.strictEqual((yield* follow(key)).status, 200)
      assert.strictEqual((yield* follow("1e-05")).status, 200)
      for (const wrong of [" ", "0x10", "0b1", "1e-400", "1e400", "Infinity", "1,5", ""]) {
        assert.deepStrictEqual(
          problemsOf(yield* follow(wrong)),
          [400, "InvalidRequestError", "after invalidFormat"],
          wrong
        )
      }
    })
  )

  it.effect("bounds find what is between them, also across the date line and at the poles", () =>
    Effect.gen(function* () {
      const places = yield* seed
      const boxes: ReadonlyArray<readonly [south: number, west: number, north: number, east: number]> = [
        [50.7, 3.3, 53.6, 7.2],
        [-20, 170, 0, -170],
        [-90, -180, 90, 180],
        [80, -180, 90, 180],
        [-90, 10, -80, 20],
        [-10, 90, 10, -90],
        [-30, -100, 60, 100],
        [10, 100, 60, 20],
        [52.1, 5.1, 52.1, 5.1],
        ...Array.from({ length: 40 }, () => {
          const [a, b] = [within(-90, 90), within(-90, 90)]
          return [Math.min(a, b), within(-180, 180), Math.max(a, b), within(-180, 180)] as const
        })
      ]
      let found = 0
      for (const [south, west, north, east] of boxes) {
        const inside = ({ latitude, longitude }: Place) =>
          south <= latitude &&
          latitude <= north &&
          (west <= east ? west <= longitude && longitude <= east : longitude >= west || longitude <= east)
        const query = `bounds=${south},${west},${north},${east}&filter=identifier:startsWith:place`
        const { data, pagination } = yield* listed(query)
        const expected = places.filter(inside).map(({ uuid }) => uuid)
        const known = new Set(places.map(({ uuid }) => uuid))
        assert.sameMembers(
          data.map(({ uuid }) => uuid).filter((uuid) => known.has(uuid)),
          expected,
          query
        )
        assert.strictEqual(pagination.total, data.length, query)
        assert.isUndefined(data[0]?.distanceMetres)
        found += expected.length
      }
      assert.isAbove(found, 300)
    })
  )

  it.effect("bounds that end at the date line find the locations on it, whichever of its degrees they have", () =>
    Effect.gen(function* () {
      const east = yield* create({ coordinates: { latitude: 65.5, longitude: 180 } })
      const west = yield* create({ coordinates: { latitude: 65.5, longitude: -180 } })
      for (const [bounds, isFound] of [
        ["65,170,66,180", true],
        ["65,-180,66,-170", true],
        ["65,170,66,-180", true],
        ["65,180,66,-170", true],
        ["65,180,66,180", true],
        ["65,-180,66,-180", true],
        ["65,-180,66,180", true],
        ["65,170,66,179.9", false],
        ["65,-179.9,66,179.9", false],
        ["64,170,65,180", false]
      ] as const) {
        const { data } = yield* listed(`bounds=${bounds}`)
        const found = data.map(({ uuid }) => uuid).filter((uuid) => uuid === east || uuid === west)
        assert.sameMembers(found, isFound ? [east, west] : [], bounds)
      }
    })
  )

  it.effect("near goes with bounds, filters, fields, other orders, which ascend, and totals", () =>
    Effect.gen(function* () {
      const at = (latitude: number, longitude: number, name: string) =>
        create({ name, coordinates: { latitude, longitude } })
      const [here, east, north] = [yield* at(40, 20, "Zed"), yield* at(40, 20.1, "Ada"), yield* at(40.2, 20, "Mia")]
      const near = "near=40,20&radius=100km"
      const order = (query: string) =>
        Effect.map(listed(`${near}&${query}`), ({ data }) => data.map(({ uuid }) => uuid))
      assert.deepStrictEqual(yield* order(""), [here, east, north])
      assert.deepStrictEqual(yield* order("sortBy=distance&sortOrder=asc"), [here, east, north])
      assert.deepStrictEqual(yield* order("sortBy=name&sortOrder=asc"), [east, north, here])
      assert.deepStrictEqual(yield* order("sortBy=name"), [east, north, here])
      assert.deepStrictEqual(yield* order("bounds=39,20.05,41,21"), [east])
      assert.deepStrictEqual(yield* order("filter=name:not equals:Ada"), [here, north])
      const { data, pagination } = yield* listed(`${near}&fields=distanceMetres&total=false`)
      assert.deepStrictEqual(data[1], { uuid: east, distanceMetres: 8518 })
      assert.deepStrictEqual<unknown>(pagination, { limit: 500, page: 1, more: false })
      const second = yield* send("GET", `/v1/locations?limit=1&page=2&${near}`)
      assert.deepStrictEqual(
        [second.body.data[0].uuid, second.body.pagination],
        [east, { limit: 1, page: 2, total: 3, pageCount: 3 }]
      )
      yield* send("PATCH", `/v1/locations/${east}`, { body: { coordinates: { latitude: 40.1, longitude: 20 } } })
      yield* send("PATCH", `/v1/locations/${north}`, { body: { coordinates: null } })
      assert.deepStrictEqual(yield* order(""), [here, east])
    })
  )

  it.effect("places, bounds and radii are numbers as programs print them, with any decimals and exponents", () =>
    Effect.gen(function* () {
      const identifier = unique("precise")
      const uuid = yield* create({ identifier, coordinates: { latitude: 0, longitude: 0 } })
      const found = (query: string) =>
        Effect.map(listed(`${query}&filter=identifier:equals:${identifier}`), ({ data }) => data)
      for (const near of [
        "0.0000542654915613,-0.00012411117553710939",
        "1e-7,-1E-7",
        ".5e-6,+5e-07",
        "5e-324,-1e-200",
        ...Array.from({ length: 50 }, () => `${random() - 0.5},${random() / 1e7}`)
      ]) {
        for (const radius of ["", "&radius=1770278.4000000001m", "&radius=1234.5678901234567km", "&radius=2e%2B06m"])
          assert.deepStrictEqual(
            (yield* found(`near=${near}${radius}`)).map((row) => row.uuid),
            [uuid],
            near + radius
          )
        const { status, text } = yield* send("GET", `/v1/locations/resolve?postalCode=3511&near=${near}`)
        assert.strictEqual(status, 200, text)
      }
      for (const radius of ["5e-324m", "1e-310m"])
        assert.deepStrictEqual(yield* found(`near=0,0.5&radius=${radius}`), [], radius)
      assert.deepStrictEqual(yield* found("near=0,0.5&radius=1.2345678901234567km"), [])
      const places = (query: string) => Effect.map(found(query), (data) => data.map((row) => row.uuid))
      assert.deepStrictEqual(yield* places("bounds=-1e-7,-0.12411117553710939,5e-324,1e-200"), [uuid])
      assert.deepStrictEqual(yield* places("bounds=1e-7,-0.12411117553710939,51.50542654915613,1e1"), [])
    })
  )

  it.effect("parameters that are malformed or contradict answer 400 and name what would be right", () =>
    Effect.gen(function* () {
      for (const [query, problem] of [
        ["near=52", "near invalidFormat"],
        ["near=91,5", "near invalidFormat"],
        ["near=52,181", "near invalidFormat"],
        ["near=52,5,1", "near invalidFormat"],
        ["near=a,b", "near invalidFormat"],
        ["near=90.00000000000001,5", "near invalidFormat"],
        ["near=1e2,5", "near invalidFormat"],
        ["near=1e400,5", "near invalidFormat"],
        ["near=0x10,5", "near invalidFormat"],
        ["near=1e,5", "near invalidFormat"],
        ["near=52.,5", "near invalidFormat"],
        ["near=", "near invalidFormat"],
        ["near=52,5&radius=5", "radius invalidFormat"],
        ["near=52,5&radius=0km", "radius invalidFormat"],
        ["near=52,5&radius=20001km", "radius invalidFormat"],
        ["near=52,5&radius=-1km", "radius invalidFormat"],
        ["near=52,5&radius=1e-400km", "radius invalidFormat"],
        ["near=52,5&radius=km", "radius invalidFormat"],
        ["near=52,5&radius=20000000.000000004m", "radius invalidFormat"],
        ["radius=5km", "radius notAllowed"],
        ["sortBy=distance", "sortBy notAllowed"],
        ["near=52,5&sortOrder=desc", "sortOrder notAllowed"],
        ["bounds=53,3,50,7", "bounds invalidFormat"],
        ["bounds=50,3,53", "bounds invalidFormat"],
        ["bounds=50,3,91,7", "bounds invalidFormat"]
      ] as const) {
        const answer = yield* send("GET", `/v1/locations?${query}`)
        assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", problem], query)
      }
      const { body } = yield* send("GET", "/v1/locations?near=52,5&radius=5")
      assert.strictEqual(
        body.issues[0].message,
        "Expected a number above 0 with a unit, m, km or mi, up to 20,000 km, such as 5km"
      )
    })
  )

  it.effect("the only place is found from its antipode, and from a quarter of the circumference away", () =>
    Effect.gen(function* () {
      // Where the error of an arcsine is greatest.
      for (const [near, coordinates] of [
        ["89.999995,0", { latitude: -90, longitude: 0 }],
        ["-89.999995,0", { latitude: 90, longitude: 0 }],
        ["89.99999,0", { latitude: -89.9999995, longitude: 0 }],
        ["0,0", { latitude: 0, longitude: 89.9999993 }],
        ["0,0&radius=10007557.143182m", { latitude: 0, longitude: 89.9999993 }]
      ] as const) {
        const identifier = unique("far")
        const { text } = yield* send("POST", "/v1/locations", { body: { name: "Bakery", identifier, coordinates } })
        const { data } = yield* listed(`near=${near}&filter=identifier:equals:${identifier}`)
        assert.lengthOf(data, 1, `${near}: ${text}`)
      }
    })
  )

  it.effect("places along a street fill the pages of their index, as places far apart do", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const growthOf = Effect.fnUntraced(function* (placeOf: (index: number) => Omit<Place, "uuid">) {
        const size = pooled<{ readonly bytes: number }>`select pg_relation_size('locations_place')::int as bytes`
        const [before] = yield* size
        const operations = Array.from({ length: 1000 }, (_, index) => ({
          op: "create",
          data: { name: "Bakery", identifier: unique("street"), coordinates: placeOf(index) }
        }))
        const { status, text } = yield* send("POST", "/v1/locations/bulk", { body: { operations } })
        assert.strictEqual(status, 200, text)
        const [after] = yield* size
        return after!.bytes - before!.bytes
      })
      const apart = yield* growthOf(() => ({ latitude: within(50, 53), longitude: within(4, 7) }))
      // A metre from one to the next: the cubes that were indexed before took 18 MB for these.
      const street = yield* growthOf((index) => ({ latitude: 52 + index / 1e5, longitude: 5 + index / 1e5 }))
      assert.isBelow(street, 2 * apart)
    })
  )
})
