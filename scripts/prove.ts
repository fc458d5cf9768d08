import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { startVitest, type TestModule } from "vitest/node"
import { promises, type Promised } from "../test/prove/Promises.ts"

// Proves what the service promises: runs the tests of every promise one after the other, and ends with a table of what
// was promised and what was measured. `npm run prove -- T1 P4` proves these two.
const root = fileURLToPath(new URL("..", import.meta.url))
const { positionals } = parseArgs({ allowPositionals: true })

const unknown = positionals.filter((id) => !promises.some((promise) => promise.id === id))
if (unknown.length > 0) {
  console.error(`There is no promise ${unknown.join(", ")}. There are ${promises.map(({ id }) => id).join(", ")}.`)
  process.exit(1)
}

const chosen = promises.filter(({ id }) => positionals.length === 0 || positionals.includes(id))
const files = [...new Set(chosen.flatMap(({ proofs }) => proofs))].map((file) => `${root}test/${file}`)
const missing = files.filter((file) => !existsSync(file))
for (const file of missing) console.error(`There is no proof ${file}`)

const began = performance.now()
const vitest = await startVitest("test", files, {
  root,
  watch: false,
  include: files,
  // What is measured is not disturbed by another proof.
  fileParallelism: false,
  testTimeout: 120_000,
  reporters: ["default", "./test/support/summary.ts"]
})
const modules = vitest.state.getTestModules()
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
const table = [
  "| | promise | kept when | measured | tests | |",
  "|---|---|---|---|---|---|",
  ...rows.map(
    ({ figures, kept, promise, tests }) =>
      `| ${promise.id} | ${promise.promise} | ${promise.criterion} | ${figures} | ${tests} | ${kept ? "kept" : "**broken**"} |`
  )
]
const broken = rows.filter(({ kept }) => !kept)
console.log(`\n${table.join("\n")}\n`)
console.log(
  `${rows.length - broken.length} of ${rows.length} promises kept in ${Math.round((performance.now() - began) / 1000)} s`
)
if (broken.length > 0) console.log(`Broken: ${broken.map(({ promise }) => promise.id).join(", ")}`)
process.exit(broken.length === 0 && missing.length === 0 ? 0 : 1)
