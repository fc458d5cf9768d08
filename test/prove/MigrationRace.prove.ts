import { assert, describe, it } from "@effect/vitest"
import { readdirSync } from "node:fs"
import { afterAll, beforeAll } from "vitest"
import { report } from "../support/proofs/Figures.ts"
import * as Process from "../support/Process.ts"
import { type Installation, install } from "../support/Nodes.ts"

const migrations = readdirSync(new URL("../../src/sql/migrations", import.meta.url)).length

describe("concurrent first starts", () => {
  let installation: Installation
  beforeAll(async () => {
    installation = await install(Process.dataFolder())
  })
  afterAll(() => installation?.close())

  it("three nodes that start on an empty database migrate it once, create one key, and all become ready", async (context) => {
    const nodes = await Promise.all([1, 2, 3].map(() => installation.node()))
    const { sql } = installation
    const [counted] = await sql`
      select count(*)::int as rows, count(distinct migration_id)::int as ids from waypost_migrations`
    const [keys] = await sql`select count(*)::int as count from api_keys`
    const ready = await Promise.all(nodes.map(({ call }) => call("GET", "/readyz")))
    const answers = await Promise.all(nodes.map(({ call }) => call("GET", "/v1/me")))
    const migrated = nodes.filter((node) => node.output().includes("Applied ")).length
    await report(context, {
      "ready in ms": nodes.map(({ startMillis }) => Math.round(startMillis)).join(" "),
      migrated
    })
    assert.deepStrictEqual(counted, { rows: migrations, ids: migrations })
    assert.deepStrictEqual(keys, { count: 1 })
    assert.deepStrictEqual(
      ready.map(({ status }) => status),
      [200, 200, 200]
    )
    assert.deepStrictEqual(
      answers.map(({ status }) => status),
      [200, 200, 200]
    )
    assert.strictEqual(migrated, 1)
  })
})
