import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { refreshed } from "../../support/requests/QualityRequests.ts"
import { create, expectError, problemsOf, send, unique } from "../../support/requests/Requests.ts"
import { pick, randomOf } from "../../support/Random.ts"
import * as TestServer from "../../support/TestServer.ts"

interface Conflict {
  readonly postalCode: string
  readonly countryCode?: string
  readonly locations: ReadonlyArray<{
    readonly uuid: string
    readonly name: string
    readonly identifier: string
    readonly postalCode: string
  }>
}

interface Gap {
  readonly from: string
  readonly to: string
}

type Territories<A> = Effect.Effect<Page<A>, never, TestServer.TestServer>

interface Page<A> {
  readonly data: ReadonlyArray<A>
  readonly pagination: Readonly<Record<string, number>>
}

const territories = (query: string) =>
  Effect.map(send("GET", `/v1/locations/territories?${query}`), ({ body, status, text }) => {
    assert.strictEqual(status, 200, text)
    return body
  })

const conflictsOf = (query: string): Territories<Conflict> => territories(`kind=conflicts&${query}`)
const gapsOf = (query: string): Territories<Gap> => territories(`kind=gaps&${query}`)

/** Conflicts as `code country: name code, …`. */
const conflicts = (query = "") =>
  Effect.map(conflictsOf(`limit=500${query}`), ({ data }) =>
    data.map(({ countryCode = "-", locations, postalCode }) => {
      const claims = locations.map((location) => `${location.name} ${location.postalCode}`)
      return `${postalCode} ${countryCode}: ${claims.join(", ")}`
    })
  )

const gaps = (query: string) =>
  Effect.map(gapsOf(`limit=500&within=${query}`), ({ data }) => data.map(({ from, to }) => `${from}-${to}`))

const branch = (name: string, countryCode: string | undefined, ...postalCodes: ReadonlyArray<string>) =>
  create({ name, postalCodes, ...(countryCode === undefined ? {} : { address: { countryCode } }) })

const random = randomOf(Number(process.env["TEST_SEED"] ?? 17))

/** A branch of the model. */
interface Branch {
  readonly uuid: string
  readonly country: string | undefined
  readonly codes: ReadonlyArray<string>
}

const normal = (code: string) => code.toUpperCase().replaceAll(/[ -]/g, "")

/** Whether a code contains another one, or is the same, by the specification; none without letters and digits does. */
const contains = (country: string | undefined, outer: string, inner: string) =>
  country === "GB"
    ? (inner === outer && inner !== "") ||
      (/^[A-Z]{1,2}\d[A-Z\d]?\d[A-Z]{2}$/.test(inner) && inner.slice(0, -3) === outer) ||
      /^[A-Z]{1,2}/.exec(inner)?.[0] === outer
    : outer.length >= 2 && inner.startsWith(outer)

/** The conflicts as `code country uuids`, found by comparing every branch with every other. */
const modelOf = (branches: ReadonlyArray<Branch>) => {
  const found = new Map<string, ReadonlyArray<string>>()
  for (const { codes, country } of branches) {
    for (const code of codes.map(normal)) {
      const claiming = branches.filter(
        (other) => other.country === country && other.codes.some((outer) => contains(country, normal(outer), code))
      )
      if (claiming.length > 1) found.set(`${code} ${country ?? "-"}`, claiming.map(({ uuid }) => uuid).toSorted())
    }
  }
  return new Map([...found].toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

const digits = "0123456789"
const randomCode = () => {
  const code = pick(random, [
    () => `${pick(random, "345".split(""))}${pick(random, "15".split(""))}`,
    () => `35${pick(random, "12".split(""))}${pick(random, digits.split(""))}`,
    () => `351${pick(random, digits.split(""))}${pick(random, ["AB", "AC", "a", "A B"])}`,
    () => pick(random, ["SW", "SW1", "SW1A", "SW1A 1AA", "sw1a-1ab", "SW11 2AB", "S1", "M1 1AA", "GIR 0AA", "SW1A1"]),
    () => pick(random, ["1-", "-1", "--", "- -", "9 9"])
  ])()
  return pick(random, [code, code.toLowerCase(), `${code.slice(0, 1)}-${code.slice(1)}`])
}

layer(TestServer.layer(), { excludeTestServices: true })("territories", (it) => {
  it.effect("conflicts are those of every pair of locations, and of the same locations as the quality list says", () =>
    Effect.gen(function* () {
      const branches = Array.from({ length: 150 }, () => ({
        country: pick(random, ["NL", "BE", "GB", undefined]),
        codes: [...new Set(Array.from({ length: Math.floor(random() * 3) }, randomCode))]
      }))
      const operations = branches.map(({ codes, country }) => ({
        op: "create",
        data: {
          name: pick(random, ["Ä", "b", "C"]),
          identifier: unique("branch"),
          postalCodes: codes,
          ...(country === undefined ? {} : { address: { countryCode: country } })
        }
      }))
      const written = yield* send("POST", "/v1/locations/bulk", { body: { operations } })
      const uuids = (written.body.data as ReadonlyArray<{ readonly uuid: string }>).map(({ uuid }) => uuid)
      let known: ReadonlyArray<Branch> = branches.map((one, index) => ({ ...one, uuid: uuids[index]! }))
      for (let round = 0; round < 4; round++) {
        const { data, pagination } = yield* conflictsOf("limit=500")
        const expected = modelOf(known)
        const actual = data.map(({ countryCode = "-", locations, postalCode }): [string, ReadonlyArray<string>] => [
          `${postalCode} ${countryCode}`,
          locations.map(({ uuid }) => uuid).toSorted()
        ])
        assert.deepStrictEqual(actual, [...expected])
        assert.strictEqual(pagination["total"], expected.size)
        assert.isAbove(expected.size, 10)
        for (const { countryCode, locations, postalCode } of data) {
          for (const claim of locations) {
            const { codes } = known.find(({ uuid }) => uuid === claim.uuid)!
            assert.include(codes, claim.postalCode)
            assert.isTrue(contains(countryCode, normal(claim.postalCode), postalCode))
          }
        }
        yield* refreshed
        const { body } = yield* send(
          "GET",
          "/v1/locations/quality?limit=500&fields=uuid&filter=issues.rule:equals:territoryConflict"
        )
        assert.sameMembers(
          (body.data as ReadonlyArray<{ readonly uuid: string }>).map(({ uuid }) => uuid),
          [...new Set([...expected.values()].flat())]
        )
        // Some move to another country, some list other codes, and some are deleted.
        const changed = known.map((one) => {
          const kind = random()
          if (kind < 0.1) return undefined
          if (kind < 0.3) return { ...one, country: pick(random, ["NL", "BE", "GB", undefined]) }
          return kind < 0.5 ? { ...one, codes: [randomCode()] } : one
        })
        const writes = changed.flatMap((one, index) => {
          const { uuid } = known[index]!
          if (one === undefined) return [{ op: "delete", uuid }]
          if (one === known[index]) return []
          const address = one.country === undefined ? null : { countryCode: one.country }
          return [{ op: "update", uuid, data: { postalCodes: one.codes, address } }]
        })
        const { status, text } = yield* send("POST", "/v1/locations/bulk", { body: { operations: writes } })
        assert.strictEqual(status, 200, text)
        known = changed.filter((one) => one !== undefined)
      }
      yield* Effect.forEach(known, ({ uuid }) => send("DELETE", `/v1/locations/${uuid}`))
    })
  )

  it.effect("a conflict names its locations, those with the longest code first, then by name", () =>
    Effect.gen(function* () {
      const uuid = yield* branch("Whole", "DE", "1010 ab")
      yield* branch("Zone", "DE", "1010", "10")
      yield* branch("Area", "DE", "1010", "2020")
      yield* branch("Alone", "DE", "3030", "3030AB", "30-30")
      yield* branch("Abroad", "FR", "3030")
      assert.deepStrictEqual(yield* conflicts("&countryCode=de"), [
        "1010 DE: Area 1010, Zone 1010",
        "1010AB DE: Whole 1010 ab, Area 1010, Zone 1010"
      ])
      assert.deepStrictEqual(yield* conflicts("&countryCode=FR"), [])
      const { data } = yield* conflictsOf("countryCode=DE&page=2&limit=1")
      const [whole] = data[0]!.locations
      assert.deepStrictEqual(
        [data[0]!.postalCode, data[0]!.countryCode, whole!.uuid, whole!.postalCode],
        ["1010AB", "DE", uuid, "1010 ab"]
      )
      assert.hasAllKeys(whole, ["uuid", "name", "identifier", "postalCode"])
      const { pagination } = yield* conflictsOf("countryCode=DE&page=3&limit=1")
      assert.deepStrictEqual(pagination, { limit: 1, page: 3, total: 2, pageCount: 2 })
    })
  )

  it.effect("locations without a country conflict with each other, and their conflict has none", () =>
    Effect.gen(function* () {
      const uuids = [yield* branch("One", undefined, "7070"), yield* branch("Two", undefined, "70-70")]
      yield* branch("Other", "LU", "7070")
      assert.include(yield* conflicts(), "7070 -: One 7070, Two 70-70")
      const { data } = yield* conflictsOf("limit=500")
      assert.notProperty(
        data.find(({ postalCode }) => postalCode === "7070"),
        "countryCode"
      )
      yield* Effect.forEach(uuids, (uuid) => send("DELETE", `/v1/locations/${uuid}`))
      assert.notInclude((yield* conflicts()).join("; "), "7070")
    })
  )

  it.effect("a postal code without letters and digits stays in its location, and claims nothing", () =>
    Effect.gen(function* () {
      const uuids = [yield* branch("One", "GB", "--", "M1"), yield* branch("Two", "GB", "- -", "M2")]
      const codesOf = Effect.forEach(uuids, (uuid) =>
        Effect.map(send("GET", `/v1/locations/${uuid}`), ({ body }) => body.data.postalCodes)
      )
      assert.deepStrictEqual(yield* codesOf, [
        ["--", "M1"],
        ["- -", "M2"]
      ])
      const patched = yield* send("PATCH", `/v1/locations/${uuids[0]}`, { body: { postalCodes: ["M1", "---"] } })
      assert.strictEqual(patched.status, 200, patched.text)
      assert.deepStrictEqual(yield* codesOf, [
        ["M1", "---"],
        ["- -", "M2"]
      ])
      const { data } = yield* conflictsOf("limit=500")
      assert.deepStrictEqual(
        data.filter(({ postalCode }) => postalCode === ""),
        []
      )
      yield* refreshed
      const quality = "/v1/locations/quality?limit=500&fields=uuid&filter=issues.rule:equals:territoryConflict"
      const { body } = yield* send("GET", quality)
      const found = (body.data as ReadonlyArray<{ readonly uuid: string }>).map(({ uuid }) => uuid)
      for (const uuid of uuids) assert.notInclude(found, uuid)
      yield* Effect.forEach(uuids, (uuid) => send("DELETE", `/v1/locations/${uuid}`))
    })
  )

  it.effect("gaps are what no location of the country claims: shorter codes close them, longer ones do not", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* gaps("1000-9999&countryCode=AT"), ["1000-9999"])
      yield* branch("Some", "AT", "1000", "1003", "1-0 04", "1006 AB")
      yield* branch("Part", "AT", "101", "99")
      yield* branch("Stateless", undefined, "1007", "8007")
      yield* branch("Abroad", "LV", "8003")
      assert.deepStrictEqual(yield* gaps("1000-9999&countryCode=AT"), ["1001-1002", "1005-1009", "1020-9899"])
      assert.deepStrictEqual(yield* gaps("1000-1003&countryCode=AT"), ["1001-1002"])
      assert.deepStrictEqual(yield* gaps("1012-1013&countryCode=AT"), [])
      assert.deepStrictEqual(yield* gaps("1001-1001&countryCode=AT"), ["1001-1001"])
      assert.deepStrictEqual(yield* gaps("10000-10199&countryCode=AT"), ["10010-10029", "10050-10099"])
      // Without a country, a location of any country closes them.
      assert.deepStrictEqual(yield* gaps("8000-8009"), ["8000-8002", "8004-8006", "8008-8009"])
      assert.deepStrictEqual(yield* gaps("8000-8009&countryCode=LV"), ["8000-8002", "8004-8009"])
      const paged = yield* gapsOf("within=1000-9999&countryCode=AT&limit=2&page=2")
      assert.deepStrictEqual(paged, {
        _tag: "Success",
        data: [{ from: "1020", to: "9899" }],
        pagination: { limit: 2, page: 2, total: 3, pageCount: 2 }
      } as never)
    })
  )

  it.effect("codes keep their leading zeros, and ranges may have up to 100,000 codes of sixteen digits", () =>
    Effect.gen(function* () {
      yield* branch("Madrid", "ES", "010", "0200 5")
      assert.deepStrictEqual(yield* gaps("00900-02009&countryCode=ES"), ["00900-00999", "01100-02004", "02006-02009"])
      assert.deepStrictEqual(yield* gaps("00000-99999&countryCode=ES"), ["00000-00999", "01100-02004", "02006-99999"])
      const long = "9000000000000000-9000000000099999"
      assert.deepStrictEqual(yield* gaps(`${long}&countryCode=ES`), [long])
      yield* branch("Bilbao", "ES", "900000000000005")
      assert.deepStrictEqual(yield* gaps(`${long}&countryCode=ES`), [
        "9000000000000000-9000000000000049",
        "9000000000000060-9000000000099999"
      ])
    })
  )

  it.effect("gaps are the codes that no random location closes, whatever else locations claim", () =>
    Effect.gen(function* () {
      const world = Array.from({ length: 120 }, () => ({
        country: pick(random, ["IE", "GB"]),
        code: pick(random, [
          () => String(Math.floor(random() * 900) + 100),
          () => `${Math.floor(random() * 90) + 10}`.replace(/^[1-7]/, "9"),
          () => `4${Math.floor(random() * 1000)}`.padEnd(4, "0"),
          () => `4${Math.floor(random() * 100)}${pick(random, ["", "1", "23"])}${pick(random, ["A", "AB", "Z1"])}`,
          () => `4${Math.floor(random() * 100_000)}`
        ])()
      }))
      const operations = world.map(({ code, country }) => ({
        op: "create",
        data: { name: "Gap", identifier: unique("gap"), postalCodes: [code], address: { countryCode: country } }
      }))
      const { status, text } = yield* send("POST", "/v1/locations/bulk", { body: { operations } })
      assert.strictEqual(status, 200, text)
      for (const country of ["IE", "GB"]) {
        const claimed = world.filter((one) => one.country === country).map(({ code }) => code)
        for (const [low, high] of [
          [4000, 4999],
          [1000, 9999],
          [4321, 4567],
          [40_000, 49_999],
          [412_345, 498_765],
          ...Array.from({ length: 10 }, () => {
            const from = 1000 + Math.floor(random() * 8000)
            return [from, from + Math.floor(random() * 900)] as const
          })
        ] as const) {
          const open = Array.from({ length: high - low + 1 }, (_, index) => low + index).filter(
            (code) => !claimed.some((outer) => contains(country, outer, String(code)))
          )
          const isOpen = new Set(open)
          const expected = open
            .filter((code) => !isOpen.has(code - 1))
            .map((from) => {
              let to = from
              while (isOpen.has(to + 1)) to++
              return { from: String(from), to: String(to) }
            })
          const query = `within=${low}-${high}&countryCode=${country}&limit=500`
          const { data, pagination } = yield* gapsOf(query)
          assert.deepStrictEqual(data, expected.slice(0, 500), query)
          assert.strictEqual(pagination["total"], expected.length, query)
        }
      }
    })
  )

  it.effect("parameters that are missing, malformed or contradict answer 400 and name what would be right", () =>
    Effect.gen(function* () {
      const expected =
        "Expected two codes of as many digits, four or more, the first not above the second, with at most 100,000 codes, such as 1000-9999"
      for (const [query, problem, message] of [
        ["", "kind required", undefined],
        ["kind=overlaps", "kind notAllowed", undefined],
        ["kind=gaps", "within required", "`kind=gaps` needs `within`, such as 1000-9999"],
        ["kind=conflicts&within=1000-9999", "within notAllowed", "`within` needs `kind=gaps`"],
        ["kind=gaps&within=1000", "within invalidFormat", expected],
        ["kind=gaps&within=100-999", "within invalidFormat", expected],
        ["kind=gaps&within=1000-10000", "within invalidFormat", expected],
        ["kind=gaps&within=2000-1000", "within invalidFormat", expected],
        ["kind=gaps&within=1000AA-2000AA", "within invalidFormat", expected],
        ["kind=gaps&within=000000-100000", "within invalidFormat", expected],
        ["kind=conflicts&countryCode=UK", "countryCode unknownCountry", undefined],
        ["kind=conflicts&limit=501", "limit outOfRange", undefined],
        ["kind=conflicts&page=0", "page outOfRange", undefined],
        ["kind=conflicts&sortBy=name", "sortBy unknownMember", undefined]
      ] as const) {
        const answer = yield* send("GET", `/v1/locations/territories?${query}`)
        assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", problem], query)
        if (message !== undefined) assert.strictEqual(answer.body.issues[0].message, message)
      }
      const { key } = yield* TestServer.TestServer
      const sent = { key: yield* key(["update:locations"]) }
      expectError(yield* send("GET", "/v1/locations/territories?kind=conflicts", sent), 403, "MissingPermissionsError")
    })
  )

  it.effect("the names of both operations are no uuids of locations: other methods answer as for a malformed one", () =>
    Effect.gen(function* () {
      for (const name of ["resolve", "territories"]) {
        const answer = yield* send("PATCH", `/v1/locations/${name}`, { body: { name: "Other" } })
        assert.deepStrictEqual(problemsOf(answer), [400, "InvalidRequestError", "uuid invalidFormat"], name)
        expectError(yield* send("PUT", `/v1/locations/${name}`, { body: {} }), 405, "MethodNotAllowedError")
      }
    })
  )
})
