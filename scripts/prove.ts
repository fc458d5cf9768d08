import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { startVitest, type TestModule } from "vitest/node"
import { lackOf } from "../test/support/proofs/Needs.ts"
import { common, globalSetup, reporters } from "../test/support/projects.ts"
import { promises, type Promised } from "../test/support/proofs/Promises.ts"
import { table } from "./bench/report.ts"
import { choose } from "./choose.ts"

// Verifies the promises of the service: runs their tests sequentially and prints a table of promises and measurements.
// `npm run prove -- T1 P4` verifies these two.
const root = fileURLToPath(new URL("..", import.meta.url))
const chosen = choose("promise", promises, ({ id }) => id)
const proofs = new Set(chosen.flatMap(({ proofs }) => proofs))
const files = [...proofs].map((file) => `${root}test/${file}`)
const lack = [
  ...files.filter((file) => !existsSync(file)).map((file) => `The test file ${file} does not exist.`),
  ...lackOf(proofs)
]
if (lack.length > 0) {
  console.error(lack.join("\n"))
  process.exit(1)
}

const began = performance.now()
const vitest = await startVitest("test", files, {
  ...common,
  config: false,
  root,
  watch: false,
  include: files,
  globalSetup,
  // Concurrent tests would disturb the measurements.
  fileParallelism: false,
  testTimeout: 120_000,
  reporters
})
const modules = vitest.state.getTestModules()
// Errors outside of tests, which Vitest has already reported; they fail the run.
const stray = vitest.state.getUnhandledErrors().length
await vitest.close()

interface Outcome {
  readonly kept: boolean
  readonly tests: string
  readonly figures: string
  readonly seconds: number
}

const outcome = ({ proofs }: Promised): Outcome => {
  const ran = proofs.map((file) => modules.find((module) => module.moduleId === `${root}test/${file}`))
  const found = ran.filter((module): module is TestModule => module !== undefined)
  const tests = found.flatMap((module) => [...module.children.allTests()])
  const passed = tests.filter((test) => test.result().state === "passed").length
  return {
    kept: found.length === proofs.length && found.every((module) => module.ok()) && tests.length === passed,
    tests: `${passed}/${tests.length}`,
    figures: tests.flatMap((test) => test.annotations().map(({ message }) => message)).join("; "),
    seconds: Math.round(found.reduce((sum, module) => sum + module.diagnostic().duration, 0) / 1000)
  }
}

const rows = chosen.map((promise) => ({ promise, ...outcome(promise) }))
const broken = rows.filter(({ kept }) => !kept)
const cells = rows.map(({ figures, kept, promise, tests }) => [
  promise.id,
  promise.promise,
  promise.criterion,
  figures,
  tests,
  kept ? "kept" : "**broken**"
])
console.log(`\n${table(["", "promise", "kept when", "measured", "tests", ""], cells)}\n`)
console.log(
  `${rows.length - broken.length} of ${rows.length} promises kept in ${Math.round((performance.now() - began) / 1000)} s`
)
if (broken.length > 0) console.log(`Broken: ${broken.map(({ promise }) => promise.id).join(", ")}`)
if (stray > 0) console.log(`Errors outside of tests: ${stray}`)
process.exit(broken.length === 0 && stray === 0 ? 0 : 1)
