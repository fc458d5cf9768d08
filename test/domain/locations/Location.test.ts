import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Location } from "../../../src/domain/locations/Location.ts"
import { compare, kept, refuses } from "../cases.ts"

describe("the members of a location", () => {
  const { coordinates, identifier, name, other, postalCodes } = Location.fields

  it("have the bounds of the model", () => {
    assert.deepStrictEqual(...compare(name, [...kept(["a", "a".repeat(255)]), ...refuses(["a".repeat(256), ""])]))
    assert.deepStrictEqual(
      ...compare(identifier, [...kept(["a".repeat(100), "a b"]), [" a ", "a"], ...refuses(["a".repeat(101), ""])])
    )
    assert.deepStrictEqual(
      ...compare(
        Schema.toType(coordinates.schema),
        refuses([
          { latitude: 91, longitude: 0 },
          { latitude: 0, longitude: 180.0000001 },
          { latitude: 0, longitude: -181 }
        ])
      )
    )
    assert.deepStrictEqual(
      ...compare(other.schema, [
        ...kept([{ extraDna10: "a\n\tb".padEnd(1000, "c") }]),
        ...refuses([{ extraDna1: "a".repeat(1001) }])
      ])
    )
  })

  it("postal codes are 2 to 16 letters, digits, spaces and hyphens; duplicates go, the order stays; at most 1,000", () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => `${10_000 + index}`)
    assert.deepStrictEqual(
      ...compare(postalCodes, [
        ...kept([[], ["3511 AB", "12", "AB-12", "A".repeat(16)], many(1000)]),
        [
          ["b2", "a1", "b2", " a1 "],
          ["b2", "a1"]
        ],
        ...refuses([["1"], ["A".repeat(17)], ["12_3"], ["é12"], ["12\n3"], [null], "12", many(1001)])
      ])
    )
  })
})
