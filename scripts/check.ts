import { spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import manifest from "./tools/package.json" with { type: "json" }

// Everything CI runs, in order; stops at the first failure.
const root = fileURLToPath(new URL("..", import.meta.url))
const tools = "scripts/tools/node_modules/.bin"

const steps: ReadonlyArray<readonly [name: string, command: string, ...args: ReadonlyArray<string>]> = [
  ["format", "oxfmt", "--check"],
  ["words", "node", "scripts/words.ts"],
  ["lint, with the folder rules", "oxlint", "--type-aware"],
  ["types", "tsc", "--project", "tsconfig.json"],
  ["types of the console", "tsc", "--project", "src/console/tsconfig.json"],
  ["contract drift", "node", "scripts/openapi.ts", "--check"],
  ["compatibility with the latest release", "node", "scripts/release.ts", "--check"],
  ["Effect diagnostics", `${tools}/effect-tsgo`, "diagnostics", "--project", "tsconfig.json", "--strict"],
  ["dead code", `${tools}/knip`],
  ["client package", "node", "scripts/client.ts", "--check"],
  ["tests", "npm", "test"]
]

const run = (command: string, args: ReadonlyArray<string>, cwd = root) =>
  spawnSync(command, args, { cwd, stdio: "inherit" }).status ?? 1

const isInstalled = ([name, version]: readonly [string, string]) => {
  const file = `${root}/scripts/tools/node_modules/${name}/package.json`
  return existsSync(file) && JSON.parse(readFileSync(file, "utf8")).version === version
}

if (!Object.entries(manifest.dependencies).every(isInstalled)) {
  console.log("→ installing the tools of scripts/tools")
  if (run("npm", ["install", "--no-audit", "--no-fund"], `${root}/scripts/tools`) !== 0) process.exit(1)
}

for (const [name, command, ...args] of steps) {
  console.log(`→ ${name}`)
  if (run(command, args) !== 0) {
    console.error(`✗ ${name} failed`)
    process.exit(1)
  }
}
console.log("✓ all checks passed")
