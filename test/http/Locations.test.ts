import { assert, layer } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import * as TestServer from "../support/TestServer.ts"

const minimal = (identifier: string) => ({ name: `Branch ${identifier}`, identifier })

layer(TestServer.layer())("Locations", (it) => {
  const client = Effect.flatMap(TestServer.TestServer, ({ client, fullKey }) => client(fullKey))

  it.effect("a created location is read back as it was sent, normalised", () =>
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
      const location = yield* locations.get({ params: { uuid: uuid } })
      const { createdAt, editedAt, ...rest } = location
      assert.deepStrictEqual(rest, {
        uuid,
        name: "Bakkerij De Vries, Utrecht",
        identifier: "read-back",
        postalCodes: ["3511 AB", "3512"],
        address: { city: "Utrecht", countryCode: "NL" },
        legal: { address: { addressLine1: "Oudegracht 1" } },
        coordinates: { latitude: 52.0907374, longitude: 5.1214201 },
        locale: "nl-NL",
        other: { extraDna10: "ten\nlines" }
      })
      assert.strictEqual(DateTime.formatIso(createdAt), DateTime.formatIso(editedAt))
      void minimal
    })
  )
})
