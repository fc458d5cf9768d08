import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Tool } from "./tool.ts"
import { inTurns, runTool } from "../../test/support/Programs.ts"
import { type Aim, aims } from "./sqlmap-aims.ts"
import type { Target } from "./target.ts"

/** The time limit per request, in seconds. */
const patience = 180

const shoot = async ({ folder, key, url }: Target, aim: Aim, index: number) => {
  const home = join(folder, `sqlmap-${index}`)
  mkdirSync(home)
  const keyed = aim.headers?.some((line) => line.startsWith("Authorization")) === true ? [] : [`Authorization: ${key}`]
  const body =
    aim.data === undefined ? [] : ["--data", JSON.stringify(aim.data), "-H", "Content-Type: application/json"]
  const { late, output } = await runTool(
    "sqlmap",
    [
      ["-u", `${url}${aim.path}`, "--method", aim.method ?? "GET", ...body],
      ...[...keyed, ...(aim.headers ?? [])].flatMap((line) => ["-H", line]),
      aim.expectedStatus === undefined ? [] : ["--ignore-code", String(aim.expectedStatus)],
      ["--level", "3", "--risk", "2", "--dbms", "PostgreSQL", "--threads", "2", "--timeout", "10", "--retries", "1"],
      ["--batch", "--ignore-stdin", "--skip-waf", "--flush-session", "--disable-coloring", "--output-dir", home]
    ],
    home,
    patience
  )
  const places = new Set(output.match(/(?<=testing for SQL injection on ).+$/gm)).size
  const stars = JSON.stringify([aim.path, aim.data, aim.headers]).split("*").length - 1
  const line = output.split("\n").find((text) => /is vulnerable|identified the following injection/.test(text))
  const found = line === undefined ? [] : [`injection: ${output.slice(output.indexOf("Parameter:")).slice(0, 300)}`]
  const failed = /\b(5\d\d) \([\w ]+\) - \d+ times/.exec(output)
  const ended = output.includes("all tested parameters do not appear to be injectable") || found.length > 0
  return {
    places,
    findings: [
      ...found,
      ...(failed === null ? [] : [`responses with ${failed[0]}`]),
      ...(late ? [`not done after ${patience} s`] : []),
      ...(!late && found.length === 0 && (!ended || places < stars)
        ? [`${places} of ${stars} places tested: ${output.slice(-600)}`]
        : [])
    ].map((finding) => `${aim.method ?? "GET"} ${aim.path}: ${finding}`)
  }
}

/** Searches for SQL injection. */
export const sqlmap: Tool = {
  name: "sqlmap",
  needs: { command: "sqlmap", package: "sqlmap" },
  readsOnly: false,
  run: async (target) => {
    const all = aims(target)
    const results = await inTurns([...all.entries()], 3, ([index, aim]) => shoot(target, aim, index))
    const places = results.reduce((sum, result) => sum + result.places, 0)
    return {
      at: "filter, sort, page, search, paths, JSON bodies, file addresses, headers",
      figures: `${places} places in ${all.length} requests, level 3, risk 2`,
      findings: results.flatMap(({ findings }) => findings)
    }
  }
}
