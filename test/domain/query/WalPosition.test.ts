import { assert, describe, it } from "@effect/vitest"
import { bytesBefore, isWalPosition, walPositionAfter } from "../../../src/domain/query/WalPosition.ts"

describe("positions in the log", () => {
  it.each(["0/0", "0/FFFFFFFF", "1/0", "16/B374D848", "FFFFFFFF/FFFFFFFF"])(
    "%s is read and written again",
    (position) => {
      assert.isTrue(isWalPosition(position))
      assert.strictEqual(walPositionAfter(bytesBefore(position)), position)
    }
  )

  it("compare as numbers, which their texts do not", () => {
    assert.isTrue(bytesBefore("9/0") < bytesBefore("10/0"))
    assert.isTrue(bytesBefore("0/FFFFFFFF") < bytesBefore("1/0"))
  })

  it.each(["", "16", "16/", "/16", "16/B374D8480", "G/0", " 1/0"])("%j is none", (text) =>
    assert.isFalse(isWalPosition(text))
  )
})
