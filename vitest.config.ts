import { defineConfig } from "vitest/config"
import { common, files, globalSetup, reporters } from "./test/support/projects.ts"

export default defineConfig({
  test: {
    reporters,
    // A test that fails shows what it printed.
    silent: "passed-only",
    slowTestThreshold: Infinity,
    maxWorkers: 2,
    projects: [
      { test: { ...common, ...files.unit, name: "unit", isolate: false } },
      { test: { ...common, ...files.service, name: "service", globalSetup, isolate: false } },
      { test: { ...common, ...files.slow, name: "slow", globalSetup } }
    ]
  }
})
