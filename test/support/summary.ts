import type { Reporter, TestModule } from "vitest/node"

/**
 * Ends a run with one plain line that any CI can read: how many tests passed and failed. An error outside of tests and a test
 * that did not end count as failed.
 */
export default class Summary implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, unhandledErrors: ReadonlyArray<unknown>) {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const count = (state: string) => tests.filter((test) => test.result().state === state).length
    const broken = modules.filter((module) => module.errors().length > 0).length
    const skipped = count("skipped")
    const failed = count("failed") + count("pending") + broken + unhandledErrors.length
    console.log(`${count("passed")} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`)
  }
}
