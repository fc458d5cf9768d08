import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { format } from "../../../src/domain/keys/ApiKeySecret.ts"
import * as Database from "../../../test/support/Databases.ts"
import { untilAssessed } from "./assessed.ts"
import type { Side } from "./cases.ts"
import { measure, type Measured } from "./measure.ts"
import { scaleOptions } from "./options.ts"
import { parts } from "./parts.ts"
import { templated } from "./readiness.ts"
import { evaluate, report } from "./report.ts"
import { seedAll } from "./seed/rows.ts"
import { countsOf } from "./seed/step.ts"
import { waypost } from "../../../test/support/Services.ts"

// Measures every list, filter and search of the service at several table sizes.
const { assets, folder, kinds, minutes, only, rounds, sizes } = scaleOptions()
const root = folder ?? mkdtempSync(join(tmpdir(), "waypost-scale-"))
mkdirSync(root, { recursive: true })
// PostgreSQL does not run as root; another user has to reach the folder.
chmodSync(root, 0o755)

const newKey = () => format(crypto.getRandomValues(new Uint8Array(16)), crypto.getRandomValues(new Uint8Array(32))).key
const say = (text: string) => process.stderr.write(`${text}\n`)

/** A service with `size` locations, seeded now or by an earlier run. */
const sideOf = async (size: number, keep: AsyncDisposableStack): Promise<Side> => {
  const place = join(root, String(size))
  mkdirSync(place, { recursive: true })
  const database = keep.use(await Database.start(place))
  // Written after the seeding; it contains the key of the first start.
  const complete = join(place, "complete")
  const key = existsSync(complete) ? readFileSync(complete, "utf8") : newKey()
  const settings = { database, key, pool: 10, folder: place }
  if (!existsSync(complete)) {
    // The first start creates the tables.
    await (await waypost(settings))[Symbol.asyncDispose]()
    const began = performance.now()
    await seedAll(database.sql, countsOf(size, assets ?? size), (text) => say(`${size}: ${text}`))
    say(`${size}: seeded in ${Math.round((performance.now() - began) / 1000)} s`)
    writeFileSync(complete, key)
  }
  const side = { size, assets: assets ?? size, key, sql: database.sql, service: keep.use(await waypost(settings)) }
  await templated(side)
  await untilAssessed(side, say)
  return side
}

const compare = async () => {
  await using keep = new AsyncDisposableStack()
  const sides: Array<Side> = []
  for (const size of sizes) sides.push(await sideOf(size, keep))
  const all: Array<Measured> = []
  for (const part of only) {
    const cases = await Promise.all(sides.map((side) => parts[part]!(side)))
    for (const asked of cases[0]!) {
      if (!kinds.includes(asked.kind)) continue
      const equivalent = cases.map((list) => list.find(({ kind, name }) => kind === asked.kind && name === asked.name))
      // A list of few records may have no page at some sizes.
      if (!equivalent.every((found) => found !== undefined)) continue
      const measured = await measure(sides, equivalent, rounds)
      all.push(measured)
      const times = measured.timings.map(({ failure, p50 }) => failure ?? p50.toFixed(2)).join("  ")
      say(`${asked.kind}: ${asked.name}: ${times}${evaluate(measured).reached ? "" : "  missed"}`)
    }
  }
  return all
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1))
if (folder === undefined) process.once("exit", () => rmSync(root, { recursive: true, force: true }))
setTimeout(() => {
  say(`The benchmark did not finish within ${minutes} minutes`)
  process.exit(1)
}, minutes * 60_000).unref()

const all = await compare()
if (all.some(({ timings }) => timings.some(({ failure }) => failure !== undefined))) process.exitCode = 1
console.log(
  report(
    all,
    `Node ${process.version}, ${availableParallelism()} shared cores, one client, ${rounds} rounds in which each size ` +
      "has a turn of 150 ms or 24 requests; the first response of each is not counted. Milliseconds over HTTP."
  )
)
