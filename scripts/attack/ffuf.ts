import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Files from "../../src/http/routes/Files.ts"
import * as Pages from "../../src/http/routes/Pages.ts"
import * as UploadParts from "../../src/http/routes/UploadParts.ts"
import type { Tool } from "./tool.ts"
import { document } from "../../test/support/contract/Documented.ts"
import { runTool } from "../../test/support/Programs.ts"
import type { Target } from "./target.ts"

/** Common names of pages, scripts and folders; installed with wapiti. */
const names = "/usr/lib/python3/dist-packages/wapitiCore/data/attacks/busterPayloads.txt"

/** Every documented path with its methods. */
const documented = [
  ...Object.entries(document.paths).map(([path, item]) => ({ path, methods: Object.keys(item), isPublic: false })),
  ...[...Pages.routes, Files.route, UploadParts.route].map(({ method, path }) => ({
    path,
    methods: [method.toLowerCase()],
    isPublic: true
  }))
].map(({ methods, path, ...rest }) => ({
  ...rest,
  path,
  methods: methods.map((method) => method.toUpperCase()),
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}|:\w+/g, "[^/]+").replaceAll(".", "\\.")}$`)
}))

const segments = documented.flatMap(({ path }) => path.split("/")).filter((word) => /^[\w.-]+$/.test(word))
const nouns = `admin debug internal private test status health info metrics env config logs trace dump heap actuator
  graphql graphiql rpc ws socket console shell login logout auth token oauth session sessions password reset register
  swagger swagger.json openapi openapi.yaml api-docs redoc schema version versions v0 v2 beta server-status phpinfo.php
  .git .git/HEAD .env .htaccess .well-known .well-known/security.txt robots.txt favicon.ico sitemap.xml package.json
  node_modules src backup backups db sql export import bulk batch webhooks events jobs queue tasks cron roles permissions
  settings tenants organizations customers orders invoices tags labels comments media images thumbnails downloads files
  folders trash restore archive history audit revisions translations locales categories count search suggest all me self
  null undefined .. %2e%2e %2e%2e%2fetc%2fpasswd ..%2f ..%5c %00 __proto__ constructor toString`.split(/\s+/)
const methods = `GET HEAD POST PUT PATCH DELETE OPTIONS TRACE TRACK DEBUG PROPFIND PROPPATCH MKCOL COPY MOVE LOCK UNLOCK
  SEARCH QUERY PURGE LINK UNLINK REPORT MERGE BIND ACL SUBSCRIBE`.split(/\s+/)

interface Found {
  readonly status: number
  readonly input: Readonly<Record<string, string>>
}

const fuzz = async ({ folder }: Target, name: string, requests: number, args: ReadonlyArray<string>) => {
  const file = join(folder, `ffuf-${name}.json`)
  const shape = ["-mc", "all", "-t", "20", "-timeout", "10", "-maxtime", "120", "-of", "json", "-o", file]
  const { output } = await runTool("ffuf", [...args, ...shape], folder, 150)
  const [, done = "0", errors = "0"] = /.*Progress: \[(\d+)\/\d+\].*Errors: (\d+)/s.exec(output) ?? []
  const found = existsSync(file)
    ? (JSON.parse(readFileSync(file, "utf8")) as { readonly results: ReadonlyArray<Found> | null }).results
    : []
  const asked = Number(done) < requests ? [`${name}: ${done} of ${requests} requests made: ${output.slice(-300)}`] : []
  return { found: found ?? [], findings: [...asked, ...(errors === "0" ? [] : [`${name}: ${errors} errors`])] }
}

/** Searches for undocumented paths, methods and parameters; without a key, except where one is needed. */
export const ffuf: Tool = {
  name: "ffuf",
  needs: { command: "ffuf", package: "ffuf" },
  readsOnly: true,
  run: async (target) => {
    const { folder, key, url, uuids } = target
    const findings: Array<string> = []
    const listOf = (name: string, words: Iterable<string>) => {
      const all = [...new Set(words)]
      const file = join(folder, `${name}.txt`)
      writeFileSync(file, all.join("\n"))
      return { file, count: all.length }
    }
    const short = listOf("words", [...segments, ...nouns])
    const many = existsSync(names) ? readFileSync(names, "utf8").split("\n").filter(Boolean) : []
    if (many.length === 0) findings.push(`not run with ${names}: apt-get install wapiti`)
    const long = listOf("names", many)
    const places = [
      ["top", "/FUZZ", many.length > 0 ? long : short],
      ["v1", "/v1/FUZZ", many.length > 0 ? long : short],
      ["words", "/FUZZ", short],
      ["v1-words", "/v1/FUZZ", short],
      ...["users", "products", "locations", "assets", "uploads"].map(
        (name) => [name, `/v1/${name}/FUZZ`, short] as const
      ),
      ["of-location", `/v1/locations/${uuids.location}/FUZZ`, short],
      ["of-asset", `/v1/assets/${uuids.asset}/FUZZ`, short],
      ["modules", `/v1/products/${uuids.product}/modules/FUZZ`, short],
      ["of-files", "/files/FUZZ", short],
      ["of-parts", "/uploads/FUZZ", short]
    ] as const
    let [asked, routes] = [0, 0]
    for (const [name, path, words] of places) {
      asked += words.count
      const got = await fuzz(target, name, words.count, ["-w", words.file, "-u", `${url}${path}`, "-fc", "404"])
      findings.push(...got.findings)
      routes += got.found.length
      for (const { input, status } of got.found) {
        const pathname = path.replace("FUZZ", input["FUZZ"]!)
        const known = documented.find(({ pattern }) => pattern.test(pathname))
        const wellRefused = status === 401 || status === 405
        // Skip paths that normalize to another path.
        if (known === undefined ? status !== 400 : !known.isPublic && !wellRefused)
          findings.push(`GET ${pathname} returns ${status} without a key`)
      }
    }
    const paths = listOf(
      "paths",
      documented.map(({ path }) => path.slice(1).replaceAll(/\{\w+\}|:\w+/g, uuids.location))
    )
    const verbs = listOf("methods", methods)
    const verbArgs = ["-w", `${paths.file}:PATH`, "-w", `${verbs.file}:VERB`, "-u", `${url}/PATH`, "-X", "VERB"]
    const tried = await fuzz(target, "verbs", paths.count * verbs.count, verbArgs)
    findings.push(...tried.findings)
    for (const { input, status } of tried.found) {
      const [method, path] = [input["VERB"]!, `/${input["PATH"]!}`]
      const asRead = method === "HEAD" ? "GET" : method
      const taking = documented.find(({ methods, pattern }) => methods.includes(asRead) && pattern.test(path))
      const expected =
        taking === undefined ? [400, 405].includes(status) : taking.isPublic ? status < 500 : status === 401
      if (!expected && !(method === "OPTIONS" && status === 204)) findings.push(`${method} ${path} returns ${status}`)
    }
    const parameters = new Set(document.paths["/v1/locations"]!["get"]!.parameters.map(({ name }) => name))
    const query = ["-w", short.file, "-u", `${url}/v1/locations?FUZZ=1`, "-H", `Authorization: ${key}`, "-fc", "400"]
    const taken = await fuzz(target, "parameters", short.count, query)
    findings.push(...taken.findings)
    for (const { input, status } of taken.found)
      if (!parameters.has(input["FUZZ"]!)) findings.push(`?${input["FUZZ"]}=1 returns ${status} instead of 400`)
    return {
      at: `${places.length} places of a path, ${paths.count} routes × ${verbs.count} methods, parameters of a list`,
      figures: `${asked + paths.count * verbs.count + short.count} requests made; ${routes} paths returned another status than 404`,
      findings: findings.slice(0, 20)
    }
  }
}
