import { execFileSync } from "node:child_process"
import {
  copyFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { build as bundle } from "rolldown"

// Builds the typed client as a package of its own, in dist/client or --out: ESM and types. The promise client is one file
// without imports; the Effect client runs on the effect of its user. With --check, publint and attw judge the package, and
// projects outside this one install its folder and its tarball, compile and run.
const { values } = parseArgs({ options: { check: { type: "boolean" }, out: { type: "string" } } })
const root = fileURLToPath(new URL("..", import.meta.url))
const target = values.out ?? join(root, "dist/client")
const tools = join(root, "scripts/tools/node_modules/.bin")
const run = (command: string, args: ReadonlyArray<string>, cwd = root) =>
  execFileSync(command, args, { cwd, stdio: ["ignore", "inherit", "inherit"] })

const service = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

const entry = (file: string) => ({ types: `./lib/client/${file}.d.ts`, default: `./lib/client/${file}.js` })

/** The licenses of the code in the file of the promise client. */
const notice = "THIRD-PARTY-LICENSES.md"

const manifest = {
  name: "@waypost/client",
  version: service.version,
  description: "Typed client of the Waypost API, derived from its definition",
  license: service.license,
  type: "module",
  exports: {
    ".": entry("promise/PromiseClient"),
    "./node": entry("node/LocalFile"),
    "./effect": entry("Client"),
    "./ids": entry("Ids"),
    "./filters": entry("Where"),
    "./deltas": entry("Deltas"),
    "./package.json": "./package.json"
  },
  files: ["lib", notice],
  sideEffects: false,
  engines: { node: ">=20.16" },
  // The definition checks expressions with it.
  dependencies: { re2js: service.dependencies.re2js },
  // The types of both clients refer to it; only the Effect client loads it.
  peerDependencies: { effect: `^${service.dependencies.effect}` }
}

const promise = join(target, "lib/client/promise")

/** The licenses of the packages that files belong to, which copies of their code have to have with them. */
const licensesOf = (files: ReadonlyArray<string>) => {
  const folders = new Set(files.flatMap((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(file) ?? []))
  const licenses = Array.from(folders, (folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
    return `## ${name} ${version}\n\n${readFileSync(join(folder, "LICENSE"), "utf8").trim()}\n`
  })
  return ["# Code of other packages in lib/client/promise/PromiseClient.js\n", ...licenses].join("\n")
}

/** Joins the promise client and what it uses of effect into one file, in the folder of its types. */
const joinPromiseClient = async () => {
  const file = join(promise, "PromiseClient.js")
  const { output } = await bundle({ input: file, platform: "neutral", write: false, logLevel: "warn" })
  for (const name of readdirSync(promise).filter((name) => name.endsWith(".js"))) rmSync(join(promise, name))
  writeFileSync(file, output[0].code)
  // The folder of the package may be in that of other packages.
  const own = realpathSync(target)
  writeFileSync(join(target, notice), licensesOf(output[0].moduleIds.filter((id) => !id.startsWith(own))))
}

const build = async () => {
  rmSync(target, { recursive: true, force: true })
  // Several checkers would each infer the types of the whole definition.
  run("tsc", ["--project", "tsconfig.client.json", "--singleThreaded", "--outDir", join(target, "lib")])
  await joinPromiseClient()
  writeFileSync(join(target, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
  copyFileSync(join(root, "src/client/README.md"), join(target, "README.md"))
  copyFileSync(join(root, "LICENSE"), join(target, "LICENSE"))
}

/** Names the files of effect that a program loads. */
const copies = `import { registerHooks } from "node:module"
registerHooks({
  load: (url, context, next) => {
    if (/\\/effect\\/dist\\/Effect\\.js$/.test(url)) process.stdout.write(\`effect \${url}\\n\`)
    return next(url, context)
  }
})
`

// Nothing listens there: what is checked is that the package loads, and that the failure is a typed one.
const promiseProgram = `import { createClient, type RecordOf } from "@waypost/client"

const client = createClient({ url: "http://127.0.0.1:9", key: "wp_" })
const { data, error } = await client.locations.list({ limit: 10, sortBy: "name", filter: { name: "a" } }).result()
const names: ReadonlyArray<string> | undefined = data?.data.map(({ name }: RecordOf<"locations">) => name)
if (names !== undefined || error?._tag !== "ConnectionError") throw new Error("Expected ConnectionError")
`

const effectProgram = `import { Client } from "@waypost/client/effect"
import { where } from "@waypost/client/filters"
import { LocationId } from "@waypost/client/ids"
import { Effect } from "effect"

const program = Effect.gen(function* () {
  const { locations } = yield* Client
  yield* locations.get({ params: { uuid: LocationId.make("01936f0e-7c4b-7000-8000-000000000000") }, query: {} })
  const { data, pagination } = yield* locations.list({
    query: { limit: 10, sortBy: "name", filter: where<"locations">({ name: { contains: "a" } }) }
  })
  const names: ReadonlyArray<string> = data.map(({ name }) => name)
  return { names, total: pagination.total }
})

const layer = Client.layer({ baseUrl: "http://127.0.0.1:9", apiKey: "wp_" })
const outcome = await Effect.runPromise(Effect.result(Effect.provide(program, layer)))
if (outcome._tag !== "Failure" || outcome.failure._tag !== "HttpClientError") throw new Error("Expected HttpClientError")
`

/** Installs the package in a project outside this one, compiles and runs two programs, and counts the copies of effect. */
const checkInstalled = (
  how: ReadonlyArray<string>,
  expected: { readonly promise: number; readonly effect: number }
) => {
  const project = mkdtempSync(join(tmpdir(), "waypost-client-"))
  try {
    writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module", private: true }))
    const effect = `effect@${service.dependencies.effect}`
    run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", "--silent", effect, ...how], project)
    symlinkSync(join(root, "node_modules/@types"), join(project, "node_modules/@types"))
    writeFileSync(join(project, "copies.mjs"), copies)
    for (const [name, program] of Object.entries({ promise: promiseProgram, effect: effectProgram })) {
      writeFileSync(join(project, `${name}.ts`), program)
    }
    const options = ["--strict", "--exactOptionalPropertyTypes", "--module", "nodenext", "--target", "esnext"]
    run("tsc", [...options, "--skipLibCheck", "--types", "node", "promise.ts", "effect.ts"], project)
    for (const name of ["promise", "effect"] as const) {
      const output = execFileSync("node", ["--import", join(project, "copies.mjs"), `${name}.js`], {
        cwd: project
      }).toString()
      const loaded = new Set(output.split("\n").filter((line) => line.startsWith("effect "))).size
      if (loaded !== expected[name]) throw new Error(`${how.join(" ")}: ${name}.ts loads ${loaded} copies of effect`)
    }
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
}

const check = () => {
  run(join(tools, "publint"), ["--strict", target])
  run(join(tools, "attw"), ["--pack", "--profile", "esm-only", target])
  const packed = mkdtempSync(join(tmpdir(), "waypost-client-"))
  try {
    run("npm", ["pack", "--silent", "--pack-destination", packed, target])
    checkInstalled([join(packed, `waypost-client-${service.version}.tgz`)], { promise: 0, effect: 1 })
  } finally {
    rmSync(packed, { recursive: true, force: true })
  }
  checkInstalled(["--install-links", target], { promise: 0, effect: 1 })
  // npm links the folder: the Effect client works with the key as text.
  checkInstalled([target], { promise: 0, effect: 2 })
}

await build()
if (values.check === true) check()
