import { assert, describe, it } from "@effect/vitest"
import { CountryCode, isCountryCode } from "../../../src/domain/schema/Country.ts"
import { type Case, compare, notText, rejects } from "../cases.ts"

describe("CountryCode", () => {
  it("a country code is one of the 249 officially assigned codes, upper-cased", () => {
    const letters = Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    const known = letters.flatMap((a) => letters.map((b) => a + b)).filter(isCountryCode)
    assert.lengthOf(known, 249)
    assert.deepStrictEqual(
      ...compare(CountryCode, [...known.map((code): Case => [code.toLowerCase(), code]), [" Nl ", "NL"]])
    )
  })

  it("CountryCode rejects unassigned codes and other text", () => {
    assert.deepStrictEqual(
      ...compare(
        CountryCode,
        rejects(["", "N", "NLD", "UK", "EU", "ZZ", "XK", "AN", "SU", "528", "N L", "ＮＬ", ...notText])
      )
    )
  })

  it("CountryCode rejects characters that become two letters in upper case", () => {
    // Ligatures and the dotless i become two or other ASCII letters in upper case.
    assert.deepStrictEqual(...compare(CountryCode, rejects(["\ufb01", "\u0131t", "\ufb05", "\u017fe"])))
  })
})
