import { assert, describe, it } from "@effect/vitest"
import { partSizeOf } from "../../../src/domain/assets/Upload.ts"

const mebibyte = 1024 ** 2
const gibibyte = 1024 ** 3

describe("partSizeOf", () => {
  it("parts are 8 MiB, and larger only if there would be more than a thousand", () => {
    for (const [size, partSize] of [
      [1, 8],
      [8 * mebibyte, 8],
      [5 * gibibyte, 8],
      [8000 * mebibyte, 8],
      [8000 * mebibyte + 1, 9],
      [100 * gibibyte, 103]
    ] as const) {
      assert.strictEqual(partSizeOf(size), partSize * mebibyte, `${size}`)
    }
  })

  it("a client that sends parts of 5 MiB has at least the planned number of parts", () => {
    for (let size = 1; size < 2 ** 43; size = Math.ceil(size * 1.07)) {
      for (const near of [size - 1, size, size + 1, Math.ceil(size / mebibyte) * mebibyte].filter((size) => size > 0)) {
        const parts = Math.ceil(near / partSizeOf(near))
        assert.isAtMost(parts, 1000, `${near}`)
        assert.isAtMost((parts - 1) * 5 * mebibyte, near)
        if (near <= 8 * mebibyte) assert.strictEqual(parts, 1, `${near}`)
      }
    }
  })
})
