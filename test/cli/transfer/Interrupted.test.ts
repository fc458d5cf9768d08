import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { line } from "../../../src/cli/Progress.ts"
import type { ExportFormat } from "../../../src/cli/files/Format.ts"
import * as RowCount from "../../../src/cli/files/RowCount.ts"
import { start, waypost } from "../../support/cli/Command.ts"
import * as Proxy from "../../support/cli/Proxy.ts"
import * as Served from "../../support/cli/Served.ts"
import { until } from "../../support/Until.ts"

const rows = 4100

describe("an import that is interrupted", () => {
  it("says how many rows it has sent of how many, and the same command goes on", async () => {
    await using stack = new AsyncDisposableStack()
    const service = stack.use(await Served.start())
    const proxy = await Proxy.start(service.url)
    stack.defer(proxy.close)
    const env = { WAYPOST_URL: service.url, WAYPOST_API_KEY: service.key }
    const file = join(service.folder, "rows.csv")
    const cells = Array.from({ length: rows }, (_, index) => `"Branch, ${index}",B-${index}`)
    writeFileSync(file, ["name,identifier", ...cells, ""].join("\n"))
    const total = async () => Number((await service.call("GET", "/v1/locations?limit=1")).body.pagination.total)
    // The rows are new, so those after the first two plans are created by a bulk request, which stays in flight.
    let hasBulk = false
    const isApply = ({ path }: Proxy.Seen) => path.endsWith("/apply")
    let applied = 0
    proxy.decide((seen) => {
      const { path } = seen
      if (isApply(seen)) applied++
      const isBulk = path === "/v1/locations/bulk"
      hasBulk ||= isBulk
      return isBulk ? "hang" : "pass"
    })
    const { process, result } = start(["import", "locations", file], { ...env, WAYPOST_URL: proxy.url })
    await until("the bulk request is in flight", () => hasBulk)
    process.kill("SIGINT")
    const { code, err } = await result
    // The service goes on with a plan whose client has ended.
    await proxy.until(applied, isApply)
    assert.strictEqual(code, 130)
    const [, done, created] =
      /^Interrupted after ([\d,]+) of 4,100 rows \(([\d,]+) created\)\. Run the same command/.exec(err)!
    assert.strictEqual(done, created)
    assert.isBelow(Number(done!.replace(",", "")), rows)
    const imported = await total()
    const again = await waypost(["import", "locations", file, "--concurrency", "64"], env)
    assert.strictEqual(again.code, 0, again.err)
    assert.match(again.out, new RegExp(`\\b${imported.toLocaleString("en")} unchanged`))
    assert.strictEqual(await total(), rows)
  })

  it("deletes its plan, also while it reads which rows are rejected", async () => {
    await using stack = new AsyncDisposableStack()
    const service = stack.use(await Served.start())
    const proxy = await Proxy.start(service.url)
    stack.defer(proxy.close)
    const file = join(service.folder, "rows.ndjson")
    writeFileSync(file, '{"identifier":"R-1","name":"A"}\n{"identifier":"R-2"}\n')
    let plan: string | undefined
    proxy.decide(({ path }) => {
      plan ??= /^(\/v1\/plans\/[^/]+)\/changes/.exec(path)?.[1]
      return path.includes("/changes") ? "hang" : "pass"
    })
    const env = { WAYPOST_URL: proxy.url, WAYPOST_API_KEY: service.key }
    const { process, result } = start(["import", "locations", file], env)
    await until("the rejected rows are read", () => plan !== undefined)
    assert.strictEqual((await service.call("GET", plan!)).status, 200)
    process.kill("SIGINT")
    assert.strictEqual((await result).code, 130)
    assert.strictEqual((await service.call("GET", plan!)).status, 404)
  })
})

const count = (format: ExportFormat, text: string) => {
  const bytes = new TextEncoder().encode(text)
  return Effect.runPromise(RowCount.count(format, Stream.fromIterable([bytes.slice(0, 7), bytes.slice(7)])))
}

describe("progress of an import", () => {
  it("the rows of a file are counted without those within quotes, blank lines and the header", async () => {
    assert.strictEqual(await count("csv", 'a,b\r\n1,"x\ny ""z"""\r\n\r\n2,3'), 2)
    assert.strictEqual(await count("csv", "a,b\n"), 0)
    assert.strictEqual(await count("ndjson", '{"a":"\\""}\n\n{"b":1}\n'), 2)
    assert.strictEqual(await count("json", ' [{"a":["}",{"x":"\\"]"}]},{"b":{}}, {}] '), 3)
    assert.strictEqual(await count("json", "[]"), 0)
  })

  it("the progress line shows how many rows of all are done", () => {
    assert.strictEqual(
      line({ done: 415, total: 5000, fraction: 415 / 5000 }, 2.84),
      "[##----------------------]   8%  415 of 5,000 rows  146/s  0:32 left"
    )
  })
})
