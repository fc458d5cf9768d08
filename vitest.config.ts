import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config"
import { common, files, globalSetup, reporters } from "./test/support/projects.ts"
import { keepInMemory } from "./test/support/temporary.ts"

keepInMemory()

/** `npm run test:quick` tries fewer random cases. */
const runs = (mode: string) => ({ TEST_RUNS: process.env["TEST_RUNS"] ?? (mode === "quick" ? "few" : "many") })

/** A worker runs many files one after another; with room for objects, young and old, it collects garbage less often. */
const shared = {
  isolate: false,
  execArgv: ["--min-semi-space-size=32", "--max-semi-space-size=64", "--initial-old-space-size=1024"]
}

type Options = NonNullable<TestProjectInlineConfiguration["test"]>

export default defineConfig(({ mode }) => {
  const project = (name: keyof typeof files, more: Options) => ({
    test: { ...common, env: runs(mode), ...files[name], name, ...more }
  })
  return {
    test: {
      reporters,
      // A test that fails shows what it printed.
      silent: "passed-only",
      slowTestThreshold: Infinity,
      // Each waits for its database or for processes for a part of its time.
      maxWorkers: 4,
      projects: [
        project("unit", shared),
        project("service", { ...shared, globalSetup }),
        project("slow", { ...shared, globalSetup }),
        project("processes", { ...shared, globalSetup: [...globalSetup, "test/support/unpackBrowser.ts"] }),
        project("isolated", { globalSetup })
      ]
    }
  }
})
