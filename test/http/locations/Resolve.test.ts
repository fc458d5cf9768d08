import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { create, expectError, problemsOf, send } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"

interface Serving {
  readonly uuid: string
  readonly name: string
  readonly identifier: string
  readonly match: string
  readonly postalCode?: string
  readonly distanceMetres?: number
}

const resolved = (query: string) =>
  Effect.map(send("GET", `/v1/locations/resolve?${query}`), ({ body, status, text }) => {
    assert.strictEqual(status, 200, text)
    assert.hasAllKeys(body, ["_tag", "data"])
    return body.data as ReadonlyArray<Serving>
  })

/** What serves a postal code, as `name match postalCode`. */
const served = (query: string) =>
  Effect.map(resolved(query), (data) =>
    data.map(({ match, name, postalCode }) => [name, match, postalCode].filter(Boolean).join(" "))
  )

/** A location that lists codes, in a country. */
const branch = (
  name: string,
  postalCodes: ReadonlyArray<string>,
  address: Readonly<Record<string, string>> | undefined,
  coordinates?: readonly [latitude: number, longitude: number]
) =>
  create({
    name,
    postalCodes,
    ...(address === undefined ? {} : { address }),
    ...(coordinates === undefined ? {} : { coordinates: { latitude: coordinates[0], longitude: coordinates[1] } })
  })

const inNl = { countryCode: "NL" }
const inGb = { countryCode: "GB" }

layer(TestServer.layer(), { excludeTestServices: true })("resolving postal codes", (it) => {
  it.effect(
    "a listed code serves itself and longer codes, whatever the spaces, hyphens and case; the longest first",
    () =>
      Effect.gen(function* () {
        yield* branch("Whole", ["3511 AB"], inNl)
        yield* branch("Long", ["3511a"], inNl)
        yield* branch("Short", ["99", "3-5 1"], inNl)
        yield* branch("Longer than asked", ["3511ABC"], inNl)
        const expected = ["Whole exact 3511 AB", "Long prefix 3511a", "Short prefix 3-5 1"]
        for (const asked of ["3511AB", "3511ab", "3511 AB", "3511-ab", " 35%2011-Ab "])
          assert.deepStrictEqual(yield* served(`postalCode=${asked}`), expected, asked)
        assert.deepStrictEqual(yield* served("postalCode=3511AB&countryCode=nl"), expected)
        assert.deepStrictEqual(yield* served("postalCode=3511AB&limit=2"), expected.slice(0, 2))
        assert.deepStrictEqual(yield* served("postalCode=3511"), ["Short prefix 3-5 1"])
      })
  )

  it.effect("a location that lists several codes which fit answers once, with the best", () =>
    Effect.gen(function* () {
      const uuid = yield* branch("Twice", ["44", "4411", "4411 AA", "4411-aa"], inNl)
      const [found, ...rest] = yield* resolved("postalCode=4411AA")
      assert.deepStrictEqual(rest, [])
      assert.deepStrictEqual([found?.uuid, found?.match, found?.postalCode], [uuid, "exact", "4411 AA"])
      assert.isString(found?.identifier)
      assert.deepStrictEqual(yield* served("postalCode=4411BB"), ["Twice prefix 4411"])
    })
  )

  it.effect("of equal matches the nearest come first, then those without coordinates by name", () =>
    Effect.gen(function* () {
      yield* branch("Cc", ["5511"], inNl)
      yield* branch("bb", ["5511"], inNl)
      yield* branch("Far", ["5511"], inNl, [53, 5])
      yield* branch("Near", ["5511"], inNl, [52.1, 5])
      yield* branch("Aa whole", ["5511AA"], inNl, [10, 5])
      const names = (query: string) => Effect.map(resolved(query), (data) => data.map(({ name }) => name))
      assert.deepStrictEqual(yield* names("postalCode=5511AA"), ["Aa whole", "bb", "Cc", "Far", "Near"])
      const near = yield* resolved("postalCode=5511AA&near=52,5")
      assert.deepStrictEqual(
        near.map(({ distanceMetres, name }) => [name, distanceMetres]),
        [
          ["Aa whole", 4_670_193],
          ["Near", 11_120],
          ["Far", 111_195],
          ["bb", undefined],
          ["Cc", undefined]
        ]
      )
      assert.isTrue((yield* resolved("postalCode=5511AA")).every((one) => !("distanceMetres" in one)))
    })
  )

  it.effect("the country is that of the address; a location without one answers if no country is asked for", () =>
    Effect.gen(function* () {
      yield* branch("Belgian", ["6611"], { countryCode: "BE" })
      yield* branch("Dutch", ["6611"], inNl)
      yield* branch("Stateless", ["6611"], undefined)
      const [be, nl, none] = ["Belgian exact 6611", "Dutch exact 6611", "Stateless exact 6611"]
      assert.deepStrictEqual(yield* served("postalCode=6611"), [be, nl, none])
      assert.deepStrictEqual(yield* served("postalCode=6611&countryCode=NL"), [nl])
      assert.deepStrictEqual(yield* served("postalCode=6611&countryCode=BE"), [be])
      assert.deepStrictEqual(yield* served("postalCode=6611&countryCode=DE"), [])
    })
  )

  it.effect("in Great Britain only the whole outward code and its letters contain a code", () =>
    Effect.gen(function* () {
      yield* branch("Outward", ["SW1A"], inGb)
      yield* branch("Letters", ["SW"], inGb)
      yield* branch("District", ["SW1"], inGb)
      yield* branch("Manchester", ["M1"], inGb)
      assert.deepStrictEqual(yield* served("postalCode=SW1A 1AA&countryCode=GB"), [
        "Outward prefix SW1A",
        "Letters prefix SW"
      ])
      assert.deepStrictEqual(yield* served("postalCode=sw1a1aa"), ["Outward prefix SW1A", "Letters prefix SW"])
      assert.deepStrictEqual(yield* served("postalCode=M1 2AB&countryCode=GB"), ["Manchester prefix M1"])
      assert.deepStrictEqual(yield* served("postalCode=M11 2AB&countryCode=GB"), [])
      yield* branch("Elsewhere", ["M1"], undefined)
      assert.deepStrictEqual(yield* served("postalCode=M11 2AB"), ["Elsewhere prefix M1"])
    })
  )

  it.effect(
    "zip codes of addresses answer only if no location lists the code, and places only if no zip code fits",
    () =>
      Effect.gen(function* () {
        const nearest = "near=-40,100"
        yield* branch("Sea", [], inNl, [-40, 100])
        yield* branch("Ocean", [], { ...inNl, zipcode: "0000 ZZ" }, [-40, 101])
        const sea = yield* resolved(`postalCode=7711AA&${nearest}&limit=2`)
        assert.deepStrictEqual(
          sea.map(({ distanceMetres, match, name, postalCode }) => [name, match, postalCode, distanceMetres]),
          [
            ["Sea", "nearest", undefined, 0],
            ["Ocean", "nearest", "0000 ZZ", 85_180]
          ]
        )
        assert.deepStrictEqual(yield* served("postalCode=7711AA"), [])
        yield* branch("Street", [], { ...inNl, zipcode: "7711-bb" })
        yield* branch("Corner", [], { ...inNl, zipcode: "7711 aa" })
        yield* branch("Quarter", [], { ...inNl, zipcode: "7711" }, [-40, 100])
        yield* branch("Foreign", [], { countryCode: "BE", zipcode: "7711" })
        const corner = ["Corner address 7711 aa", "Quarter address 7711"]
        assert.deepStrictEqual(yield* served(`postalCode=7711AA&countryCode=NL&${nearest}`), corner)
        assert.deepStrictEqual(yield* served("postalCode=7711AA"), [corner[0]!, "Foreign address 7711", corner[1]!])
        // A part of a code is the area of the zip codes that begin with it.
        assert.deepStrictEqual(yield* served("postalCode=7711&countryCode=NL"), [
          "Quarter address 7711",
          "Corner address 7711 aa",
          "Street address 7711-bb"
        ])
        const listed = yield* branch("Listed", ["77"], inNl)
        assert.deepStrictEqual(yield* served(`postalCode=7711AA&${nearest}`), ["Listed prefix 77"])
        yield* send("DELETE", `/v1/locations/${listed}`)
        assert.deepStrictEqual(yield* served("postalCode=7711AA&countryCode=NL"), corner)
        // In the country that is asked for, also the nearest.
        assert.deepStrictEqual(yield* served(`postalCode=7711AA&countryCode=LU&${nearest}`), [])
      })
  )

  it.effect("in Great Britain a zip code fits by the same rule", () =>
    Effect.gen(function* () {
      yield* branch("Leeds", [], { ...inGb, zipcode: "LS11 2AB" })
      assert.deepStrictEqual(yield* served("postalCode=LS1&countryCode=GB"), [])
      assert.deepStrictEqual(yield* served("postalCode=LS11&countryCode=GB"), ["Leeds address LS11 2AB"])
      assert.deepStrictEqual(yield* served("postalCode=ls112ab"), ["Leeds address LS11 2AB"])
    })
  )

  it.effect("codes follow every change of a location", () =>
    Effect.gen(function* () {
      const uuid = yield* branch("Moves", ["8811"], inNl)
      const at = (query: string) => Effect.map(served(query), (found) => found.length)
      const change = (body: object) => send("PATCH", `/v1/locations/${uuid}`, { body })
      assert.strictEqual(yield* at("postalCode=8811&countryCode=NL"), 1)
      yield* change({ address: { countryCode: "BE" } })
      assert.deepStrictEqual(
        [yield* at("postalCode=8811&countryCode=NL"), yield* at("postalCode=8811&countryCode=BE")],
        [0, 1]
      )
      yield* change({ address: null })
      assert.deepStrictEqual([yield* at("postalCode=8811&countryCode=BE"), yield* at("postalCode=8811")], [0, 1])
      yield* change({ postalCodes: ["8812", "88 12"] })
      assert.deepStrictEqual([yield* at("postalCode=8811"), yield* at("postalCode=8812")], [0, 1])
      const operations = [{ op: "delete", uuid }]
      const { status, text } = yield* send("POST", "/v1/locations/bulk", { body: { operations } })
      assert.strictEqual(status, 200, text)
      assert.strictEqual(yield* at("postalCode=8812"), 0)
    })
  )

  it.effect("parameters that are missing or malformed answer 400 and name what would be right", () =>
    Effect.gen(function* () {
      for (const [query, problem] of [
        ["", "postalCode required"],
        ["?postalCode=", "postalCode tooShort"],
        ["?postalCode=3", "postalCode tooShort"],
        ["?postalCode=3-", "postalCode invalidFormat"],
        ["?postalCode=35%C3%A9", "postalCode invalidFormat"],
        ["?postalCode=12345678901234567", "postalCode tooLong"],
        ["?postalCode=3511&countryCode=XX", "countryCode unknownCountry"],
        ["?postalCode=3511&near=52", "near invalidFormat"],
        ["?postalCode=3511&limit=0", "limit outOfRange"],
        ["?postalCode=3511&limit=21", "limit outOfRange"],
        ["?postalCode=3511&page=2", "page unknownMember"],
        ["?postalcode=3511", "postalCode required"]
      ] as const) {
        const [status, tag, ...problems] = problemsOf(yield* send("GET", `/v1/locations/resolve${query}`))
        assert.deepStrictEqual([status, tag], [400, "InvalidRequestError"], query)
        assert.include(problems, problem, query)
      }
      const { key } = yield* TestServer.TestServer
      const sent = { key: yield* key(["read:products"]) }
      expectError(yield* send("GET", "/v1/locations/resolve?postalCode=3511", sent), 403, "MissingPermissionsError")
    })
  )
})
