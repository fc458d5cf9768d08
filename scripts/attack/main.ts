import { table } from "../bench/report.ts"
import { memoryOf } from "../../test/support/Services.ts"
import { choose } from "../choose.ts"
import { violations } from "../../test/support/proofs/Invariants.ts"
import { answers } from "./answers.ts"
import { autocannon } from "./autocannon.ts"
import { ffuf } from "./ffuf.ts"
import type { Tool } from "./tool.ts"
import { isInstalled } from "../../test/support/Programs.ts"
import { slowhttptest } from "./slowhttptest.ts"
import { sqlmap } from "./sqlmap.ts"
import { start, type Target } from "./target.ts"
import { wapiti } from "./wapiti.ts"
import { zzuf } from "./zzuf.ts"

// Attacks the service with third-party tools and prints a table of their findings. Every finding must be fixed or
// accepted in answers.ts. `npm run attack -- sqlmap ffuf` runs these two.
const tools: ReadonlyArray<Tool> = [sqlmap, wapiti, ffuf, zzuf, slowhttptest, autocannon]

const chosen = choose("tool", tools, ({ name }) => name)

interface Row {
  readonly tool: string
  readonly at: string
  readonly figures: string
  readonly findings: ReadonlyArray<string>
  readonly answered: ReadonlyArray<string>
  readonly verdict: string
}

/** Unexpected log lines: errors, lines that are not JSON, and lines with the key. */
const wrongLines = (log: string, key: string) =>
  log.split("\n").filter((line) => {
    if (line.trim() === "") return false
    return !/^\{.*\}$/.test(line) || /"level":"(?:ERROR|FATAL)"/.test(line) || line.includes(key)
  })

/** The number of requests that the service has served. */
const answeredBy = async ({ url }: Target) => {
  const text = await (await fetch(`${url}/metrics`)).text()
  const counts = text.matchAll(/^http_request_duration_seconds_count\S* (\d+)/gm)
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0)
}

/** The changes that a tool has caused. */
const aftermath = async (target: Target, tool: Tool, rows: ReadonlyMap<string, number>, logged: number) => {
  const { status } = await target.call("GET", `/v1/locations/${target.uuids.location}`)
  const ready = await fetch(`${target.url}/readyz`)
  const after = await target.rows()
  const wrong = wrongLines(target.output().slice(logged), target.key)
  const changed = [...after].filter(([table, count]) => rows.get(table) !== count)
  return [
    ...(status === 200 && ready.status === 200
      ? []
      : [`afterwards a read returns ${status} and /readyz ${ready.status}`]),
    ...wrong.slice(0, 5).map((line) => `${wrong.length} lines logged, as: ${line.slice(0, 1000)}`),
    ...(tool.readsOnly ? changed.map(([table, count]) => `${table} has ${count} rows and had ${rows.get(table)}`) : [])
  ]
}

const put = async (target: Target, tool: Tool): Promise<Row> => {
  const [rows, requests, memory, began] = [
    await target.rows(),
    await answeredBy(target),
    memoryOf(target.pid),
    performance.now()
  ]
  const logged = target.output().length
  console.error(`${tool.name} …`)
  const { at, figures, findings } = await tool.run(target)
  const seconds = Math.round((performance.now() - began) / 1000)
  const all = [...findings, ...(await aftermath(target, tool, rows, logged))]
  const because = (finding: string) =>
    answers.find((answer) => answer.tool === tool.name && answer.finding.test(finding))?.because
  const open = all.filter((finding) => because(finding) === undefined)
  const count = (await answeredBy(target)) - requests
  return {
    tool: tool.name,
    at,
    figures: `${count.toLocaleString("en")} requests served; ${figures}; ${seconds} s; RSS ${Math.round(memory)} to ${Math.round(memoryOf(target.pid))} MB`,
    findings: open,
    answered: all.flatMap((finding) => (because(finding) === undefined ? [] : [`${finding}: ${because(finding)}`])),
    verdict: open.length === 0 ? "holds" : "**broken**"
  }
}

const began = performance.now()
const absent = (tool: Tool): Row => ({
  tool: tool.name,
  at: "",
  figures: "",
  findings: [`not run: apt-get install ${tool.needs?.package}`],
  answered: [],
  verdict: "**not run**"
})

const rows: Array<Row> = []
const broken: Array<string> = []
{
  await using target = await start()
  for (const tool of chosen) {
    const there = tool.needs === undefined || isInstalled(tool.needs.command)
    rows.push(there ? await put(target, tool) : absent(tool))
  }
  broken.push(...(await violations((statement) => target.sql.unsafe(statement))))
}

const cells = rows.map(({ answered, at, figures, findings, tool, verdict }) => [
  tool,
  at,
  figures,
  String(findings.length),
  String(answered.length),
  verdict
])
console.log(`\n${table(["tool", "target", "measured", "findings", "accepted", ""], cells)}`)
for (const { answered, tool } of rows) for (const answer of answered) console.log(`\n${tool}, accepted: ${answer}`)
for (const { findings, tool } of rows) for (const finding of findings) console.log(`\n${tool}, **open**: ${finding}`)
for (const violation of broken) console.log(`\nViolated invariant: ${violation}`)
const held = rows.filter(({ verdict }) => verdict === "holds").length
const seconds = Math.round((performance.now() - began) / 1000)
console.log(`\n${held} of ${rows.length} tools have no open finding, in ${seconds} s`)
process.exit(held === rows.length && broken.length === 0 ? 0 : 1)
