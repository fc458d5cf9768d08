import { assert, describe, it } from "@effect/vitest"
import { CountryCode, isCountryCode } from "../../../src/domain/schema/Country.ts"
import { type Case, compare, notText, refuses } from "../cases.ts"

describe("CountryCode", () => {
  it("is one of the 249 officially assigned codes, upper-cased", () => {
    const letters = Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    const known = letters.flatMap((a) => letters.map((b) => a + b)).filter(isCountryCode)
    assert.lengthOf(known, 249)
    assert.deepStrictEqual(
      ...compare(CountryCode, [...known.map((code): Case => [code.toLowerCase(), code]), [" Nl ", "NL"]])
    )
  })

  it("refuses what only looks like one", () => {
    assert.deepStrictEqual(
      ...compare(
        CountryCode,
        refuses(["", "N", "NLD", "UK", "EU", "ZZ", "XK", "AN", "SU", "528", "N L", "ＮＬ", ...notText])
      )
    )
  })

  it("upper-casing does not turn one other letter into a code", () => {
    // Ligatures and the dotless i become two or other ASCII letters in upper case.
    assert.deepStrictEqual(...compare(CountryCode, refuses(["\ufb01", "\u0131t", "\ufb05", "\u017fe"])))
  })
})
