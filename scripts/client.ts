import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

// Builds the typed client as a package of its own, dist/client: compiled ESM and types, with effect as a peer. With
// --check, publint and attw judge it, and a TypeScript project outside this one installs it, compiles and runs.
const root = fileURLToPath(new URL("..", import.meta.url))
const target = join(root, "dist/client")
const tools = join(root, "scripts/tools/node_modules/.bin")
const run = (command: string, args: ReadonlyArray<string>, cwd = root) =>
  execFileSync(command, args, { cwd, stdio: ["ignore", "inherit", "inherit"] })

const service = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))

const manifest = {
  name: "@waypost/client",
  version: service.version,
  description: "Typed client of the Waypost API, derived from its definition",
  license: service.license,
  type: "module",
  exports: {
    ".": { types: "./lib/client/Client.d.ts", default: "./lib/client/Client.js" },
    "./package.json": "./package.json"
  },
  files: ["lib"],
  sideEffects: false,
  engines: { node: ">=22" },
  // The definition checks expressions with it.
  dependencies: { re2js: service.dependencies.re2js },
  peerDependencies: { effect: `^${service.dependencies.effect}` }
}

const readme = `# @waypost/client

\`\`\`ts
import { Client } from "@waypost/client"
import { Effect, Redacted } from "effect"

const program = Effect.gen(function* () {
  const { locations } = yield* Client
  const { data, pagination } = yield* locations.list({ query: { limit: 10, sortBy: "name", sortOrder: "asc" } })
  return { names: data.map(({ name }) => name), total: pagination.total }
})

const layer = Client.layer({ baseUrl: "http://localhost:3000", apiKey: Redacted.make("wp_…") })
console.log(await Effect.runPromise(Effect.provide(program, layer)))
\`\`\`
`

const build = () => {
  rmSync(target, { recursive: true, force: true })
  run("tsc", ["--project", "tsconfig.client.json"])
  writeFileSync(join(target, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`)
  writeFileSync(join(target, "README.md"), readme)
}

/** A project outside this one, with the packed client in its node_modules. */
const check = () => {
  run(join(tools, "publint"), ["--strict", target])
  run(join(tools, "attw"), ["--pack", "--profile", "esm-only", target])
  const project = mkdtempSync(join(tmpdir(), "waypost-client-"))
  try {
    run("npm", ["pack", "--silent", "--pack-destination", project, target])
    mkdirSync(join(project, "node_modules/@waypost/client"), { recursive: true })
    run(
      "tar",
      ["-xzf", `waypost-client-${service.version}.tgz`, "-C", "node_modules/@waypost/client", "--strip-components=1"],
      project
    )
    for (const name of ["effect", "re2js"]) {
      symlinkSync(join(root, "node_modules", name), join(project, "node_modules", name))
    }
    writeFileSync(join(project, "package.json"), JSON.stringify({ type: "module" }))
    writeFileSync(join(project, "main.ts"), outside)
    run(
      "tsc",
      ["--strict", "--module", "nodenext", "--target", "esnext", "--skipLibCheck", "--types", "", "main.ts"],
      project
    )
    run("node", ["main.js"], project)
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
}

const outside = `import { Client } from "@waypost/client"
import { Effect, Redacted } from "effect"

const program = Effect.gen(function* () {
  const { locations } = yield* Client
  const { data, pagination } = yield* locations.list({ query: { limit: 10, sortBy: "name" } })
  const names: ReadonlyArray<string> = data.map(({ name }) => name)
  return { names, total: pagination.total }
})

// Nothing listens there: what is checked is that the package loads, and that the failure is a typed one.
const layer = Client.layer({ baseUrl: "http://127.0.0.1:9", apiKey: Redacted.make("wp_") })
const outcome = await Effect.runPromise(Effect.result(Effect.provide(program, layer)))
if (outcome._tag !== "Failure" || outcome.failure._tag !== "HttpClientError") throw new Error("Expected HttpClientError")
`

build()
if (process.argv.includes("--check")) check()
