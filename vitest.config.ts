import { defineConfig } from "vitest/config"
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

export default defineConfig(({ mode }) => ({
  test: {
    reporters,
    // A test that fails shows what it printed.
    silent: "passed-only",
    slowTestThreshold: Infinity,
    maxWorkers: 2,
    projects: [
      { test: { ...common, env: runs(mode), ...files.unit, name: "unit", ...shared } },
      { test: { ...common, env: runs(mode), ...files.service, name: "service", globalSetup, ...shared } },
      { test: { ...common, env: runs(mode), ...files.slow, name: "slow", globalSetup, ...shared } },
      // They wait for processes more than they compute.
      {
        test: {
          ...common,
          env: runs(mode),
          ...files.processes,
          name: "processes",
          ...shared,
          globalSetup: [...globalSetup, "test/support/unpackBrowser.ts"],
          maxWorkers: 4,
          sequence: { groupOrder: 1 }
        }
      },
      {
        test: {
          ...common,
          env: runs(mode),
          ...files.isolated,
          name: "isolated",
          globalSetup,
          maxWorkers: 4,
          sequence: { groupOrder: 1 }
        }
      }
    ]
  }
}))
