import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { qualityRules } from "../../../src/domain/quality/LocationQuality.ts"
import { Sql } from "../../../src/sql/Sql.ts"
import { createAsset } from "../../support/requests/AssetRequests.ts"
import { sealed } from "../../support/requests/LogRequests.ts"
import { refreshed } from "../../support/requests/QualityRequests.ts"
import { createLocation } from "../../support/requests/ProductRequests.ts"
import { expectError, send } from "../../support/requests/Requests.ts"
import * as TestServer from "../../support/TestServer.ts"
import { eventually } from "../../support/Until.ts"

type Fields = Readonly<Record<string, unknown>>

interface Listed {
  readonly uuid: string
  readonly name: string
  readonly score: number
  readonly issues: ReadonlyArray<{ readonly rule: string; readonly path: string; readonly message: string }>
}

const qualities = Effect.fnUntraced(function* (query = "") {
  const { body, status, text } = yield* send("GET", `/v1/locations/quality${query}`)
  assert.strictEqual(status, 200, text)
  return body
})

const list = (query = "") => Effect.map(qualities(query), ({ data }) => data as ReadonlyArray<Listed>)

const qualityOf = (uuid: string) => Effect.map(list(`?filter=uuid:equals:${uuid}`), ([found]) => found!)

/** What breaks a rule in a location, as `rule path`, once it was looked at. */
const issuesOf = (uuid: string) =>
  Effect.andThen(
    refreshed,
    Effect.map(qualityOf(uuid), ({ issues }) => issues.map(({ path, rule }) => `${rule} ${path}`))
  )

let number = 0

/** The data of a location that keeps every rule but `missingLogo`, with an address, a place and a postal code of its own. */
const good = (fields: Fields = {}) => {
  const n = ++number
  return {
    address: { addressLine1: `Oudegracht ${n}`, city: "Utrecht", countryCode: "NL", zipcode: "3511 AZ" },
    contact: { phone: "+31 30 231 0000", email: "utrecht@example.com" },
    coordinates: { latitude: (52_090 + n) / 1000, longitude: 5.12 },
    invoice: { name: "Bakkerij" },
    postalCodes: [`${1000 + n}`],
    ...fields
  }
}
const made = (fields: Fields = {}) => createLocation(good(fields))
const patch = (uuid: string, body: Fields) => send("PATCH", `/v1/locations/${uuid}`, { body })
const addressOf = (fields: Fields) => ({ address: { ...good().address, ...fields } })

/** For each rule about one location, data that breaks it and the member, and data that is just right. */
const single: Readonly<Record<string, ReadonlyArray<readonly [data: Fields, path: string | undefined]>>> = {
  missingPhone: [[{ contact: { email: "a@example.com", mobile: "+31612345678" } }, "contact.phone"]],
  missingEmail: [[{ contact: { phone: "+31302310000" } }, "contact.email"]],
  missingAddress: [
    [addressOf({ addressLine1: null }), "address"],
    [addressOf({ city: null }), "address"],
    [addressOf({ zipcode: null }), undefined]
  ],
  missingCoordinates: [[{ coordinates: null }, "coordinates"]],
  zipcodeFormat: [
    [addressOf({ zipcode: "35 11" }), "address.zipcode"],
    [addressOf({ zipcode: "3511az" }), undefined],
    [addressOf({ zipcode: "35 11", countryCode: null }), undefined],
    [
      {
        ...addressOf({ zipcode: "10115", countryCode: "DE" }),
        coordinates: null,
        contact: { phone: "030 1", email: "a@example.com" }
      },
      undefined
    ],
    [{ ...addressOf({ zipcode: "1011", countryCode: "DE" }), coordinates: null }, "address.zipcode"]
  ],
  phoneCountry: [
    [{ contact: { phone: "+32 2 555 12 12", email: "a@example.com" } }, "contact.phone"],
    [{ contact: { phone: "+31302310000", mobile: "+49 151 23456789", email: "a@example.com" } }, "contact.mobile"],
    [{ contact: { phone: "0032 2 555 12 12", email: "a@example.com" } }, "contact.phone"],
    [{ contact: { phone: "030 231 0000", email: "a@example.com" } }, undefined]
  ],
  coordinatesOutsideCountry: [
    [{ coordinates: { latitude: 48.8566, longitude: 2.3522 } }, "coordinates"],
    // Antwerp is less than 25 km from the border, and Brussels is more.
    [{ coordinates: { latitude: 51.22, longitude: 4.4 } }, undefined],
    [{ coordinates: { latitude: 50.85, longitude: 4.35 } }, "coordinates"],
    [{ coordinates: { latitude: 52.5, longitude: 3.2 } }, "coordinates"],
    [
      {
        ...addressOf({ countryCode: "FJ", zipcode: null }),
        contact: { phone: "3300000", email: "a@example.com" },
        coordinates: { latitude: -17, longitude: -179.99 }
      },
      undefined
    ]
  ],
  missingInvoice: [[{ invoice: null }, "invoice"]],
  missingPostalCodes: [[{ postalCodes: [] }, "postalCodes"]]
}

layer(TestServer.layer(), { excludeTestServices: true })("Quality of locations", (it) => {
  for (const [rule, cases] of Object.entries(single)) {
    it.effect(`${rule} is broken by the data that it names, and by no other`, () =>
      Effect.gen(function* () {
        for (const [data, path] of cases) {
          const uuid = yield* made(data)
          const issues = (yield* issuesOf(uuid)).filter((issue) => issue.startsWith(`${rule} `))
          assert.deepStrictEqual(issues, path === undefined ? [] : [`${rule} ${path}`], JSON.stringify(data))
        }
      })
    )
  }

  it.effect("a location that keeps every rule has 100, and each broken rule costs a thirteenth", () =>
    Effect.gen(function* () {
      const uuid = yield* made()
      yield* refreshed
      const { issues, score } = yield* qualityOf(uuid)
      assert.deepStrictEqual(
        [score, issues],
        [92, [{ rule: "missingLogo", path: "media.logo", message: "There is no logo" }]]
      )
      const media = { logo: { assetUuid: yield* createAsset() }, items: [] }
      yield* send("PUT", `/v1/locations/${uuid}/media`, { body: media })
      assert.deepStrictEqual(yield* issuesOf(uuid), [])
      assert.strictEqual((yield* qualityOf(uuid)).score, 100)
      const empty = yield* createLocation()
      assert.deepStrictEqual(yield* issuesOf(empty), [
        "missingPhone contact.phone",
        "missingEmail contact.email",
        "missingAddress address",
        "missingCoordinates coordinates",
        "missingInvoice invoice",
        "missingPostalCodes postalCodes",
        "missingLogo media.logo"
      ])
      assert.strictEqual((yield* qualityOf(empty)).score, 46)
    })
  )

  it.effect("the same street and zip code are a duplicate of both, until one of them moves or is deleted", () =>
    Effect.gen(function* () {
      const address = { addressLine1: "Straße der Éclairs 1", zipcode: "3584 CX", city: "Utrecht", countryCode: "NL" }
      const one = yield* made({ address })
      const duplicates = (uuid: string) =>
        Effect.map(issuesOf(uuid), (issues) => issues.filter((issue) => issue === "duplicateAddress address").length)
      assert.strictEqual(yield* duplicates(one), 0)
      const two = yield* made({ address: { ...address, addressLine1: "STRAßE DER ÉCLAIRS 1", zipcode: "3584cx" } })
      assert.deepStrictEqual([yield* duplicates(one), yield* duplicates(two)], [1, 1])
      yield* patch(two, { address: { addressLine1: "Elsewhere 1" } })
      assert.deepStrictEqual([yield* duplicates(one), yield* duplicates(two)], [0, 0])
      yield* patch(two, { address })
      assert.deepStrictEqual([yield* duplicates(one), yield* duplicates(two)], [1, 1])
      yield* send("DELETE", `/v1/locations/${two}`)
      assert.strictEqual(yield* duplicates(one), 0)
    })
  )

  it.effect("less than 10 m away is a duplicate, also across the date line and at a pole", () =>
    Effect.gen(function* () {
      const at = (latitude: number, longitude: number) =>
        made({ coordinates: { latitude, longitude }, ...addressOf({ countryCode: null }) })
      const isDuplicate = (uuid: string) =>
        Effect.map(issuesOf(uuid), (issues) => issues.includes("duplicateCoordinates coordinates"))
      // A ten-thousandth of a degree of latitude is 11.12 m; of longitude, half of that at 60 degrees.
      const pairs = [
        [60, 20, 60.000089, 20, true],
        [60.1, 20, 60.100091, 20, false],
        [60.2, 20, 60.2, 20.000178, true],
        [60.3, 20, 60.3, 20.000183, false],
        [10, 179.99997, 10, -179.99997, true],
        [11, 179.9999, 11, -179.9999, false],
        [89.99999, 0, 89.99999, 180, true]
      ] as const
      for (const [a, b, c, d, expected] of pairs) {
        const [one, two] = [yield* at(a, b), yield* at(c, d)]
        assert.deepStrictEqual([yield* isDuplicate(one), yield* isDuplicate(two)], [expected, expected], `${a} ${b}`)
      }
    })
  )

  it.effect("postal codes that are equal, or of which one contains the other, conflict within a country", () =>
    Effect.gen(function* () {
      const conflicts = Effect.fnUntraced(function* (
        country: string,
        one: string,
        otherCountry: string,
        other: string
      ) {
        const [a, b] = [
          yield* made({ ...addressOf({ countryCode: country, zipcode: null }), postalCodes: [one] }),
          yield* made({
            ...addressOf({ countryCode: otherCountry, zipcode: null }),
            postalCodes: ["ZZZZ", other].slice(1)
          })
        ]
        const found = [yield* issuesOf(a), yield* issuesOf(b)].map((issues) =>
          issues.includes("territoryConflict postalCodes")
        )
        yield* send("DELETE", `/v1/locations/${a}`)
        yield* send("DELETE", `/v1/locations/${b}`)
        assert.strictEqual(found[0], found[1], `${one} ${other}`)
        return found[0]
      })
      assert.isTrue(yield* conflicts("NL", "9511 AB", "NL", "9511-ab"))
      assert.isTrue(yield* conflicts("NL", "9512", "NL", "9512AB"))
      assert.isFalse(yield* conflicts("NL", "9513AB", "NL", "9513AC"))
      assert.isFalse(yield* conflicts("NL", "9514", "BE", "9514"))
      assert.isTrue(yield* conflicts("GB", "SW1A", "GB", "SW1A 1AA"))
      assert.isTrue(yield* conflicts("GB", "SW", "GB", "SW1A 1AA"))
      assert.isFalse(yield* conflicts("GB", "M1", "GB", "M11 2AB"))
    })
  )

  it.effect("a conflict of postal codes says that the other one contains this one or is within it", () =>
    Effect.gen(function* () {
      const [outer, inner] = [yield* made({ postalCodes: ["9520"] }), yield* made({ postalCodes: ["9520AB"] })]
      yield* refreshed
      for (const [uuid, other] of [
        [outer, "one within it"],
        [inner, "one that contains it"]
      ] as const) {
        const { issues } = yield* qualityOf(uuid)
        assert.include(issues.find(({ rule }) => rule === "territoryConflict")?.message, other)
      }
    })
  )

  it.effect("the list is sorted by score, filtered by rule, and read from cursor to cursor", () =>
    Effect.gen(function* () {
      yield* refreshed
      const all = yield* list("?limit=500&fields=score")
      const scores = all.map(({ score }) => score)
      assert.deepStrictEqual(
        scores,
        scores.toSorted((a, b) => a - b)
      )
      const best = (yield* list("?limit=500&sortOrder=desc")).map(({ score }) => score)
      assert.deepStrictEqual(best, scores.toReversed())
      const seen: Array<string> = []
      for (let after: string | undefined = ""; after !== undefined;) {
        const page: { readonly data: ReadonlyArray<Listed>; readonly pagination: { readonly next?: string } } =
          yield* qualities(`?limit=3&fields=uuid&after=${after}`)
        seen.push(...page.data.map(({ uuid }) => uuid))
        after = page.pagination.next
      }
      assert.deepStrictEqual(
        seen,
        all.map(({ uuid }) => uuid)
      )
      const broken = yield* list("?limit=500&filter=issues.rule:equals:missingInvoice,score:lt:90")
      assert.isNotEmpty(broken)
      for (const { issues } of broken)
        assert.include(
          issues.map(({ rule }) => rule),
          "missingInvoice"
        )
      assert.deepStrictEqual((yield* list("?sortBy=name&limit=1&fields=name,score")).length, 1)
    })
  )

  it.effect("`counts` and `total` are those of the locations, whatever the filter is", () =>
    Effect.gen(function* () {
      yield* refreshed
      const { counts, data, pagination } = yield* qualities("?limit=500")
      const expected: Record<string, number> = {}
      for (const { issues } of data as ReadonlyArray<Listed>)
        for (const { rule } of issues) expected[rule] = (expected[rule] ?? 0) + 1
      assert.deepStrictEqual(counts, expected)
      assert.strictEqual(pagination.total, data.length)
      const { body } = yield* send("GET", "/v1/locations?limit=1")
      assert.strictEqual(pagination.total, body.pagination.total)
      assert.deepStrictEqual((yield* qualities("?filter=score:lt:1")).counts, expected)
    })
  )

  it.effect("after any writes, what is stored is what a pass over all locations finds", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const uuids: Array<string> = []
      let seed = 7
      const next = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below
      const random = () => ({
        address: {
          addressLine1: `Street ${next(3)}`,
          zipcode: "3511 AZ",
          city: "Utrecht",
          countryCode: next(2) === 0 ? "NL" : "BE"
        },
        coordinates: { latitude: [51, 51.00005, 51.0001][next(3)]!, longitude: 4.4 },
        postalCodes: [["35", "3511", "3511AB", "36"][next(4)]!]
      })
      for (let round = 0; round < 12; round++) {
        for (let write = 0; write < 4; write++) {
          const uuid = uuids[next(uuids.length + 1)]
          const kind = next(9)
          if (uuid === undefined || kind < 3) uuids.push(yield* createLocation(random()))
          else if (kind < 5) {
            uuids.splice(uuids.indexOf(uuid), 1)
            yield* send("DELETE", `/v1/locations/${uuid}`)
          } else yield* patch(uuid, random())
        }
        if (round % 2 === 0) yield* refreshed
      }
      yield* refreshed
      const followed = yield* qualities("?limit=500&sortBy=identifier")
      yield* pooled.withTransaction(
        Effect.gen(function* () {
          yield* pooled`select pg_advisory_xact_lock(hashtext('waypost'), hashtext('location_quality'))`
          yield* pooled`delete from location_quality`
          yield* pooled`delete from location_quality_keys`
          yield* pooled`delete from row_counts where relation like 'location_quality.%'`
          yield* pooled`update location_quality_progress set last_uuid = '00000000-0000-0000-0000-000000000000'`
        })
      )
      yield* refreshed
      assert.deepStrictEqual(yield* qualities("?limit=500&sortBy=identifier"), followed)
      assert.isAbove(followed.counts.duplicateAddress, 0)
    })
  )

  it.effect("locations whose events were pruned before they were read are looked at", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const uuid = yield* made()
      yield* refreshed
      yield* patch(uuid, { invoice: null })
      yield* refreshed
      yield* pooled`update location_quality set issues = '[]' where uuid = ${uuid}`
      yield* pooled`update location_quality_progress set position = -1`
      assert.include(yield* issuesOf(uuid), "missingInvoice invoice")
    })
  )

  it.effect("a deleted location is forgotten also when the event of its deletion was pruned before it was read", () =>
    Effect.gen(function* () {
      const { pooled } = yield* Sql
      const address = { addressLine1: "Biltstraat 1", zipcode: "3572 AA", city: "Utrecht", countryCode: "NL" }
      const [kept, gone] = [yield* made({ address }), yield* made({ address })]
      assert.include(yield* issuesOf(kept), "duplicateAddress address")
      yield* pooled.withTransaction(
        Effect.gen(function* () {
          // No process refreshes until the end of the transaction.
          yield* pooled`select pg_advisory_xact_lock(hashtext('waypost'), hashtext('location_quality'))`
          yield* send("DELETE", `/v1/locations/${gone}`)
          yield* sealed
          yield* eventually(
            "all events are pruned",
            pooled<{ readonly events: number }>`select waypost_prune(now() + interval '1 hour', 100000) as events`,
            ([row]) => row!.events > 0
          )
        })
      )
      assert.notInclude(yield* issuesOf(kept), "duplicateAddress address")
      assert.deepStrictEqual(yield* pooled`select from location_quality_keys where location_uuid = ${gone}`, [])
    })
  )

  it.effect("there are thirteen rules, and a key needs read:locations", () =>
    Effect.gen(function* () {
      assert.lengthOf(qualityRules, 13)
      const { key } = yield* TestServer.TestServer
      const sent = { key: yield* key(["read:products"]) }
      expectError(yield* send("GET", "/v1/locations/quality", sent), 403, "MissingPermissionsError")
    })
  )
})
