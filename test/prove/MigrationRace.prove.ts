import { assert, describe, it } from "@effect/vitest"
import { readdirSync } from "node:fs"
import postgres from "postgres"
import { afterAll, beforeAll } from "vitest"
import { report } from "./figures.ts"
import { call, type Installation, install, stop } from "./Nodes.ts"

const migrations = readdirSync(new URL("../../src/repositories/migrations", import.meta.url)).length

describe("three nodes that start at once on an empty database", () => {
  let installation: Installation
  beforeAll(async () => {
    installation = await install()
  })
  afterAll(() => installation.close())

  it("migrate it once, make one first key, and all get ready", async (context) => {
    const nodes = await Promise.all([1, 2, 3].map(() => installation.node()))
    const sql = postgres({
      path: installation.postgres.socket,
      username: installation.postgres.username,
      database: installation.postgres.database,
      max: 1
    })
    const [counted] = await sql`
      select count(*)::int as rows, count(distinct migration_id)::int as ids from waypost_migrations`
    const [keys] = await sql`select count(*)::int as count from api_keys`
    await sql.end()
    const ready = await Promise.all(nodes.map(({ url }) => call(url, installation.key, "GET", "/readyz")))
    const answers = await Promise.all(nodes.map(({ url }) => call(url, installation.key, "GET", "/v1/me")))
    const migrated = nodes.filter((node) => node.output().includes("Applied ")).length
    await stop(...nodes)
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
