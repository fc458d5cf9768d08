import { assert, describe, it } from "@effect/vitest"
import { globSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { files } from "./projects.ts"

const cwd = fileURLToPath(new URL("../..", import.meta.url))
const matching = (patterns: ReadonlyArray<string>) => globSync(patterns, { cwd })

describe("The test projects", () => {
  it("contain every test file exactly once", () => {
    const chosen = Object.values(files).flatMap(({ exclude, include }) => {
      const excluded = new Set(matching(exclude))
      return matching(include).filter((file) => !excluded.has(file))
    })
    assert.deepStrictEqual(chosen.toSorted(), matching(["test/**/*.test.ts"]).toSorted())
  })

  it.each(Object.values(files).flatMap(({ include }) => include))("find files with %s", (pattern) => {
    assert.isAbove(matching([pattern]).length, 0)
  })
})
