import { assert, describe, it } from "@effect/vitest"
import * as PositionHistory from "../../src/sql/connections/PositionHistory.ts"

/** Samples of a primary that writes one byte a second. */
const history = (seconds: number, keptSeconds = 10) => {
  const made = PositionHistory.make(keptSeconds * 1000)
  for (let second = 0; second <= seconds; second++) made.add({ at: second * 1000, position: BigInt(second) }, "one")
  return made
}

describe("positions of the primary", () => {
  it("the lag of a replica that has not reached the first sample is unknown", () => {
    assert.isFalse(PositionHistory.make(1000).isKnown(1n))
    const primary = history(5)
    assert.isFalse(primary.isKnown(-1n))
    assert.isTrue(primary.isKnown(0n))
  })

  it("the lag is the time for which the primary was ahead at its last sample", () => {
    const primary = history(5)
    assert.deepStrictEqual([1n, 4n, 5n].map(primary.lagOf), [3000, 0, 0])
  })

  it("the lag is known for as long as samples are kept, also after a pause of the primary", () => {
    const primary = history(60)
    assert.deepStrictEqual([primary.isKnown(48n), primary.isKnown(49n)], [false, true])
    primary.add({ at: 120_000, position: 61n }, "one")
    primary.add({ at: 121_000, position: 62n }, "one")
    assert.deepStrictEqual([primary.isKnown(59n), primary.isKnown(60n)], [false, true])
  })
})
