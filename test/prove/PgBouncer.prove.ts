import { assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll } from "vitest"
import { own } from "../support/Children.ts"
import { report } from "../support/proofs/Figures.ts"
import { type Installation, install } from "../support/Nodes.ts"
import * as PgBouncer from "../support/proofs/PgBouncer.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))

/**
 * Tests of every kind of operation: reads, lists and filters, writes, transactions, locks, queues and searches, the log of
 * changes, webhooks, bulk requests and plans.
 */
const suites = [
  "keys/ApiKeys",
  "assets/AssetCategories",
  "assets/AssetMetaTags",
  "assets/AssetSearch",
  "assets/AssetWrites",
  "people/Groups",
  "locations/LocationWrites",
  "lists/Lists",
  "people/Memberships",
  "assets/MetaTags",
  "files/Thumbnails",
  "posts/Posts",
  "transport/Preconditions",
  "catalog/ProductModules",
  "catalog/ProductReferences",
  "lists/Sorting",
  "files/UploadRaces",
  "files/Uploads",
  "people/Users",
  "changes/Delta",
  "changes/Erasure",
  "changes/Events",
  "changes/History",
  "changes/LoggedChanges",
  "changes/PastRecords",
  "changes/Restoring",
  "webhooks/Deliveries",
  "webhooks/Webhooks",
  "lists/Keyset",
  "writes/Idempotency",
  "writes/plans/Plans",
  "writes/plans/Members",
  "writes/plans/OutdatedPlans",
  "writes/plans/Products",
  "writes/bulk/Bulk",
  "writes/bulk/Effects",
  "writes/bulk/Upserts"
].map((name) => `test/http/${name}.test.ts`)

describe("PgBouncer in transaction mode", () => {
  let installation: Installation
  let bouncer: Awaited<ReturnType<typeof PgBouncer.start>>
  beforeAll(async () => {
    installation = await install()
    const guide = readFileSync(join(root, "docs/deploying.md"), "utf8")
    for (const [statement] of guide.matchAll(/^alter role .+$/gm)) {
      await installation.sql.unsafe(statement.replace(" waypost ", ` ${installation.username} `))
    }
    // The tests create and drop their databases there, which takes longer.
    await installation.sql.unsafe(`alter role ${installation.username} in database postgres set statement_timeout = 0`)
    bouncer = await PgBouncer.start(installation)
  })
  afterAll(async () => {
    await bouncer?.[Symbol.asyncDispose]()
    await installation?.close()
  })

  it("the service migrates, starts, writes and reads behind PgBouncer", async () => {
    const node = await installation.node({ DATABASE_URL: bouncer.url("postgres"), DATABASE_PREPARE: "false" })
    const statuses: Array<number> = []
    for (let index = 0; index < 50; index++) {
      const body = { name: `Pooled ${index}`, identifier: `pooled-${index}` }
      statuses.push((await node.call("POST", "/v1/locations", body)).status)
    }
    const list = await node.call("GET", "/v1/locations?filter=name:contains:pooled&limit=5")
    assert.deepStrictEqual([...new Set(statuses)], [201])
    assert.strictEqual(list.body.pagination.total, 50, bouncer.output())
    const logged: Array<string> = []
    for (let after = "", parts = 0; logged.length < 50 && parts < 50; parts++) {
      const { body } = await node.call("GET", `/v1/events?types=location.created&wait=5&after=${after}`)
      logged.push(...body.data.map(({ record }: { readonly record: { readonly label: string } }) => record.label))
      after = body.cursor
    }
    assert.deepStrictEqual(
      logged,
      Array.from({ length: 50 }, (_, index) => `Pooled ${index}`)
    )
    assert.deepStrictEqual(await node.stop(), 0)
  })

  it("the tests of every kind of operation pass behind PgBouncer", { timeout: 300_000 }, async (context) => {
    const folder = mkdtempSync(join(tmpdir(), "waypost-suites-"))
    const results = join(folder, "results.json")
    const child = spawn(
      process.execPath,
      [join(root, "node_modules/vitest/vitest.mjs"), "run", "--reporter=json", `--outputFile=${results}`, ...suites],
      {
        cwd: root,
        env: { ...process.env, TEST_DATABASE_URL: bouncer.url("postgres"), TEST_DATABASE_PREPARE: "false" },
        stdio: ["ignore", "pipe", "pipe"]
      }
    )
    let output = ""
    child.stdout.on("data", (chunk) => (output += String(chunk)))
    child.stderr.on("data", (chunk) => (output += String(chunk)))
    const code = await own(child).exited
    const { numFailedTests, numPassedTests, testResults } = JSON.parse(readFileSync(results, "utf8")) as Results
    rmSync(folder, { recursive: true })
    await report(context, { tests: numPassedTests, failed: numFailedTests })
    // A file also fails outside of its tests.
    const failed = testResults
      .filter(({ status }) => status !== "passed")
      .map(({ message, name }) => ({ name, message }))
    assert.deepStrictEqual(failed, [])
    assert.strictEqual(code, 0, output.slice(-4000))
    assert.lengthOf(testResults, suites.length)
    assert.isAbove(numPassedTests, 200)
  })
})

interface Results {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly testResults: ReadonlyArray<{ readonly name: string; readonly status: string; readonly message: string }>
}
