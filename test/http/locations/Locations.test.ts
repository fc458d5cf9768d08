import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { LocationId } from "../../../src/domain/locations/Location.ts"
import * as TestServer from "../../support/TestServer.ts"
import {
  type Answer,
  client,
  create,
  expectError,
  problemsOf,
  read,
  send,
  unique,
  unknownUuid
} from "../../support/requests/Requests.ts"

const live = { excludeTestServices: true }
/** The members that create and update write; media and translation labels have operations of their own. */
const written = (record: object) => {
  const { createdAt: _c, editedAt: _e, media, translationLabels, uuid: _u, ...rest } = record as Record<string, unknown>
  assert.deepStrictEqual([media, translationLabels], [{ items: [] }, []])
  return rest
}

const named = (members: object) => ({ name: "Branch", identifier: unique("named"), ...members })

const patch = (uuid: string, body: unknown) => send("PATCH", `/v1/locations/${uuid}`, { body })

layer(TestServer.layer(), live)("Locations", (it) => {
  it.effect("a created location is read back normalised", () =>
    Effect.gen(function* () {
      const { locations } = yield* client
      const { uuid } = yield* locations.create({
        payload: {
          name: "  Bakkerij De Vries, Utrecht ",
          identifier: "read-back",
          postalCodes: ["3511 AB", "3512", "3511 AB"],
          address: { city: "Utrecht", countryCode: "NL", zone: null },
          legal: { address: { addressLine1: "Oudegracht 1" } },
          contact: {},
          coordinates: { latitude: 52.0907374, longitude: 5.1214201 },
          locale: "nl_nl",
          other: { extraDna10: "ten\nlines" }
        }
      })
      const location = yield* locations.get({ params: { uuid }, query: {} })
      assert.deepStrictEqual(written(location), {
        name: "Bakkerij De Vries, Utrecht",
        identifier: "read-back",
        postalCodes: ["3511 AB", "3512"],
        address: { city: "Utrecht", countryCode: "NL" },
        legal: { address: { addressLine1: "Oudegracht 1" } },
        coordinates: { latitude: 52.0907374, longitude: 5.1214201 },
        locale: "nl-NL",
        other: { extraDna10: "ten\nlines" }
      })
      assert.strictEqual(DateTime.formatIso(location.createdAt), DateTime.formatIso(location.editedAt))
    })
  )

  it.effect("a location requires only name and identifier, and unset members are absent from responses", () =>
    Effect.gen(function* () {
      const uuid = yield* create({ identifier: "bare" })
      assert.deepStrictEqual(written(yield* read(uuid)), { name: "Branch", identifier: "bare", postalCodes: [] })
      for (const missing of ["name", "identifier"]) {
        const { [missing]: _, ...body } = { name: "a", identifier: unique() } as Record<string, string>
        const answer = yield* send("POST", "/v1/locations", { body })
        expectError(answer, 400, "InvalidRequestError")
        assert.deepInclude(answer.body.issues[0], { in: "body", path: missing, code: "required" })
      }
    })
  )

  it.effect("null members at creation are absent", () =>
    Effect.gen(function* () {
      const uuid = yield* create({
        identifier: "nulls",
        postalCodes: null,
        address: null,
        legal: { address: null },
        invoice: { name: null, address: { city: null } },
        coordinates: null,
        locale: null
      })
      assert.deepStrictEqual(written(yield* read(uuid)), { name: "Branch", identifier: "nulls", postalCodes: [] })
    })
  )

  it.effect("a patch merges nested members at any depth and replaces lists", () =>
    Effect.gen(function* () {
      const { locations } = yield* client
      const address = { addressLine1: "Oudegracht 1", city: "Utrecht", zipcode: "3511 AB" }
      const { uuid } = yield* locations.create({
        payload: {
          name: "Branch",
          identifier: "merge",
          postalCodes: ["1000", "2000"],
          address,
          legal: { address },
          invoice: { name: "Invoices", email: "a@example.com", address },
          other: { extraDna1: "one" }
        }
      })
      yield* locations.update({
        params: { uuid },
        payload: {
          postalCodes: ["3000"],
          address: { city: "Zeist" },
          legal: { address: { zipcode: null } },
          invoice: { email: "b@example.com", address: { city: "Breda", zone: "Brabant" } },
          other: { extraDna2: "two" },
          contact: { phone: "030 123" }
        }
      })
      assert.deepStrictEqual(written(yield* locations.get({ params: { uuid }, query: {} })), {
        name: "Branch",
        identifier: "merge",
        postalCodes: ["3000"],
        address: { ...address, city: "Zeist" },
        legal: { address: { addressLine1: "Oudegracht 1", city: "Utrecht" } },
        invoice: { name: "Invoices", email: "b@example.com", address: { ...address, city: "Breda", zone: "Brabant" } },
        contact: { phone: "030 123" },
        other: { extraDna1: "one", extraDna2: "two" }
      })
    })
  )

  it.effect("null in a patch clears only the optional member at that depth", () =>
    Effect.gen(function* () {
      const { locations } = yield* client
      const { uuid } = yield* locations.create({
        payload: {
          name: "Branch",
          identifier: "clear",
          postalCodes: ["1000"],
          address: { city: "Utrecht" },
          legal: { address: { city: "Utrecht" } },
          invoice: { email: "a@example.com", address: { city: "Utrecht", zone: "U" } },
          contact: { email: "a@example.com", phone: "030 123" },
          coordinates: { latitude: 1, longitude: 2 },
          locale: "nl"
        }
      })
      yield* locations.update({
        params: { uuid },
        payload: { invoice: { address: { zone: null } }, contact: { phone: null }, postalCodes: null }
      })
      const some = yield* locations.get({ params: { uuid }, query: {} })
      assert.deepStrictEqual(some.invoice, { email: "a@example.com", address: { city: "Utrecht" } })
      assert.deepStrictEqual(some.contact, { email: "a@example.com" })
      assert.deepStrictEqual(some.postalCodes, [])
      yield* locations.update({
        params: { uuid },
        payload: {
          address: null,
          legal: { address: null },
          invoice: null,
          contact: { email: null },
          coordinates: null,
          locale: null
        }
      })
      assert.deepStrictEqual(written(yield* locations.get({ params: { uuid }, query: {} })), {
        name: "Branch",
        identifier: "clear",
        postalCodes: []
      })
    })
  )

  it.effect("null for a required member is rejected", () =>
    Effect.gen(function* () {
      const uuid = yield* create()
      for (const member of ["name", "identifier"]) {
        const body = expectError(yield* patch(uuid, { [member]: null }), 400, "InvalidRequestError")
        assert.strictEqual(body.issues[0].path, member)
      }
    })
  )

  it.effect("read-only members are ignored, whatever their value", () =>
    Effect.gen(function* () {
      const past = "2001-02-03T04:05:06.789Z"
      const uuid = yield* create({ uuid: unknownUuid, createdAt: past, editedAt: past })
      assert.notStrictEqual(uuid, unknownUuid)
      const before = yield* read(uuid)
      assert.notStrictEqual(before.createdAt, past)
      assert.strictEqual((yield* patch(uuid, { uuid: unknownUuid, createdAt: past, editedAt: past })).status, 200)
      assert.deepStrictEqual(yield* read(uuid), before)
      assert.strictEqual((yield* patch(uuid, before)).status, 200)
      const elsewhere = { media: { logo: null, items: [] }, translationLabels: [] }
      assert.strictEqual((yield* patch(uuid, elsewhere)).status, 200)
      assert.notStrictEqual(yield* create(elsewhere), uuid)
      assert.deepStrictEqual(yield* read(uuid), before)
      for (const member of ["uuid", "media", "translationLabels"]) {
        for (const value of ["yesterday", "2001-02-30T00:00:00.000Z", 0, "", null, [], { any: "thing" }]) {
          const { body, status } = yield* patch(uuid, { [member]: value })
          assert.strictEqual(status, 200, `${member} ${JSON.stringify(value)} ${JSON.stringify(body)}`)
        }
      }
      assert.deepStrictEqual(yield* read(uuid), before)
    })
  )

  it.effect("a malformed createdAt or editedAt is rejected, and a timestamp or null is ignored", () =>
    Effect.gen(function* () {
      const uuid = yield* create()
      const before = yield* read(uuid)
      const values = ["x", "2001-02-30T00:00:00.000Z", "2001-02-03T04:05:06Z", "2001-02-03", 0, "", [], {}]
      const malformed = ["createdAt", "editedAt"].flatMap((member) =>
        values.map((value) => ({ member, sent: { [member]: value }, data: named({ [member]: value }) }))
      )
      for (const { data, member, sent } of malformed) {
        const updated = yield* patch(uuid, sent)
        const problems = [400, "InvalidRequestError", `${member} invalidFormat`]
        assert.deepStrictEqual(problemsOf(updated), problems, JSON.stringify(sent))
        assert.include(updated.body.issues[0].message, "2026-01-31T09:30:00.000Z")
        assert.deepStrictEqual(problemsOf(yield* send("POST", "/v1/locations", { body: data })), problems)
        const operations = [
          { op: "create", data },
          { op: "update", uuid, data: sent }
        ]
        const { body } = yield* send("POST", "/v1/locations/bulk", { body: { operations } })
        const paths = body.data.map(({ error }: { readonly error: Answer["body"] }) => error.issues[0].path)
        assert.deepStrictEqual(paths, [member, member])
      }
      const rows = malformed.map(({ data }) => data)
      const { body: plan } = yield* send("POST", "/v1/plans?resource=locations", { body: rows })
      assert.strictEqual(plan.data.counts.refused, rows.length)
      for (const member of ["createdAt", "editedAt"]) {
        assert.strictEqual((yield* patch(uuid, { [member]: null })).status, 200)
        yield* create({ [member]: null })
      }
      const { locations } = yield* client
      const params = { uuid: LocationId.make(uuid) }
      // The typed client sends back times that it decoded.
      const { createdAt, editedAt } = yield* locations.get({ params, query: {} })
      yield* locations.update({ params, payload: { createdAt, editedAt } })
      assert.deepStrictEqual(yield* read(uuid), before)
    })
  )

  it.effect("a patch without changes keeps editedAt, and every change increases it", () =>
    Effect.gen(function* () {
      const uuid = yield* create({ name: "Same", address: { city: "Utrecht" }, postalCodes: ["1000"] })
      const before = yield* read(uuid)
      for (const body of [
        {},
        { name: " Same " },
        { address: { city: "Utrecht" } },
        { address: {} },
        { locale: null }
      ]) {
        assert.strictEqual((yield* patch(uuid, body)).status, 200)
        assert.deepStrictEqual(yield* read(uuid), before)
      }
      let last = before.editedAt as string
      for (let turn = 0; turn < 20; turn++) {
        yield* patch(uuid, { name: `Turn ${turn}` })
        const { createdAt, editedAt } = yield* read(uuid)
        assert.isTrue(editedAt > last, `${editedAt} after ${last}`)
        assert.strictEqual(createdAt, before.createdAt)
        last = editedAt
      }
    })
  )

  it.effect("a deleted location is a 404 and its identifier is free at once", () =>
    Effect.gen(function* () {
      const uuid = yield* create({ identifier: "again" })
      assert.deepStrictEqual((yield* send("DELETE", `/v1/locations/${uuid}`)).body, { _tag: "Success", data: { uuid } })
      for (const method of ["GET", "DELETE", "PATCH"]) {
        const body = expectError(
          yield* send(method, `/v1/locations/${uuid}`, method === "PATCH" ? { body: {} } : {}),
          404,
          "LocationNotFoundError"
        )
        assert.strictEqual(body.uuid, uuid)
      }
      assert.notStrictEqual(yield* create({ identifier: "again" }), uuid)
    })
  )
})
