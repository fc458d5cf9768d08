import { assert, describe, it } from "@effect/vitest"
import { globSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { onTestFinished, vi } from "vitest"
import type { TestModule } from "vitest/node"
import { files, quick } from "./projects.ts"
import Summary from "./summary.ts"

const cwd = fileURLToPath(new URL("../..", import.meta.url))

describe("The test projects", () => {
  it.each([...files.isolated.include, ...quick.exclude])("name files that exist with %s", (pattern) => {
    assert.isAbove(globSync(pattern, { cwd }).length, 0)
  })
})

describe("The summary of a run", () => {
  it("counts errors outside of tests, and tests that did not end, as failed", () => {
    const log = vi.spyOn(console, "log").mockImplementation(() => undefined)
    onTestFinished(() => log.mockRestore())
    const module = (states: ReadonlyArray<string>) => {
      const tests = states.map((state) => ({ result: () => ({ state }) }))
      return { errors: () => [], children: { allTests: () => tests } } as unknown as TestModule
    }
    const summary = new Summary()
    summary.onTestRunEnd([module(["passed", "skipped"]), module(["passed", "pending", "failed"])], [new Error("Stray")])
    summary.onTestRunEnd([module(["passed"])], [])
    assert.deepStrictEqual(log.mock.calls, [["2 passed, 3 failed, 1 skipped"], ["1 passed, 0 failed"]])
  })
})
