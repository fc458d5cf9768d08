import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll } from "vitest"
import { waypost } from "../../support/cli/Command.ts"
import * as Served from "../../support/cli/Served.ts"

let service: Served.Served
let env: Record<string, string>

beforeAll(async () => {
  service = await Served.start()
  env = { WAYPOST_URL: service.url, WAYPOST_API_KEY: service.key }
  for (const [identifier, latitude, longitude] of [
    ["UTRECHT", 52.0907, 5.1214],
    ["ZEIST", 52.0906, 5.2332],
    ["CAPE-TOWN", -33.9249, 18.4241]
  ] as const) {
    const fields = [
      `identifier=${identifier}`,
      `name=${identifier}`,
      `coordinates.latitude=${latitude}`,
      `coordinates.longitude=${longitude}`
    ]
    const { code, err } = await waypost(["create", "locations", ...fields.flatMap((field) => ["--set", field])], env)
    assert.strictEqual(code, 0, err)
  }
})
afterAll(() => service?.[Symbol.asyncDispose]())

describe("waypost near", () => {
  it("lists the locations within a radius, the nearest first, with their distances", async () => {
    const { code, err, out } = await waypost(["near", "52.09,5.12", "--radius", "10km"], env)
    assert.strictEqual(code, 0, err)
    assert.deepStrictEqual(
      JSON.parse(out).map(({ distanceMetres, identifier }: Readonly<Record<string, unknown>>) => [
        identifier,
        distanceMetres
      ]),
      [
        ["UTRECHT", 123],
        ["ZEIST", 7734]
      ]
    )
  })

  it("prints the fields that are asked for, and how many locations there are in all", async () => {
    const args = ["near", "52.09,5.12", "--limit", "1", "--csv", "--fields", "identifier,distanceMetres"]
    const { code, err, out } = await waypost(args, env)
    assert.deepStrictEqual([code, out.trim().split(/\r?\n/)], [0, ["identifier,distanceMetres", "UTRECHT,123"]], err)
    assert.include(err, "1 of 3")
  })

  it("waypost near takes a latitude below zero as a word of its own", async () => {
    const { code, err, out } = await waypost(["near", "-33.92", "18.42", "--radius", "5km"], env)
    assert.strictEqual(code, 0, err)
    assert.deepStrictEqual(
      JSON.parse(out).map(({ identifier }: { readonly identifier: string }) => identifier),
      ["CAPE-TOWN"]
    )
  })

  it("reports a place that has another form", async () => {
    const { code, err } = await waypost(["near", "Utrecht"], env)
    assert.strictEqual(code, 1)
    assert.include(err, "Expected a latitude from -90 to 90 and a longitude from -180 to 180, such as 52.0907,5.1214")
  })
})
