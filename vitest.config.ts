import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config"
import { common, files, globalSetup, quick, reporters } from "./test/support/projects.ts"
import { keepInMemory } from "./test/support/temporary.ts"

keepInMemory()

/**
 * A worker runs many files one after another; with room for objects, young and old, it collects garbage less often. Buffers count as
 * objects, because V8 otherwise collects all garbage for each 64 MiB of them.
 */
const shared = {
  isolate: false,
  execArgv: [
    "--min-semi-space-size=32",
    "--max-semi-space-size=64",
    "--initial-old-space-size=1024",
    "--external-memory-accounted-in-global-limit"
  ]
}

const unpackBrowser = "test/support/unpackBrowser.ts"

type Options = NonNullable<TestProjectInlineConfiguration["test"]>

export default defineConfig(({ mode }) => {
  const isQuick = mode === "quick"
  // `npm run test:quick` tries fewer random cases.
  const env = { TEST_RUNS: process.env["TEST_RUNS"] ?? (isQuick ? "few" : "many") }
  const project = (name: string, options: Options) => ({ test: { ...common, globalSetup, env, name, ...options } })
  return {
    test: {
      reporters,
      // A test that fails shows what it printed.
      silent: "passed-only",
      slowTestThreshold: Infinity,
      // Each waits for its database or for processes for a part of its time.
      maxWorkers: 4,
      projects: isQuick
        ? [project("shared", { ...shared, ...quick })]
        : [
            project("shared", { ...shared, ...files.shared, globalSetup: [...globalSetup, unpackBrowser] }),
            project("isolated", files.isolated)
          ]
    }
  }
})
