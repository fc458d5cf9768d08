import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Location } from "../../../src/domain/locations/Location.ts"
import { compare, kept, rejects } from "../cases.ts"

describe("members of a location", () => {
  const { coordinates, identifier, name, other, postalCodes } = Location.fields

  it("the members of a location have the bounds of the model", () => {
    assert.deepStrictEqual(...compare(name, [...kept(["a", "a".repeat(255)]), ...rejects(["a".repeat(256), ""])]))
    assert.deepStrictEqual(
      ...compare(identifier, [...kept(["a".repeat(100), "a b"]), [" a ", "a"], ...rejects(["a".repeat(101), ""])])
    )
    assert.deepStrictEqual(
      ...compare(
        Schema.toType(coordinates.schema),
        rejects([
          { latitude: 91, longitude: 0 },
          { latitude: 0, longitude: 180.0000001 },
          { latitude: 0, longitude: -181 }
        ])
      )
    )
    assert.deepStrictEqual(
      ...compare(other.schema, [
        ...kept([{ extraDna10: "a\n\tb".padEnd(1000, "c") }]),
        ...rejects([{ extraDna1: "a".repeat(1001) }])
      ])
    )
  })

  it("at most 1,000 postal codes of 2 to 16 letters, digits, spaces and hyphens are accepted, without duplicates and in order", () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => `${10_000 + index}`)
    assert.deepStrictEqual(
      ...compare(postalCodes, [
        ...kept([[], ["3511 AB", "12", "AB-12", "A".repeat(16)], many(1000)]),
        [
          ["b2", "a1", "b2", " a1 "],
          ["b2", "a1"]
        ],
        ...rejects([["1"], ["A".repeat(17)], ["12_3"], ["é12"], ["12\n3"], [null], "12", many(1001)])
      ])
    )
  })
})
