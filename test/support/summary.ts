import type { Reporter, TestModule } from "vitest/node"

/** Ends a run with one plain line that any CI can read: how many tests passed and failed. */
export default class Summary implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>) {
    const tests = modules.flatMap((module) => [...module.children.allTests()])
    const count = (state: string) => tests.filter((test) => test.result().state === state).length
    const broken = modules.filter((module) => module.errors().length > 0).length
    const skipped = count("skipped")
    console.log(
      `${count("passed")} passed, ${count("failed") + broken} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`
    )
  }
}
