import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { report } from "../support/proofs/Figures.ts"

const folder = join(import.meta.dirname, "../../deploy")
const read = (file: string) => readFileSync(join(folder, file), "utf8")

const promtool = (...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync("promtool", args, { cwd: folder, encoding: "utf8" })
  return { status, output: stdout + stderr }
}

describe("the files for Prometheus and Grafana", () => {
  it("the rules and the configuration of Prometheus are valid", () => {
    for (const args of [["rules", "alerts.yml"] as const, ["config", "--syntax-only", "prometheus.yml"] as const]) {
      const { output, status } = promtool("check", ...args)
      assert.strictEqual(status, 0, output)
    }
  })

  it("every alert fires and stays silent as its unit tests say", async (context) => {
    const { output, status } = promtool("test", "rules", "alerts.test.yml")
    const alerts = [...read("alerts.yml").matchAll(/- alert: (\w+)/g)].map(([, name]) => name!)
    const tested = alerts.filter((name) => new RegExp(`alertname: ${name}\\s+eval_time`).test(read("alerts.test.yml")))
    await report(context, { alerts: alerts.length, tested: tested.length })
    assert.strictEqual(status, 0, output)
    assert.deepStrictEqual(tested, alerts)
  })

  it("the queries of the dashboard are valid", () => {
    const found = [...read("grafana.json").matchAll(/"expr": ("(?:[^"\\]|\\.)*")/g)].map(([, text]) =>
      String(JSON.parse(text!))
    )
    const rules = found.map((expr, index) => ({
      record: `waypost:query${index}`,
      expr: expr.replaceAll("$__rate_interval", "5m")
    }))
    const temporary = mkdtempSync(join(tmpdir(), "waypost-queries-"))
    const file = join(temporary, "queries.yml")
    // JSON is YAML.
    writeFileSync(file, JSON.stringify({ groups: [{ name: "dashboard", rules }] }))
    const { output, status } = promtool("check", "rules", file)
    rmSync(temporary, { recursive: true })
    assert.isAbove(rules.length, 15)
    assert.strictEqual(status, 0, output)
  })
})
