import { once } from "node:events"
import { existsSync, mkdirSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import { join } from "node:path"
import type { Tool } from "./tool.ts"
import { runTool } from "../../test/support/Programs.ts"
import type { Target } from "./target.ts"

interface Scan {
  readonly name: string
  readonly modules: string
  /** Headers are checked on the first path; parameters are attacked on paths with a query. */
  readonly paths: ReadonlyArray<string>
}

const attacks = "sql,blindsql,xss,permanentxss,file,exec,crlf,ssrf,xxe,redirect,shellshock,htaccess,backup,csrf"
const looks = "http_headers,csp,cookieflags,methods"

const list = "limit=5&page=1&sortBy=createdAt&sortOrder=asc"

const scans = ({ file, part, uuids }: Target): ReadonlyArray<Scan> => [
  { name: "home", modules: looks, paths: ["/"] },
  { name: "docs", modules: looks, paths: ["/docs"] },
  {
    name: "operations",
    modules: `${attacks},${looks}`,
    paths: [
      `/v1/locations?${list}&filter=name:contains:a`,
      `/v1/users?${list}&filter=username:contains:a`,
      `/v1/products?${list}&filter=name:contains:a`,
      `/v1/groups/${uuids.group}/users?${list}`,
      "/v1/assets/search?search=zomer&locale=nl&category=x&include=metaTags",
      "/v1/assets/meta-tags?locale=en&category=x",
      `/v1/posts/${uuids.post}?locale=en`,
      `/v1/locations/${uuids.location}`
    ]
  },
  { name: "addresses", modules: `${attacks},${looks}`, paths: [file, part] }
]

/** The time limit for crawling and for each module, in seconds. */
const patience = 90

/** A server that records requests; the service has no reason to contact it. */
const listen = async () => {
  const heard: Array<string> = []
  const server = createServer(({ url = "" }, response) => {
    if (url !== "/" && !url.startsWith("/get_")) heard.push(url)
    response.setHeader("content-type", "application/json").end("{}")
  }).listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return { url: `http://127.0.0.1:${port}/`, heard, close: () => server.close() }
}

interface Report {
  readonly [part: string]: Readonly<
    Record<string, ReadonlyArray<{ readonly info: string; readonly method: string; readonly path: string }>>
  >
}

const findingsIn = ({ anomalies = {}, vulnerabilities = {} }: Report) =>
  [...Object.entries(vulnerabilities), ...Object.entries(anomalies)].flatMap(([, found]) =>
    found.map(({ info, method, path }) => `${info} (${method} ${path.split("?")[0]})`)
  )

const scan = async ({ folder, key, url }: Target, { modules, name, paths }: Scan, endpoint: string) => {
  const home = join(folder, `wapiti-${name}`)
  mkdirSync(home)
  const file = join(home, "report.json")
  const starts = paths.map((path) => `${url}${path}`)
  const { late, output } = await runTool(
    "wapiti",
    [
      ["-u", starts[0]!, ...starts.flatMap((start) => ["-s", start]), "--scope", "domain", "-d", "0"],
      ["-m", modules, "-l", "2", "-H", `Authorization: ${key}`, "--endpoint", endpoint, "-t", "10"],
      ["--max-scan-time", String(patience), "--max-attack-time", String(patience), "--no-bugreport"],
      ["--store-session", home, "--store-config", home, "-v", "1", "-f", "json", "-o", file]
    ],
    home,
    patience * 4
  )
  const launched = [...output.matchAll(/Launching module (\w+)/g)].map(([, module]) => module)
  const unlaunched = modules.split(",").filter((module) => !launched.includes(module))
  const known = Number(/Wapiti found (\d+) URLs/.exec(output)?.[1] ?? 0)
  const unfinished = /max(?:imum)? attack time/i.test(output) ? [`a module did not end in ${patience} s`] : []
  return {
    known,
    modules: launched.length,
    findings: [
      ...(existsSync(file) ? findingsIn(JSON.parse(readFileSync(file, "utf8")) as Report) : ["no report"]),
      ...(late ? [`not done after ${patience * 4} s`] : unfinished),
      ...(late || unlaunched.length === 0 ? [] : [`${unlaunched.join(", ")} did not run: ${output.slice(-600)}`]),
      ...(late || modules === looks || known >= paths.length - 1 ? [] : [`${known} of ${paths.length} addresses known`])
    ].map((finding) => (finding.includes(" (GET ") ? finding : `${finding} (${name})`))
  }
}

/** Searches for injection of scripts, files, commands and headers, and for request forgery. */
export const wapiti: Tool = {
  name: "wapiti",
  needs: { command: "wapiti", package: "wapiti" },
  readsOnly: true,
  run: async (target) => {
    const elsewhere = await listen()
    const results = []
    for (const each of scans(target)) results.push(await scan(target, each, elsewhere.url))
    elsewhere.close()
    return {
      at: "pages, lists, search, records, file and part addresses",
      figures: `${results.reduce((sum, { known }) => sum + known, 0)} addresses, ${results.reduce((sum, { modules }) => sum + modules, 0)} module runs`,
      findings: [
        ...new Set(results.flatMap(({ findings }) => findings)),
        ...elsewhere.heard.map((url) => `asked another server for ${url}`)
      ]
    }
  }
}
