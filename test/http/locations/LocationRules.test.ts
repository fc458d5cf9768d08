import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as TestServer from "../../support/TestServer.ts"
import { create, expectError, read, send, unique, unknownUuid } from "../../support/requests/Requests.ts"

const live = { excludeTestServices: true }
const patch = (uuid: string, body: unknown, headers: Record<string, string> = {}) =>
  send("PATCH", `/v1/locations/${uuid}`, { body, headers })

layer(TestServer.layer(), live)("Rules of locations", (it) => {
  it.effect("the identifier of a location is unique, case-sensitively", () =>
    Effect.gen(function* () {
      const holder = yield* create({ identifier: "held" })
      const other = yield* create({ name: "Other" })
      const before = yield* read(other)
      for (const answer of [
        yield* send("POST", "/v1/locations", { body: { name: "a", identifier: " held " } }),
        yield* patch(other, { identifier: "held", name: "Changed" })
      ]) {
        expectError(answer, 400, "DuplicateIdentifierError")
        assert.strictEqual(answer.body.identifier, "held")
      }
      assert.deepStrictEqual(yield* read(other), before)
      assert.strictEqual((yield* patch(holder, { identifier: "held" })).status, 200)
    })
  )

  it.effect("a location identifier that differs from another only by case is accepted with a Warning header", () =>
    Effect.gen(function* () {
      for (const [first, second, third] of [
        ["Case-1", "cASE-1", "CASE-1"],
        ['ÉCLAIR "1"', 'éclair "1"', 'Éclair "1"'],
        ["ŁÓDŹ", "łódź", "Łódź"]
      ] as const) {
        const body = { name: "a", identifier: first }
        const created = yield* send("POST", "/v1/locations", { body })
        assert.isNull(created.headers.get("warning"), first)
        const similar = yield* send("POST", "/v1/locations", { body: { ...body, identifier: second } })
        assert.strictEqual(similar.status, 201)
        assert.match(similar.headers.get("warning") ?? "", /^299 \S+ ".+"$/, second)
        const uuid = yield* create()
        const renamed = yield* patch(uuid, { identifier: third })
        assert.strictEqual(renamed.status, 200)
        assert.match(renamed.headers.get("warning") ?? "", /^299 \S+ ".+"$/, third)
        assert.isNull((yield* patch(uuid, { name: "b" })).headers.get("warning"))
      }
    })
  )

  it.effect("an unknown or malformed locale of a location is an InvalidLocaleError", () =>
    Effect.gen(function* () {
      const uuid = yield* create({ locale: "NL_be" })
      assert.strictEqual((yield* read(uuid)).locale, "nl-BE")
      const unknown = [
        "",
        "qq",
        "nl-QQ",
        "n",
        "nl-",
        "nl-NLD",
        "english",
        "nl-NL-x-a",
        "nl NL",
        "x-klingon",
        "a".repeat(36)
      ]
      for (const locale of unknown) {
        for (const answer of [
          yield* patch(uuid, { locale }),
          yield* send("POST", "/v1/locations", { body: { name: "a", identifier: unique(), locale } })
        ]) {
          expectError(answer, 400, "InvalidLocaleError", locale)
          assert.strictEqual(answer.body.locale, locale)
          assert.notProperty(answer.body, "supported")
        }
      }
      assert.strictEqual((yield* read(uuid)).locale, "nl-BE")
      for (const [sent, stored] of [
        ["zh_hant_tw", "zh-Hant-TW"],
        ["EN", "en"],
        [" fr-fr ", "fr-FR"]
      ] as const) {
        assert.strictEqual((yield* patch(uuid, { locale: sent })).status, 200, sent)
        assert.strictEqual((yield* read(uuid)).locale, stored)
      }
    })
  )

  it.effect("latitude and longitude are both present or both absent after a merge", () =>
    Effect.gen(function* () {
      const both = { latitude: 52.1, longitude: 5.1 }
      const without = yield* create()
      const uuid = yield* create({ coordinates: both })
      const responses = [
        yield* send("POST", "/v1/locations", {
          body: { name: "a", identifier: unique(), coordinates: { latitude: 1 } }
        }),
        yield* patch(without, { coordinates: { longitude: 1 }, name: "Changed" }),
        yield* patch(uuid, { coordinates: { latitude: null }, name: "Changed" }),
        yield* patch(uuid, { coordinates: { latitude: 1, longitude: null } })
      ]
      for (const response of responses) {
        const body = expectError(response, 400, "InvalidRequestError")
        assert.match(body.issues[0].path, /^coordinates/)
      }
      const { coordinates, name } = yield* read(uuid)
      assert.deepStrictEqual({ coordinates, name }, { coordinates: both, name: "Branch" })
      assert.strictEqual((yield* patch(uuid, { coordinates: { latitude: -3.5 } })).status, 200)
      assert.deepStrictEqual((yield* read(uuid)).coordinates, { ...both, latitude: -3.5 })
      assert.strictEqual((yield* patch(uuid, { coordinates: { latitude: null, longitude: null } })).status, 200)
      assert.notProperty(yield* read(uuid), "coordinates")
    })
  )

  it.effect("checks run in order: key, permission, decoding, existence, precondition, rules", () =>
    Effect.gen(function* () {
      const { key } = yield* TestServer.TestServer
      const reader = yield* key(["read:locations"])
      const held = unique("held")
      yield* create({ identifier: held })
      const uuid = yield* create()
      const stale = { "if-match": `"stale"` }
      const at = (path: string, raw: string, sent: { key?: string | null; headers?: Record<string, string> } = {}) =>
        Effect.map(send("PATCH", `/v1/locations/${path}`, { raw, ...sent }), ({ body, status }) => [status, body._tag])
      const duplicate = JSON.stringify({ identifier: held })
      assert.deepStrictEqual(yield* at("no-uuid", "{", { key: null }), [401, "UnauthorizedError"])
      assert.deepStrictEqual(yield* at("no-uuid", "{", { key: reader }), [403, "MissingPermissionsError"])
      assert.deepStrictEqual(yield* at(unknownUuid, `{"nmae":1}`), [400, "InvalidRequestError"])
      assert.deepStrictEqual(yield* at("no-uuid", "{}"), [400, "InvalidRequestError"])
      for (const rule of [duplicate, `{"locale":"qq"}`, `{"coordinates":{"latitude":1}}`, "{}"]) {
        assert.deepStrictEqual(yield* at(unknownUuid, rule, { headers: stale }), [404, "LocationNotFoundError"], rule)
        assert.deepStrictEqual(yield* at(unknownUuid, rule), [404, "LocationNotFoundError"], rule)
        assert.deepStrictEqual(yield* at(uuid, rule, { headers: stale }), [412, "PreconditionFailedError"], rule)
      }
      assert.deepStrictEqual(yield* at(uuid, duplicate), [400, "DuplicateIdentifierError"])
      assert.deepStrictEqual(yield* at(uuid, `{"locale":"qq"}`), [400, "InvalidLocaleError"])
    })
  )

  it.effect("a uuid in the path is accepted in either case, anything else is a 400", () =>
    Effect.gen(function* () {
      const uuid = yield* create()
      assert.strictEqual((yield* send("GET", `/v1/locations/${uuid.toUpperCase()}`)).body.data.uuid, uuid)
      assert.strictEqual((yield* send("GET", "/v1/locations/00000000-0000-0000-0000-000000000000")).status, 404)
      for (const wrong of [
        "x",
        "1",
        `${uuid}0`,
        uuid.slice(1),
        uuid.replaceAll("-", ""),
        `{${uuid}}`,
        "null",
        "__proto__"
      ]) {
        const { body, status } = yield* send("GET", `/v1/locations/${encodeURIComponent(wrong)}`)
        assert.strictEqual(status, 400, wrong)
        assert.deepInclude(body.issues[0], { in: "path", path: "uuid" })
      }
    })
  )
})

layer(TestServer.layer({ LOCALES: "nl,en_gb" }), live)("Locations with configured locales", (it) => {
  it.effect("a location locale outside of LOCALES is rejected with the supported list", () =>
    Effect.gen(function* () {
      for (const locale of ["nl-NL", "en", "de", "qq"]) {
        const body = expectError(
          yield* send("POST", "/v1/locations", {
            body: { name: "a", identifier: unique(), locale }
          }),
          400,
          "InvalidLocaleError"
        )
        assert.deepStrictEqual(body.supported, ["nl", "en-GB"])
      }
      assert.strictEqual((yield* read(yield* create({ locale: "EN_gb" }))).locale, "en-GB")
    })
  )
})
