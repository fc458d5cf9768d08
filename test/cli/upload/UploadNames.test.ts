import { assert, describe, it } from "@effect/vitest"
import { assetName } from "../../../src/cli/upload/AssetName.ts"
import { line } from "../../../src/cli/Progress.ts"

describe("asset names", () => {
  it.each([
    ["summer-sale-poster.pdf", "summer sale poster"],
    ["summer_sale_poster.tar.gz", "summer sale poster.tar"],
    ["Coca-Cola logo.png", "Coca-Cola logo"],
    ["Coca-Cola_logo.png", "Coca-Cola logo"],
    ["2026-05-01.jpg", "2026-05-01"],
    ["menu-2026-05-01_v2.jpg", "menu-2026-05-01 v2"],
    ["menu-2026-05-01.jpg", "menu 2026-05-01"],
    ["  Été   à Paris .JPG", "Été à Paris"],
    ["README", "README"],
    ["photo..jpg", "photo."],
    [".htaccess", ".htaccess"],
    ["___.jpg", "___.jpg"],
    [`${"🥐".repeat(300)}.png`, "🥐".repeat(255)]
  ])("the asset name of %s is %s", (fileName, name) => {
    assert.strictEqual(assetName(fileName), name)
  })
})

describe("progress line", () => {
  it("the progress line shows bytes, their rate and the remaining time", () => {
    const state = { unit: "bytes", done: 30_000_000, fraction: 0.25 } as const
    assert.strictEqual(line(state, 3), "[######------------------]  25%  30 MB  10 MB/s  0:09 left")
  })

  it("the progress line shows rows by default", () => {
    assert.strictEqual(line({ done: 2000, fraction: undefined }, 2), "2,000 rows  1,000/s")
  })
})
